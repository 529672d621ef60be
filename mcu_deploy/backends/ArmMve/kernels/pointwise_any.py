"""1x1 convolutions and fully connected layers of int8 by one function for all sizes.

A pixel times four filters: each round of a loop with tail predication takes 16 channels, whose five
loads take the time. A function of the layer's own sizes (pointwise.py) loads less, and rounds while
it multiplies; a network of many small layers needs this one once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, NATURAL, assembly, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.mve.rounding import Rounding, add_steps
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized import dense, layers
from mcu_deploy.backends.quantized.vector_product import TILE, VECTOR
from mcu_deploy.backends.quantized.vector_tiles import VectorTiles
from mcu_deploy.ir import DType

OPERATORS = ("Gemm", "MatMul", "tflite::FullyConnected", "Conv", "tflite::Conv")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself. Why it has none its own sizes' kernels say."""
    pixels = _pixels(node)
    if pixels is None:
        return ""
    product = pixels.product
    made = proposal(
        view.part([node.node.id]), node.target, "conv1x1_any_mve", assemble(pixels),
        lambda: (Constant("weights", pixels.pack()),), "conv1x1 of any size, vectors",
        macs=pixels.count * product.row_bytes * product.filters,
        constant_bytes=pixels.numbers.nbytes + product.stream_bytes, in_place=[pixels.in_place],
        layouts=CHANNELS_LAST if node.op == "Conv" else NATURAL,
    )  # fmt: skip
    return [made]


@dataclass(frozen=True)
class RunTimeSizes:
    """Pixels that lie one behind the other, or rows, times all filters."""

    product: VectorTiles
    count: int

    @property
    def numbers(self) -> Array:
        """In front of the packed stream."""
        product = self.product
        zero = product.layer.zero_points[1] & 0xFFFF
        return np.array([product.row_bytes, product.filters, self.count, zero], np.uint32)

    def pack(self) -> Array:
        return np.concatenate([self.numbers, self.product.pack()])

    @property
    def in_place(self) -> InPlace:
        """A pixel is read for each tile, then the tile's elements are written."""
        product, pixels = self.product, np.arange(self.count)
        ends = np.minimum(TILE * np.arange(1, product.tiles + 1), product.filters)
        written = overlap.nested(pixels * product.filters, ends)
        lowest = np.repeat(pixels * product.row_bytes, product.tiles)
        return InPlace(0, 0, max(overlap.distance(written, lowest), -product.layer.x.bytes))


def _pixels(node: Layer) -> RunTimeSizes | None:
    """Of a layer that the kernel computes."""
    layer = layers.read(node)
    if isinstance(layer, layers.Convolution) and layer.is_pixelwise and layer.groups == 1:
        return _of(layer, layer.pixels)
    rows = dense.read(node)
    return None if isinstance(rows, str) else _of(rows, rows.rows)


def _of(layer: layers.Linear, count: int) -> RunTimeSizes | None:
    filters = len(layer.weights)
    weights = layer.weights.reshape(filters, 1, -1)
    if layers.bytes_refusal(layer) or layer.x.dtype is DType.UINT8 or not count * weights.size:
        return None
    return RunTimeSizes(VectorTiles(layer, weights, count, is_bounded=False), count)


def assemble(pixels: RunTimeSizes) -> Assembly:
    """The kernel: pixels, output, the packed stream."""
    code, product = assembly(), pixels.product
    _describe(code, product)
    x, y, weights = code.arguments("x y weights")
    stream = code.register("stream", region="weights")
    numbers = code.registers("channels filters pixels zero_point rounding")
    channels, filters, count, zero, number = numbers
    left, at = code.registers("filters_left taps_at")
    kept = code.registers("kept_stream pixels_left", kind=Kind.SINGLE)
    sums = code.registers("sum0 sum1 sum2 sum3")
    taps, filter_, words, end, sign = code.registers(
        "taps filter words end sign", kind=Kind.VECTOR
    )  # fmt: skip
    rounding = Rounding(code, product, end, number, zero, sign, end)

    def load_end() -> None:
        code.vldrw_u32(end, stream.after(VECTOR))

    code.ldmia(weights.moving, numbers)
    code.add(weights, weights, 4)
    code.vmov(kept[0], weights)
    with code.repeat(pixels.count):
        code.vmov(kept[1], count)
        code.vmov(stream, kept[0])
        code.mov(left, filters)
        with code.repeat(product.tiles, "bgt"):
            code.mov(at, x)
            for sum_ in sums:
                code.mov(sum_, 0)
            with code.counted(product.vectors, channels, 8):
                code.vldrb_u8(taps, at.after(VECTOR))
                for sum_ in sums:
                    code.vldrb_u8(filter_, stream.after(VECTOR))
                    code.vmladava_s8(sum_, taps, filter_)
            for n in (0, 1):
                code.vmov(words.lane(2 + n), words.lane(n), sums[n], sums[2 + n])
            load_end()
            code.vadd_i32(words, words, end)
            add_steps(rounding.integers([words], [load_end], load_end))
            add_steps(rounding.to_halfwords([words]))
            add_steps(rounding.with_zero([words]))
            add_steps(rounding.to_bytes([words]))
            code.vctp_32(left)
            code.vpst()
            code.vstrbt_32(words, y.after(TILE))
            code.subs(left, left, TILE)
        code.note("The next pixel. The output went on by whole tiles.")
        code.add(y, y, left)
        code.add(x, x, channels)
        code.vmov(count, kept[1])
        code.subs(count, count, 1)
    return code


def _describe(code: Assembly, product: VectorTiles) -> None:
    for line in product.formula("y[p][f]", "x[p][c] * w[f][c]"):
        code.note(line)
    code.note("x: [p][channel], y: [p][f].")
    code.note(
        "weights: words: how many channels, filters and pixels there are, the output's zero point. "
        f"Then {product.number_text} and the input's zero point; of each tile of four filters "
        f"those of each 16 channels, then bias[4], {product.ends_text}."
    )
