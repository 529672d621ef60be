"""A 1x1 convolution by groups of tiles, for memories that answer late: see nests.py.

The scratch begins with a few words; behind them are the widened taps of the group's tiles.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp import nests
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.nests import TapGroup
from mcu_deploy.backends.isa.dsp.outputs import InOrder
from mcu_deploy.backends.isa.dsp.pixels import GroupWalk, copy_halfwords
from mcu_deploy.backends.isa.dsp.widening import widen

# Words at the beginning of the scratch: of the tiles that are to come, x and y; and of a last tile
# whether it is still to come, and where it goes.
_TILES, _INPUT, _OUTPUT, _REST, _LAST = 0, 4, 8, 12, 16
_STATE_BYTES = 20
_MOST_UNROLLED = 4  # times four channels
_MOST_ALIGNED = 128


class PixelGroups(GroupWalk):
    """By a function for the layer's sizes."""

    @property
    def count_at(self) -> int:
        return _TILES

    @property
    def rest(self) -> int:
        return super().rest if self.is_counted else 0

    @property
    def tiles(self) -> int:
        """Of a group: of the layer, or of a row."""
        return self.together(self.whole if self.is_counted else self.layer.window.input[1] // 3)

    @property
    def behind(self) -> Iterable[int]:
        return *range(self.tiles, self.whole, self.tiles), *([self.whole] if self.rest else [])

    @property
    def alignment(self) -> int:
        """Of the tiles. If it is more than a word's, no round of the loop over a tile's taps ends
        at a multiple of it but the last."""
        product = self.product
        size = int(min(product.tile_bytes & -product.tile_bytes, _MOST_ALIGNED))
        pairs = range(product.ahead + product.unrolled, product.pairs, product.unrolled)
        is_last_alone = all(product.pair_bytes * n // 3 % size for n in pairs)
        return size if product.has_loop and is_last_alone else 4

    @property
    def scratch_bytes(self) -> int:
        last = 3 * self.filters if self.rest else 0
        return self._size + last + self.alignment - 4

    @property
    def _size(self) -> int:
        """Of state and tiles."""
        return _STATE_BYTES + self.tiles * self.product.tile_bytes

    def assemble(self, code: Assembly) -> None:
        product, filters = self.product, self.filters
        tile = Tile(code, product)
        runs = -(-self.whole // self.tiles) + (self.rest > 0)
        ends = code.registers("first_taps taps_end", kind=Kind.SINGLE)
        group, outputs = TapGroup(ends[0], ends[1], self.all_tiles / runs), InOrder(tile)
        x, y, weights, scratch = code.arguments("x y weights scratch")
        held, begin = code.registers("state stream_begin", kind=Kind.SINGLE)
        state, into, source, out, stop = code.registers("state into x out end")
        left, count, size = code.registers("left tiles tile_bytes")
        self.describe(
            code,
            "words: tiles that are left, x, y, whether a last tile is, where it goes; the taps of "
            "a group's tiles; the last tile's outputs", read="group",
        )  # fmt: skip
        tile.hold_table(weights)
        code.vmov(begin, weights)
        code.vmov(held, scratch)
        code.str(x, scratch[_INPUT])
        code.str(y, scratch[_OUTPUT])
        code.add(into, scratch, _STATE_BYTES)
        if self.alignment > 4:
            code.add(into, into, self.alignment - 1)
            code.bic(into, into, self.alignment - 1)
        code.vmov(group.first, into)
        if self.is_counted:
            code.number(left, self.whole)
            code.str(left, scratch[_TILES])
        if self.rest:
            code.mov(count, 1)
            code.str(count, scratch[_REST])
        again, done = code.label(), code.label()
        code.place(again)
        with code.times(runs):
            code.note("The next tiles: three pixels each, widened to int16, two channels a word.")
            code.vmov(state, held)
            code.ldrd(left, source, state[_TILES])
            code.mov(count, self.tiles)
            code.cmp(left, count)
            code.it("lo")
            code.movlo(count, left)
            code.sub(left, left, count)
            code.str(left, state[_TILES])
            code.vmov(into, group.first)
            code.number(size, product.tile_bytes)
            code.mla(size, size, count, into)
            code.vmov(group.end, size)
        self._widen(code, group, source, into)
        with code.times(runs):
            code.vmov(state, held)
            code.str(source, state[_INPUT])
            code.ldr(out, state[_OUTPUT])
            code.add(stop, out, filters)
            code.vmov(tile.ends, out, stop)
            code.vmov(tile.stream, begin)
            nests.group(tile, group, outputs, self.alignment)
            code.vmov(state, held)
            code.vmov(out, outputs.next_out)
            code.sub(out, out, filters - 2)
            code.str(out, state[_OUTPUT])
            code.ldr(left, state[_TILES])
            code.cmp(left, 0)
            code.bne(again)
        if self.rest:
            self._rest(code, state, source, out, done)
            code.b(again)
            code.place(done)
            self._copy_rest(code, state)

    def _widen(self, code: Assembly, group: TapGroup, source: Register, into: Register) -> None:
        """Of each pair of taps the three pixels; of each four channels 0 and 2, then 1 and 3."""
        channels = self.channels
        low, high = code.registers("a0 a1 a2"), code.registers("b0 b1 b2")
        row_end, end = code.registers("pixel0_end taps_end")
        words = channels // 4
        unrolled = max(n for n in range(1, _MOST_UNROLLED + 1) if words % n == 0)
        with code.repeat(self.all_tiles):
            if words > unrolled:
                code.add(row_end, source, channels)
            with code.repeat(words // unrolled) if words > unrolled else code.times(1):
                for _ in range(unrolled):
                    code.ldr(low[1], source[channels])
                    code.ldr(low[2], source[2 * channels])
                    code.ldr(low[0], source.after(4))
                    widen(code, self.layer.extend, low, high)
                    code.stmia(into.moving, [*low, *high])
                if words > unrolled:
                    code.cmp(source, row_end)
            code.add(source, source, 2 * channels)
            code.vmov(end, group.end)
            code.cmp(into, end)

    def _rest(
        self, code: Assembly, state: Register, source: Register, out: Register, done: Label
    ) -> None:
        """The last three pixels are a tile, too, whose output may lie on some of them already."""
        code.note("The last three pixels are taken again, and go behind the scratch first.")
        once, nowhere = code.registers("once nowhere")
        code.ldr(once, state[_REST])
        code.cbz(once, done)
        code.str(once, state[_TILES])
        code.mov(once, 0)
        code.str(once, state[_REST])
        code.str(out, state[_LAST])
        self._behind(code, nowhere, state)
        code.str(nowhere, state[_OUTPUT])
        code.ldr(source, state[_INPUT])
        code.sub(source, source, (3 - self.rest) * self.channels)
        code.str(source, state[_INPUT])

    def _behind(self, code: Assembly, into: Register, state: Register, offset: int = 0) -> None:
        size = code.register("size")
        code.offset(into, self._size + self.alignment - 4 + offset, size, state)

    def _copy_rest(self, code: Assembly, state: Register) -> None:
        last, out, left = code.registers("last out left")
        self._behind(code, last, state, (3 - self.rest) * self.filters)
        code.ldr(out, state[_LAST])
        code.mov(left, self.rest * self.filters)
        with code.repeat(self.rest * self.filters // 2):
            copy_halfwords(code, last, out, left)
