"""A 1x1 convolution by groups of tiles, by one function for layers of all sizes.

See pixel_groups.py, which has one for each size.
The scratch begins with words; behind them are bytes for outputs of no pixel, then the widened taps
of the group's tiles, each with three words that say where its outputs go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp import nests
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.entered_loop import STEP_BYTES, EnteredLoop, Steps
from mcu_deploy.backends.isa.dsp.nests import TapGroup
from mcu_deploy.backends.isa.dsp.outputs import SLOT_BYTES, InSlots
from mcu_deploy.backends.isa.dsp.pixels import AnyPixels, GroupWalk

# Words of the scratch: tiles that are left and bytes that the last one goes back; how far behind
# the first pixel's next outputs but one the others' are; x, and where the next outputs go.
_TILES, _SECOND, _INPUT, _OUTPUT, _CHANNELS, _FILTERS, _NOWHERE = 0, 8, 16, 20, 24, 28, 32


@dataclass(frozen=True, eq=False)
class SizedGroups(GroupWalk):
    """By a function for layers of all sizes."""

    product: Steps

    @property
    def tiles(self) -> int:
        """Of a group."""
        return self.together(self.all_tiles)

    @property
    def behind(self) -> Iterable[int]:
        return range(self.tiles, self.all_tiles, self.tiles)

    @property
    def _taps_at(self) -> int:
        return _NOWHERE + -(-self.filters // 4) * 4

    @property
    def _group_bytes(self) -> int:
        return self.tiles * (self.product.tile_bytes + SLOT_BYTES)

    @property
    def scratch_bytes(self) -> int:
        return self._taps_at + self._group_bytes

    @property
    def numbers(self) -> Array:
        filters = self.filters
        values = [
            self.all_tiles, (3 - self.rest) % 3 * self.channels, filters - 2, 2 * filters - 2,
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
        self.describe(
            code,
            "words: tiles that are left, bytes back, how far `second` and `third` pixels are "
            "behind, x, where outputs go, channels, filters; bytes for outputs of no pixel; of "
            "each tile of a group its taps, where its next outputs go, `second` and `third`",
            "tiles, bytes that the last one goes back, `second`, `third`, where the taps lie in "
            "the scratch, bytes of a group, channels, filters, and how far in front of the loop's "
            "end its first round begins", read="group",
        )  # fmt: skip
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
        three = AnyPixels(code)
        state, filters = code.registers("state filters")
        out, second, third = code.registers("out second third")
        tiles, back, stop = code.registers("tiles back group_end")
        code.note(
            "Three pixels, widened to int16: two channels a word, of all three in turn; of each "
            "four channels 0 and 2, 1 and 3. Behind them stands where their outputs go."
        )
        with code.repeat(self.all_tiles):
            code.vmov(state, held)
            three.begin(state[_INPUT], state[_CHANNELS])
            three.widen(into, self.layer.extend, self.channels)
            code.vmov(state, held)
            code.str(three.sources[2], state[_INPUT])
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
