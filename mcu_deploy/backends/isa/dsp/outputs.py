"""Where the elements of two filters and a tile go, and how sums come to be these.

The pixels of a tile are stored in one of three ways, which the loops of nests.py take: what
integers round goes there in a row, what they do not goes another way, which lies behind the loop.
"""

from __future__ import annotations

from mcu_deploy.backends.isa import Kind, Label, Register
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.tile import join


class Outputs:
    """Where the elements of two filters and a tile go, which lie in the even sums."""

    def __init__(self, tile: Tile) -> None:
        self.code, self.tile, self.filters = tile.code, tile, tile.product.filters
        self.out, self.end, self.second, self.third = tile.code.registers("out end second third")

    def begin(self) -> None:
        """Two filters."""

    def find(self) -> None:
        """Before elements are joined."""

    def store(self) -> None:
        """Two elements of each pixel, joined."""
        self.store_at(self.second, self.third)

    def store_at(self, second: Register | int, third: Register | int) -> None:
        """The first pixel's at `out`, which goes on, and so far behind that the others'."""
        elements = self.tile.sums.even
        self.code.strh(elements[0], self.out.after(2))
        self.code.strh(elements[1], self.out[second])
        self.code.strh(elements[2], self.out[third])

    def next(self) -> None:
        """Sets the flags of a branch to the next two filters."""

    @property
    def is_odd(self) -> bool:
        """Whether the last filter is alone."""
        return self.filters % 2 == 1

    def behind(self) -> None:
        """Behind all, what a filter that is alone jumps to."""


class AtEnds(Outputs):
    """Of one tile, by its `STATE`, which is behind the taps or in registers."""

    def __init__(self, tile: Tile) -> None:
        super().__init__(tile)
        self.last: Label | None = None

    def find(self) -> None:
        code, tile = self.code, self.tile
        if tile.product.holds_ends:
            code.vmov(self.out, self.end, tile.ends)
        else:
            code.ldmia(tile.taps, [self.out, self.end, self.second, self.third])
        if self.is_odd:
            self.last = code.label()
            code.sub(self.end, self.end, 1)
            code.cmp(self.out, self.end)
            code.beq(self.last)

    def store(self) -> None:
        if self.tile.product.holds_ends:
            self.store_at(self.filters - 2, 2 * self.filters - 2)
            self.code.vmov(self.tile.ends.halves[0], self.out)
        else:
            super().store()
            self.code.str(self.out, self.tile.taps[0])

    def next(self) -> None:
        if not self.is_odd:
            self.code.cmp(self.out, self.end)

    def behind(self) -> None:
        if self.last is None:
            return
        code, elements = self.code, self.tile.sums.even
        code.place(self.last)
        code.strb(elements[0], self.out.after(2))
        code.strb(elements[1], self.out[self.second])
        code.strb(elements[2], self.out[self.third])
        code.add(self.end, self.end, 1)
        code.str(self.end, self.tile.taps[0])


class InOrder(Outputs):
    """Of tiles whose pixels follow each other. In `ends` of the tile: where the first pixel's next
    element goes, and where the pixel ends; next_out: where the next tile's do."""

    def __init__(self, tile: Tile) -> None:
        super().__init__(tile)
        self.next_out = tile.code.register("next_out", kind=Kind.SINGLE)

    def begin(self) -> None:
        self.code.vmov(self.out, self.tile.ends.halves[0])
        self.code.vmov(self.next_out, self.out)

    def store(self) -> None:
        code, out, filters, elements = self.code, self.out, self.filters, self.tile.sums.even
        code.vmov(out, self.next_out)
        code.strh(elements[1], out[filters])
        code.strh(elements[2], out[2 * filters])
        if 3 * filters < 256:
            code.strh(elements[0], out.after(3 * filters))
        else:
            code.strh(elements[0], out[0])
            code.add(out, out, 3 * filters)
        code.vmov(self.next_out, out)

    def next(self) -> None:
        code, ends = self.code, self.tile.ends
        code.vmov(self.out, self.end, ends)
        code.add(self.out, self.out, 2)
        code.vmov(ends.halves[0], self.out)
        code.cmp(self.out, self.end)


SLOT_BYTES = 12


class InSlots(Outputs):
    """Behind the taps of each tile three words: where the next element of its first pixel goes, and
    how far behind the next but one the second and the third pixel's are. left: an S register with
    the number of filters, which becomes 0."""

    def __init__(self, tile: Tile, left: Register) -> None:
        super().__init__(tile)
        self.kept, self.left = left, tile.code.register("filters_left")

    def store(self) -> None:
        self.code.ldmia(self.tile.taps.moving, [self.out, self.second, self.third])
        super().store()
        self.code.str(self.out, self.tile.taps[-SLOT_BYTES])

    def next(self) -> None:
        self.code.vmov(self.left, self.kept)
        self.code.subs(self.left, self.left, 2)
        self.code.vmov(self.kept, self.left)


class Ways:
    """How the sums of a tile become elements that are stored: in a row; and another way, behind the
    loop, which comes back with sums to `scale` or with elements to `ready`."""

    def __init__(self, outputs: Outputs) -> None:
        self.outputs, self.tile, code = outputs, outputs.tile, outputs.code
        self.slow, self.scale, self.ready, self.after = (code.label() for _ in range(4))

    def finish(self, is_near: bool = True) -> None:
        """is_near: as `Tile.round` has it."""
        tile, code, outputs = self.tile, self.tile.code, self.outputs
        tile.round(self.slow, self.scale, is_near)
        code.place(self.ready)
        tile.look_up()
        outputs.find()
        join(code, tile.sums)
        outputs.store()

    def otherwise(self, tiles: float = 1) -> None:
        """tiles: as many as come to the slow way's begin."""
        tile, code, product = self.tile, self.tile.code, self.tile.product
        saved = code.register("biases", kind=Kind.DOUBLE)

        def back() -> None:
            if product.begins_early:
                code.vmov(*tile.biases, saved)

        if not product.is_real:
            if not self.outputs.is_odd:
                code.b(self.after)
            code.place(self.slow)
            if product.begins_early:
                with code.times(product.late):
                    code.vmov(saved, *tile.biases)
            with code.times(tiles):
                tile.round_otherwise(back, lambda: code.b(self.scale), lambda: code.b(self.ready))
        self.outputs.behind()
        code.place(self.after)
