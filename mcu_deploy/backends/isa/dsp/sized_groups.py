"""A 1x1 convolution by groups of tiles, by one function for layers of all sizes.

See pixel_groups.py, which has one for each size.
The scratch begins with words; behind them are bytes for outputs of no pixel, then the widened taps
of the group's tiles, each with three words that say where its outputs go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp import nests
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.entered_loop import STEP_BYTES, EnteredLoop, Steps
from mcu_deploy.backends.isa.dsp.nests import TapGroup
from mcu_deploy.backends.isa.dsp.outputs import SLOT_BYTES, InSlots
from mcu_deploy.backends.isa.dsp.pixel_groups import MOST_BYTES, MOST_TILES
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.quantized.loops import kept_bytes

# Words of the scratch: tiles that are left and bytes that the last one goes back; how far behind
# the first pixel's next outputs but one the others' are; x, and where the next outputs go.
_TILES, _SECOND, _INPUT, _OUTPUT, _CHANNELS, _FILTERS, _NOWHERE = 0, 8, 16, 20, 24, 28, 32


@dataclass(frozen=True, eq=False)
class SizedGroups:
    product: Steps

    @property
    def channels(self) -> int:
        return int(self.product.layer.x.shape[1])

    @property
    def pixels(self) -> int:
        return self.product.layer.pixels

    @property
    def all_tiles(self) -> int:
        return -(-self.pixels // 3)

    @property
    def tiles(self) -> int:
        """Of a group; one where each reads its words anew all the same."""
        if self.product.weights_bytes > kept_bytes(self.product.layer.target):
            return 1
        most = max(1, min(MOST_TILES, MOST_BYTES // self.product.tile_bytes))
        return -(-self.all_tiles // -(-self.all_tiles // most))

    @property
    def distance(self) -> int:
        """As `InPlace` has it: a group is read before it is written. What the last tile reads again
        is not taken, whatever has been written over it."""
        more = self.product.filters - self.channels
        behind = range(self.tiles, self.all_tiles, self.tiles)
        return max((3 * tiles * more for tiles in behind), default=-self.product.layer.x.bytes)

    @property
    def _taps_at(self) -> int:
        return _NOWHERE + -(-self.product.filters // 4) * 4

    @property
    def _group_bytes(self) -> int:
        return self.tiles * (self.product.tile_bytes + SLOT_BYTES)

    @property
    def scratch_bytes(self) -> int:
        return self._taps_at + self._group_bytes

    def numbers(self) -> Array:
        """What stands in front of the weights."""
        filters, rest = self.product.filters, self.pixels % 3
        values = [
            self.all_tiles, (3 - rest) % 3 * self.channels, filters - 2, 2 * filters - 2,
            self._taps_at, self._group_bytes, self.channels, filters,
            STEP_BYTES * self.product.first,
        ]  # fmt: skip
        return np.array(values, np.uint32)

    def assemble(self, code: Assembly) -> None:
        product = self.product
        tile, runs = Tile(code, product), -(-self.all_tiles // self.tiles)
        loop = EnteredLoop(code, product, tile)
        first, end, group_end, size = code.registers(
            "first_taps taps_end group_end weights_bytes", kind=Kind.SINGLE
        )
        held, stream, left = code.registers("state stream_begin filters_kept", kind=Kind.SINGLE)
        group = TapGroup(first, end, self.all_tiles / runs)
        _describe(code, product)
        _begin(code, loop, (first, group_end, size, held, stream))
        state, into, filters = code.registers("state into filters")
        tiles, again, full, done = code.register("tiles"), *(code.label() for _ in range(3))
        code.place(again)
        with code.times(runs):
            code.vmov(into, first)
        last, ready = code.label(), code.label()
        self._gather(code, into, (held, group_end), (full, last, ready))
        code.place(full)
        with code.times(runs):
            code.vmov(end, into)
            code.vmov(state, held)
            code.ldr(filters, state[_FILTERS])
            code.vmov(left, filters)
            code.vmov(tile.stream, stream)
            sized = (lambda compare: loop.assemble(code, compare)), size
            nests.group(tile, group, InSlots(tile, left), sized=sized)
            code.vmov(state, held)
            code.ldr(tiles, state[_TILES])
            code.cmp(tiles, 0)
            code.bne(again)
        code.b(done)
        _last(code, held, last, ready)
        code.place(done)

    def _gather(
        self,
        code: Assembly,
        into: Register,
        kept: tuple[Register, Register],
        labels: tuple[Label, Label, Label],
    ) -> None:
        """Tiles, until the group is full or there are no more. labels: where it goes on then, what
        comes before the last tile of all, and where that comes back."""
        (held, group_end), (full, last, ready) = kept, labels
        sources, row_end = code.registers("pixel0 pixel1 pixel2"), code.register("pixel0_end")
        low, high = code.registers("a0 a1 a2"), code.registers("b0 b1 b2")
        state, channels, filters = code.registers("state channels filters")
        out, second, third = code.registers("out second third")
        tiles, back, stop = code.registers("tiles back group_end")
        code.note(
            "Three pixels, widened to int16: two channels a word, of all three in turn; of each "
            "four channels 0 and 2, 1 and 3. Behind them stands where their outputs go."
        )
        with code.repeat(self.all_tiles):
            code.vmov(state, held)
            code.ldr(sources[0], state[_INPUT])
            code.ldr(channels, state[_CHANNELS])
            code.add(sources[1], sources[0], channels)
            code.add(sources[2], sources[1], channels)
            code.mov(row_end, sources[1])
            with code.repeat(self.channels // 4):
                for word, pixel in zip(low, sources, strict=True):
                    code.ldr(word, pixel.after(4))
                widen(code, self.product.layer.extend, low, high)
                code.stmia(into.moving, [*low, *high])
                code.cmp(sources[0], row_end)
            code.vmov(state, held)
            code.str(sources[2], state[_INPUT])
            code.ldrd(second, third, state[_SECOND])
            code.ldr(out, state[_OUTPUT])
            code.ldr(filters, state[_FILTERS])
            code.stmia(into.moving, [out, second, third])
            code.add(filters, filters, filters.lsl(1))
            code.add(out, out, filters)
            code.str(out, state[_OUTPUT])
            code.ldrd(tiles, back, state[_TILES])
            code.subs(tiles, tiles, 1)
            code.str(tiles, state[_TILES])
            code.beq(full)
            code.cmp(tiles, 1)
            code.beq(last)
            code.place(ready)
            code.vmov(stop, group_end)
            code.cmp(into, stop)


def _last(code: Assembly, held: Register, last: Label, ready: Label) -> None:
    """The last tile takes the last three pixels: those that others had go nowhere, one or two."""
    state, back, source, nowhere, channels = code.registers("state back source nowhere channels")
    out, second, third = code.registers("out second third")
    one = code.label()
    with code.rarely():
        code.note("The last tile takes the last three pixels; what others had goes nowhere.")
        code.place(last)
        code.vmov(state, held)
        code.ldr(back, state[_TILES + 4])
        code.cmp(back, 0)
        code.beq(ready)
        code.ldr(source, state[_INPUT])
        code.sub(source, source, back)
        code.str(source, state[_INPUT])
        code.ldr(out, state[_OUTPUT])
        code.add(nowhere, state, _NOWHERE)
        code.sub(third, out, nowhere)
        code.sub(third, third, 2)
        code.str(nowhere, state[_OUTPUT])
        code.ldrd(channels, out, state[_CHANNELS])  # the filters
        code.mvn(second, 1)
        code.cmp(back, channels)
        code.bne(one)
        code.mov(second, third)
        code.add(third, third, out)
        code.place(one)
        code.strd(second, third, state[_SECOND])
        code.b(ready)


def _begin(code: Assembly, loop: EnteredLoop, kept: tuple[Register, ...]) -> None:
    """The numbers to where they are needed. kept: where the taps and the group end, the bytes of
    two filters' weights, where the state and the stream are."""
    x, y, weights, scratch = code.arguments("x y weights scratch")
    first, group_end, size, held, stream = kept
    numbers = code.registers("tiles back second third taps_at group_bytes channels filters")
    tiles, back, second, third, taps, group, channels, filters = numbers
    code.note("The layer's words go to the begin of the scratch.")
    code.ldmia(weights.moving, numbers)
    code.vmov(held, scratch)
    code.strd(tiles, back, scratch[_TILES])
    code.strd(second, third, scratch[_SECOND])
    code.strd(x, y, scratch[_INPUT])
    code.strd(channels, filters, scratch[_CHANNELS])
    code.add(taps, taps, scratch)
    code.vmov(first, taps)
    code.add(group, group, taps)
    code.vmov(group_end, group)
    code.lsl(channels, channels, 1)
    code.vmov(size, channels)
    behind = code.register("behind")
    code.ldr(behind, weights.after(4))
    code.vmov(stream, weights)
    loop.begin(code, behind)


def _describe(code: Assembly, product: Steps) -> None:
    for line in product.description():
        code.note(line)
    code.note(
        "x: [p][channel], y: [p][f]; t are channels, of each four in the order 0 2 1 3. In front "
        "of the stream are words of the layer: tiles, bytes that the last one goes back, `second`, "
        "`third`, where the taps lie in the scratch, bytes of a group, channels, filters, and how "
        "far in front of the loop's end its first round begins."
    )
    code.note(
        "scratch: words: tiles that are left, bytes back, how far `second` and `third` pixels are "
        "behind, x, where outputs go, channels, filters; bytes for outputs of no pixel; of each "
        "tile of a group its taps, where its next outputs go, `second` and `third`. In place: a "
        "group is read before it is written."
    )
