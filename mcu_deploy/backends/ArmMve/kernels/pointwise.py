"""1x1 convolution of int8: two pixels, which are neighbours in memory, times four filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.ArmMve import workloads
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, NATURAL, assembly
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.mve.rounding import SLOT, Rounding
from mcu_deploy.backends.isa.mve.tiles import Tile, add_number, add_to
from mcu_deploy.backends.quantized.layers import read
from mcu_deploy.backends.quantized.vector_product import HEAD, VectorProduct
from mcu_deploy.ir import DType

OPERATORS = ("Conv", "tflite::Conv")

# Words of the scratch; behind them the sums of a pair, in front of which a slot is written that
# nothing reads.
_INPUT, _OUTPUT, _STREAM, _PAIRS = 0, 4, 8, 12
_SUMS = 16 + SLOT


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution by itself."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if not layer.is_pixelwise:
        return ""
    if layer.x.dtype is DType.UINT8 or layer.groups > 1:
        return ""  # convolution.py's
    filters, channels = layer.weights.shape[:2]
    pixels = Pixels(
        VectorProduct(layer, layer.weights.reshape(filters, 1, channels)), layer.pixels
    )  # fmt: skip
    return [proposal(view, node, pixels, f"conv1x1_{channels}x{filters}_mve", "conv1x1, vectors")]


@dataclass(frozen=True)
class Pixels:
    """Rows of bytes, one behind the other, that are multiplied by all filters."""

    product: VectorProduct
    count: int

    @property
    def scratch_bytes(self) -> int:
        return _SUMS + SLOT * self.product.tiles

    @property
    def in_place(self) -> InPlace:
        """A pair is read before it is written."""
        channels, filters = self.product.row_bytes, self.product.filters
        more = 2 * (filters - channels)
        pairs = (self.count - 1) // 2  # that another follows
        if not pairs:
            return InPlace(0, 0, -self.product.layer.x.bytes)
        return InPlace(0, 0, max(more * pairs, more))


def proposal(view: SubgraphView, node: Layer, pixels: Pixels, stem: str, title: str) -> Proposal:
    product = pixels.product
    return workloads.proposal(
        view.part([node.node.id]), node.target, stem, assemble(pixels),
        lambda: (Constant("weights", product.pack()),), title,
        macs=pixels.count * product.row_bytes * product.filters,
        constant_bytes=product.stream_bytes, scratch_bytes=pixels.scratch_bytes,
        in_place=[pixels.in_place], layouts=CHANNELS_LAST if node.op == "Conv" else NATURAL,
    )  # fmt: skip


def assemble(pixels: Pixels) -> Assembly:
    """The kernel: pixels, output, the packed stream, scratch."""
    made = pixels.product
    filters, channels = made.filters, made.row_bytes
    pairs, is_odd = -(-pixels.count // 2), pixels.count % 2 == 1
    code = assembly()
    x, y, weights, scratch = code.arguments("x y weights scratch")
    frame = code.register("frame", region="frame")
    tile = Tile(code, made, has_words=channels % 4 == 0)
    first, second = tile.windows
    outputs = code.registers("output0 output1")
    left = code.register("pairs_left")
    _describe(code, made)
    rounding = Rounding(code, made, tile.sums, tile.stream, outputs)
    tile.begin()
    rounding.begin(weights)
    code.mov(frame, scratch)
    code.mov(left, pairs)
    code.add(weights, weights, HEAD)
    for register, at in ((x, _INPUT), (y, _OUTPUT), (weights, _STREAM), (left, _PAIRS)):
        code.str(register, frame[at])
    with code.repeat(pairs):
        code.ldr(first, frame[_INPUT])
        code.ldr(tile.stream, frame[_STREAM])
        code.add(tile.sums, frame, _SUMS)
        if is_odd:
            code.ldr(left, frame[_PAIRS])
        _beside(code, second, first, channels, left if is_odd else None)
        code.reads(made.stream_bytes)
        tile.assemble()
        code.sub(frame, tile.sums, _SUMS)
        code.ldr(outputs[0], frame[_OUTPUT])
        code.ldr(left, frame[_PAIRS])
        _beside(code, outputs[1], outputs[0], filters, left if is_odd else None)
        rounding.assemble()
        code.note("The next two pixels.")
        code.str(outputs[1], frame[_OUTPUT])
        code.ldr(first, frame[_INPUT])
        add_number(code, first, 2 * channels)
        code.str(first, frame[_INPUT])
        code.subs(left, left, 1)
        code.str(left, frame[_PAIRS])
    return code


def _beside(code: Assembly, to: Register, of: Register, by: int, left: Register | None) -> None:
    """Where the second pixel of a pair is. left: pairs that are left, of a last pair of which both
    pixels are the same one."""
    if left is not None:
        code.cmp(left, 1)
    add_to(code, to, of, by)
    if left is not None:
        code.it("eq")
        code.moveq(to, of)


def _describe(code: Assembly, made: VectorProduct) -> None:
    for line in made.formula("y[p][f]", "x[p][c] * w[f][c]"):
        code.note(line)
    code.note("x: [p][channel], y: [p][f].")
    for line in made.description():
        code.note(line)
    code.note(
        "scratch, in words: x, y, the stream, pairs that are left; behind 32 bytes that nothing "
        "reads, of each tile the sums of one pixel and of the other. In place: a pair is read "
        "before it is written."
    )
