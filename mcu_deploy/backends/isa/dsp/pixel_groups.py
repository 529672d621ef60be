"""A 1x1 convolution by groups of tiles, for memories that answer late: see nests.py.

The scratch begins with a few words; behind them are the widened taps of the group's tiles.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp import nests
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.nests import TapGroup
from mcu_deploy.backends.isa.dsp.outputs import InOrder
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.quantized.dense_product import DenseProduct
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.loops import kept_bytes

# So many tiles at most, of so many bytes together: a group is to be worth its scratch.
MOST_TILES, MOST_BYTES = 8, 2688
# Words at the beginning of the scratch: of the tiles that are to come, x and y; and of a last tile
# whether it is still to come, and where it goes.
TILES, _INPUT, _OUTPUT, _REST, _LAST = 0, 4, 8, 12, 16
_STATE_BYTES = 20
_MOST_UNROLLED = 4  # times four channels
_MOST_ALIGNED = 128


@dataclass(frozen=True, eq=False)
class PixelGroups:
    """row: pixels of which a run's count is a multiple; those of the layer where None."""

    layer: Convolution
    product: DenseProduct
    row: int | None = None

    @property
    def channels(self) -> int:
        return int(self.layer.x.shape[1])

    @property
    def filters(self) -> int:
        return int(self.layer.y.shape[1])

    @property
    def rest(self) -> int:
        """Pixels behind the last whole tile."""
        return 0 if self.row else self.layer.pixels % 3

    @property
    def tiles(self) -> int:
        """Of a group; the last one may have less. One where each reads its words anew all the
        same."""
        if self.product.weights_bytes > kept_bytes(self.layer.target):
            return 1
        whole = (self.row or self.layer.pixels) // 3
        most = max(1, min(MOST_TILES, MOST_BYTES // self.product.tile_bytes))
        return -(-whole // -(-whole // most))

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
    def distance(self) -> int:
        """As `InPlace` has it: a group is read before it is written. What the last tile reads again
        is not taken, whatever has been written over it."""
        whole, more = self.layer.pixels // 3, self.filters - self.channels
        behind = [*range(self.tiles, whole, self.tiles), *([whole] if self.rest else [])]
        return max(3 * tiles * more for tiles in behind) if behind else -self.layer.x.bytes

    @property
    def scratch_bytes(self) -> int:
        last = 3 * self.filters if self.rest else 0
        return self._size + last + self.alignment - 4

    @property
    def _size(self) -> int:
        """Of state and tiles."""
        return _STATE_BYTES + self.tiles * self.product.tile_bytes

    def assemble(self, code: Assembly, is_counted: bool = True) -> None:
        """is_counted: all of the layer; else as many tiles as the scratch has at `TILES`."""
        product, filters = self.product, self.filters
        tile, all_ = Tile(code, product), -(-self.layer.pixels // 3)
        whole = self.layer.pixels // 3
        runs = -(-whole // self.tiles) + (self.rest > 0)
        ends = code.registers("first_taps taps_end", kind=Kind.SINGLE)
        group, outputs = TapGroup(ends[0], ends[1], all_ / runs), InOrder(tile)
        x, y, weights, scratch = code.arguments("x y weights scratch")
        held, begin = code.registers("state stream_begin", kind=Kind.SINGLE)
        state, into, source, out, stop = code.registers("state into x out end")
        left, count, size = code.registers("left tiles tile_bytes")
        _describe(code, product)
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
        if is_counted:
            code.number(left, whole)
            code.str(left, scratch[TILES])
        if self.rest:
            code.mov(count, 1)
            code.str(count, scratch[_REST])
        again, done = code.label(), code.label()
        code.place(again)
        with code.times(runs):
            code.note("The next tiles: three pixels each, widened to int16, two channels a word.")
            code.vmov(state, held)
            code.ldrd(left, source, state[TILES])
            code.mov(count, self.tiles)
            code.cmp(left, count)
            code.it("lo")
            code.movlo(count, left)
            code.sub(left, left, count)
            code.str(left, state[TILES])
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
            code.ldr(left, state[TILES])
            code.cmp(left, 0)
            code.bne(again)
        if self.rest:
            self._rest(code, state, source, out, done)
            code.b(again)
            code.place(done)
            self._copy_rest(code, state)

    def _widen(self, code: Assembly, group: TapGroup, source: Register, into: Register) -> None:
        """Of each pair of taps the three pixels; of each four channels 0 and 2, then 1 and 3."""
        channels, tiles = self.channels, -(-self.layer.pixels // 3)
        low, high = code.registers("a0 a1 a2"), code.registers("b0 b1 b2")
        row_end, end = code.registers("pixel0_end taps_end")
        words = channels // 4
        unrolled = max(n for n in range(1, _MOST_UNROLLED + 1) if words % n == 0)
        with code.repeat(tiles):
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
        code.str(once, state[TILES])
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
        last, out, left, element = code.registers("last out left element")
        self._behind(code, last, state, (3 - self.rest) * self.filters)
        code.ldr(out, state[_LAST])
        code.mov(left, self.rest * self.filters)
        with code.repeat(self.rest * self.filters // 2):
            code.subs(left, left, 2)
            code.ldrh(element, last[left])
            code.strh(element, out[left])


def _describe(code: Assembly, product: DenseProduct) -> None:
    for line in product.description():
        code.note(line)
    code.note("x: [p][channel], y: [p][f]; t are channels, of each four in the order 0 2 1 3.")
    code.note(
        "scratch: words: tiles that are left, x, y, whether a last tile is, where it goes; the "
        "taps of a group's tiles; the last tile's outputs. In place: a group is read before it is "
        "written."
    )
