"""1x1 convolution of int8 by one function for all layers: their sizes are numbers.

The products of a tile (see core.py) are a loop of eight steps of four channels, which a layer
enters in the middle if its steps are no multiple of eight; or, where flash counts most, of one
step. The first takes a few per cent longer than a function for the layer's own channels
(pointwise.py), the other a fifth; and a network of many shapes needs it once. For `size` there is a
third, which rounds in float32: a factor a filter is all that it needs for that, as CpuRef.
Where weights are waited for, the first multiplies groups of tiles (sized_groups.py).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.kernels import pointwise
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp import nests
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.entered_loop import STEP_BYTES, EnteredLoop, Steps
from mcu_deploy.backends.isa.dsp.pixels import AnyPixels, PixelWalk
from mcu_deploy.backends.isa.dsp.sized_groups import SizedGroups
from mcu_deploy.backends.quantized.layers import Convolution, bytes_refusal, read

OPERATORS = ("Conv", "tflite::Conv")


class Way(NamedTuple):
    """steps: of the loop, of four channels each; is_real: it rounds in float32."""

    steps: int
    is_real: bool = False


WAYS = {"any": Way(8), "any_small": Way(1), "any_small_real": Way(1, is_real=True)}
# Behind a tile's activations and `STATE`; then bytes that take results of pixels that do not exist.
_INPUT, _WEIGHTS, _TILES, _BACK, _CHANNELS, _FILTERS, _NOWHERE = 16, 20, 24, 28, 32, 36, 40


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution by itself, by the loop, and by the chain if that is long enough."""
    layer = read(node)
    if isinstance(layer, str) or not layer.is_pixelwise or pointwise.refusal(layer):
        return ""
    if reason := bytes_refusal(layer):
        return reason
    return proposals(view.part([node.node.id]), layer)


def proposals(part: SubgraphView, layer: Convolution) -> Sequence[Proposal]:
    """All ways to compute a part, which is the layer."""
    may_be_real = layer.fixed is None and layer.target.fpu
    ways = [kind for kind, way in WAYS.items() if may_be_real or not way.is_real]
    return [_proposal(part, layer, kind) for kind in ways]


def _proposal(part: SubgraphView, layer: Convolution, kind: str) -> Proposal:
    way = WAYS[kind]
    pixels = kernel(layer, way)
    return proposal(
        part, layer.target, f"conv1x1_{kind}_dsp", pixels.code,
        lambda: [Constant("weights", np.concatenate([pixels.numbers, pixels.product.pack()]))],
        "conv1x1 of any size" + ", rounded in float32" * way.is_real,
        macs=layer.pixels * pixels.channels * pixels.filters,
        constant_bytes=pixels.product.constant_bytes + pixels.numbers.nbytes,
        scratch_bytes=pixels.scratch_bytes,
        in_place=[InPlace(0, 0, pixels.distance)],
        layouts=CHANNELS_LAST,
        only_for="size" if way.is_real else "",
    )  # fmt: skip


def kernel(layer: Convolution, way: Way) -> PixelWalk:
    """How a layer is computed. Its taps are in the order in which SXTB16 widens four bytes: (0, 2),
    (1, 3)."""
    filters, channels = layer.weights.shape[:2]
    weights = layer.weights.reshape(filters, channels)[:, pointwise.order(channels, by=4)]
    product = Steps(
        layer, weights, unrolls_all=True, is_real=way.is_real, steps=way.steps,
        is_grouped=layer.is_waited_for and way.steps > 1,
    )  # fmt: skip
    return SizedGroups(product) if product.is_grouped else SizedTiles(product)


