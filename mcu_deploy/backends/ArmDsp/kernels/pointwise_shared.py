"""1x1 convolution of int8 by one function for all layers: their sizes are numbers.

The products of a tile (see core.py) are a loop of eight steps of four channels, which a layer
enters in the middle if its steps are no multiple of eight; or, where flash counts most, of one
step. The first takes a few per cent longer than a function for the layer's own channels
(pointwise.py), the other a fifth; and a network of many shapes needs it once. For `size` there is a
third, which rounds in float32: a factor a filter is all that it needs for that, as CpuRef.
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
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp import nests
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.tile import WordStep, multiply_words
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.quantized.dense_product import DenseProduct
from mcu_deploy.backends.quantized.layers import Convolution, read

OPERATORS = ("Conv", "tflite::Conv")


class Way(NamedTuple):
    """steps: of the loop, of four channels each; is_real: it rounds in float32."""

    steps: int
    is_real: bool = False


WAYS = {"any": Way(8), "any_small": Way(1), "any_small_real": Way(1, is_real=True)}
_STEP_BYTES = 68
# Behind a tile's activations and `STATE`; then bytes that take results of pixels that do not exist.
_INPUT, _WEIGHTS, _TILES, _BACK, _CHANNELS, _FILTERS, _NOWHERE = 16, 20, 24, 28, 32, 36, 40


@dataclass(frozen=True, eq=False)
class Steps(DenseProduct):
    """The products, by a loop of so many `steps`."""

    steps: int = 1

    @property
    def begins_early(self) -> bool:
        return False

    @property
    def first(self) -> int:
        """Steps of the first round."""
        return (self.pairs // 2 - 1) % self.steps + 1


class _Loop:
    """The six sums: see core.py.

    entries: of the steps, and behind the last one. In S registers, entry: where the first round
    begins; end: of the activations.
    """

    def __init__(self, code: Assembly, product: Steps, tile: Tile) -> None:
        self.product, self.tile = product, tile
        self.entries = [code.label() for _ in range(product.steps + 1)]
        self.entry, self.end = code.registers("entry taps_end", kind=Kind.SINGLE)
        self._at, self._until = code.registers("at until")
        self._words, self._x = code.registers("weights0 weights1"), code.registers("x0 x1 x2")

    def begin(self, code: Assembly, behind: Register) -> None:
        """behind: so many bytes in front of the loop's end the first round begins."""
        if self.product.steps > 1:
            code.adr_w(self._at, self.entries[-1])
            code.sub(self._at, self._at, behind)
            code.orr(self._at, self._at, 1)
            code.vmov(self.entry, self._at)

    def assemble(self, code: Assembly) -> None:
        product, taps = self.product, self.tile.taps
        self.tile.begin()
        has_entries = product.steps > 1
        if has_entries:
            code.vmov(self._at, self.entry)
            code.bx(self._at, to=self.entries[:-1])
        rounds = -(-product.pairs // 2 // product.steps)
        with code.repeat(rounds):
            for entry, step in zip(self.entries, range(product.steps, 0, -1), strict=False):
                if has_entries:
                    code.place(entry)
                with code.times((rounds - (step > product.first)) / rounds):
                    self._step(code)
            if has_entries:
                code.place(self.entries[-1])
            code.vmov(self._until, self.end)
            code.cmp(taps, self._until)

    def _step(self, code: Assembly) -> None:
        """All of it in wide encodings: `_STEP_BYTES`."""
        code.ldmia_w(self.tile.stream.moving, self._words)
        for word in self._words:
            code.ldmia_w(self.tile.taps.moving, self._x)
            multiply_words(code, [word], [WordStep(self.tile.sums, self._x)])


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution by itself, by the loop, and by the chain if that is long enough."""
    layer = read(node)
    if isinstance(layer, str) or not layer.is_pixelwise or pointwise.refusal(layer):
        return ""
    part = view.part([node.node.id])
    may_be_real = layer.fixed is None and node.target.fpu
    ways = [kind for kind, way in WAYS.items() if may_be_real or not way.is_real]
    return [_proposal(part, layer, kind) for kind in ways]


def _proposal(part: SubgraphView, layer: Convolution, kind: str) -> Proposal:
    channels, filters = layer.x.shape[1], layer.y.shape[1]
    way = WAYS[kind]
    product = steps_of(layer, way)
    ahead = numbers(product)
    return proposal(
        part, layer.target, f"conv1x1_{kind}_dsp", assemble(layer, way),
        lambda: [Constant("weights", np.concatenate([ahead, product.pack()]))],
        "conv1x1 of any size" + ", rounded in float32" * way.is_real,
        macs=layer.pixels * channels * filters,
        constant_bytes=product.constant_bytes + ahead.nbytes,
        scratch_bytes=6 * channels + _NOWHERE + filters,
        in_place=[pointwise.in_place(layer)],
        layouts=CHANNELS_LAST,
        only_for="size" if way.is_real else "",
    )  # fmt: skip


def steps_of(layer: Convolution, way: Way) -> Steps:
    """Its taps are in the order in which SXTB16 widens four bytes: (0, 2), (1, 3)."""
    filters, channels = layer.weights.shape[:2]
    order = np.arange(0, channels, 4)[:, None] + np.array([0, 2, 1, 3])
    weights = layer.weights.reshape(filters, channels)[:, order.reshape(-1)]
    return Steps(layer, weights, unrolls_all=True, is_real=way.is_real, steps=way.steps)


def numbers(product: Steps) -> Array:
    """What stands in front of the weights."""
    layer = product.layer
    filters, channels = layer.weights.shape[:2]
    rest = layer.pixels % 3
    values = [
        6 * channels, filters, filters - 2, 2 * filters - 2, -(-layer.pixels // 3),
        (3 - rest) % 3 * channels, channels, _STEP_BYTES * product.first,
    ]  # fmt: skip
    return np.array(values, np.uint32)


def assemble(layer: Convolution, way: Way) -> Assembly:
    """The kernel: pixels, output, numbers and packed stream, scratch."""
    code = Assembly()
    product = steps_of(layer, way)
    tile = Tile(code, product)
    loop, state = _Loop(code, product, tile), tile.taps
    x, y, weights, scratch = code.arguments("x y weights scratch")
    activations = code.register("first_taps", kind=Kind.SINGLE)
    for line in product.description():
        code.note(line)
    code.note(
        "x: [p][channel], y: [p][f]; t are channels, of each four in the order 0 2 1 3. In front "
        "of the stream are words of the layer: the bytes of a tile's taps, filters, `second`, "
        "`third`, tiles, bytes that the last tile goes back, channels, and how far in front of the "
        "loop's end its first round begins."
    )
    code.note(
        "scratch: the taps of a tile; words: `next` and `end` of the output, how far `second` and "
        "`third` pixels are behind, x, the stream, tiles, bytes back, channels, filters; bytes for "
        "outputs of no pixel. In place: a tile is read before it is written."
    )
    _begin(code, loop, (x, y, weights, scratch), activations)
    tiles, back, channels, filters = code.registers("tiles back channels filters")
    out, stop, second, third = code.registers("out end second third")
    sources, into = code.registers("pixel0 pixel1 pixel2"), code.register("into")
    low, high = code.registers("a0 a1 a2"), code.registers("b0 b1 b2")
    source, row_end = code.registers("source pixel0_end")
    code.note(
        "Three pixels, widened to int16: two channels a word, of all three in turn; of each four "
        "channels 0 and 2, 1 and 3."
    )
    with code.repeat(-(-layer.pixels // 3), "b"):
        code.ldr(sources[0], state[_INPUT])
        code.ldr(channels, state[_CHANNELS])
        code.add(sources[1], sources[0], channels)
        code.add(sources[2], sources[1], channels)
        code.mov(row_end, sources[1])
        code.vmov(into, activations)
        with code.repeat(layer.weights.shape[1] // 4):
            for word, pixel in zip(low, sources, strict=True):
                code.ldr(word, pixel.after(4))
            widen(code, layer.extend, low, high)
            code.stmia(into.moving, [*low, *high])
            code.cmp(sources[0], row_end)
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
        # The last tile takes the last three pixels: those that others had go nowhere, one or two.
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
    return code


def _begin(
    code: Assembly, loop: _Loop, arguments: Sequence[Register], activations: Register
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