@dataclass(frozen=True, eq=False)
class SizedTiles(PixelWalk):
    """One tile after the other, by a function for layers of all sizes."""

    product: Steps

    @property
    def scratch_bytes(self) -> int:
        return 6 * self.channels + _NOWHERE + self.filters

    @property
    def numbers(self) -> Array:
        channels, filters = self.channels, self.filters
        values = [
            6 * channels, filters, filters - 2, 2 * filters - 2, self.all_tiles,
            (3 - self.rest) % 3 * channels, channels, STEP_BYTES * self.product.first,
        ]  # fmt: skip
        return np.array(values, np.uint32)

    def assemble(self, code: Assembly) -> None:
        product = self.product
        tile = Tile(code, product)
        loop, state = EnteredLoop(code, product, tile), tile.taps
        x, y, weights, scratch = code.arguments("x y weights scratch")
        activations = code.register("first_taps", kind=Kind.SINGLE)
        self.describe(
            code,
            "the taps of a tile; words: `next` and `end` of the output, how far `second` and "
            "`third` pixels are behind, x, the stream, tiles, bytes back, channels, filters; bytes "
            "for outputs of no pixel",
            "the bytes of a tile's taps, filters, `second`, `third`, tiles, bytes that the last "
            "tile goes back, channels, and how far in front of the loop's end its first round "
            "begins",
        )
        _begin(code, loop, (x, y, weights, scratch), activations)
        three, into = AnyPixels(code), code.register("into")
        tiles, back, filters = code.registers("tiles back filters")
        out, stop, second, third = code.registers("out end second third")
        source, channels = code.register("source"), three.channels
        code.note(
            "Three pixels, widened to int16: two channels a word, of all three in turn; of each "
            "four channels 0 and 2, 1 and 3."
        )
        with code.repeat(self.all_tiles, "b"):
            three.begin(state[_INPUT], state[_CHANNELS])
            code.vmov(into, activations)
            three.widen(into, self.layer.extend, self.channels)
            code.mov(state, into)
            code.ldr(tile.stream, state[_WEIGHTS])
            begin = functools.partial(code.vmov, tile.taps, activations)
            nests.one_tile(tile, begin, multiply=lambda: loop.assemble(code))
            done, ready = code.label(), code.label()
            code.note("The next three pixels.")
            code.ldrd(tiles, back, state[_TILES])
            code.ldr(out, state[0])
            code.ldr(source, state[_INPUT])
            code.ldrd(channels, filters, state[_CHANNELS])
            code.subs(tiles, tiles, 1)
            code.str(tiles, state[_TILES])
            code.beq(done)
            code.add(channels, channels, channels.lsl(1))
            code.add(source, source, channels)
            code.add(out, out, filters.lsl(1))
            # The last tile takes the last three pixels; what others had goes nowhere.
            code.cmp(tiles, 1)
            code.bne(ready)
            code.cbz(back, ready)
            with code.rarely():
                two = code.label()
                nowhere = code.register("nowhere")
                code.sub(source, source, back)
                code.add(nowhere, state, _NOWHERE)
                code.sub(third, out, nowhere)
                code.sub(third, third, 2)
                code.mov(out, nowhere)
                code.ldr(second, state[_CHANNELS])
                code.cmp(back, second)
                code.mvn(second, 1)
                code.bne(two)
                code.mov(second, third)
                code.add(third, third, filters)
                code.place(two)
                code.strd(second, third, state[8])
            code.place(ready)
            code.add(stop, out, filters)
            code.strd(out, stop, state[0])
            code.str(source, state[_INPUT])
        code.place(done)


def _begin(
    code: Assembly, loop: EnteredLoop, arguments: Sequence[Register], activations: Register
) -> None:
    """The numbers to where they are needed."""
    x, y, weights, scratch = arguments
    code.note("The layer's words go behind the taps of a tile.")
    numbers = code.registers("size filters second third tiles back channels behind")
    size, filters, second, third, tiles, back, channels, behind = numbers
    state, end = loop.tile.taps, code.register("end")
    code.ldmia(weights.moving, numbers)
    code.add(state, scratch, size)
    code.vmov(activations, scratch)
    code.add(end, y, filters)
    code.strd(y, end, state[0])
    code.strd(second, third, state[8])
    code.strd(tiles, back, state[_TILES])
    code.str(x, state[_INPUT])
    code.str(weights, state[_WEIGHTS])
    code.strd(channels, filters, state[_CHANNELS])
    code.vmov(loop.end, state)
    loop.begin(code, behind)
