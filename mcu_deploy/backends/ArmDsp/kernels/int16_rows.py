"""Convolutions and dense layers of int16 by weights of 8 bits: rows times filters.

Rows are a dense layer's, the pixels of a 1x1 convolution, or windows, which the driver, in C, puts
side by side. Three rows at a time meet each word of weights; one where there are fewer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, KIT, Called, driver
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp.int16_rows import Int16Rows
from mcu_deploy.backends.isa.workloads import NATURAL
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Plane, plane, window_refusal
from mcu_deploy.backends.quantized.int16 import Int16Products, read
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.windows import Window

OPERATORS = ("Conv", "tflite::Conv", "Gemm", "MatMul", "tflite::FullyConnected")

_ROWS = 3
_MOST_BYTES = 4092  # from the first row's output to the third's
# Cycles of the driver: of a row of a window and what of it is a byte.
_LINE, _BYTE = 60, 0.6
_DRIVER_BYTES = 120


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    x, w = node.input(0).type, node.input(1)
    if node.op == "MatMul" and (w.constant is None or w.type.rank != 2):
        return ""
    products = read(node)
    if isinstance(products, str):
        return products
    if not node.output.type.elements or not products.weights.size:
        return "there is nothing to compute"
    if node.op != "Conv":
        if w.type.rank != 2 or x.rank < 2 or node.attributes.get("transA", 0):
            return "it multiplies rows with one matrix"
        rows, ones = math.prod(x.shape[:-1]), (1, 1)
        window = Window(ones, ones, ones, (0, 0), (0, 0), (1, rows), (1, rows))
        return [_proposal(view, node, products, plane(window), x.shape[-1])]
    if x.shape[1] != w.type.shape[1]:
        return ""  # int16_depthwise.py's
    if x.rank not in (3, 4) or x.shape[0] != 1:
        return "it convolves one image over one or two spatial axes"
    window_ = plane(conv_window(x, w.type, node.output.type, node.attributes))
    if reason := window_refusal(window_):
        return reason
    filters = len(products.weights)
    shaped = products.weights.reshape(filters, x.shape[1], *window_.kernel)
    taps = shaped.transpose(0, 2, 3, 1).reshape(filters, -1)
    return [_proposal(view, node, replace(products, weights=taps), window_, x.shape[1])]


def _proposal(
    view: SubgraphView, node: Layer, products: Int16Products, window: Plane, channels: int
) -> Proposal:
    filters, y = len(products.weights), node.output.type
    size, count = y.dtype.bytes, math.prod(window.output)
    if products.weights.shape[1] % 2:
        products = replace(products, weights=np.pad(products.weights, ((0, 0), (0, 1))))
    is_three = count >= _ROWS and filters % 2 == 0 and 2 * size * filters <= _MOST_BYTES
    rows = Int16Rows(products, _ROWS if is_three else 1)
    code, taps = rows.assemble(), rows.taps
    whole, rest = divmod(count, rows.rows)
    is_direct = {*window.kernel, *window.stride} == {1} and not any(window.padded)
    is_direct &= channels % 2 == 0 and (rows.rows > 1 or rows.is_whole)
    surplus = rows.written - filters if rows.rows == 1 else 0
    gathered = written = None
    behind = rows.scratch_bytes
    if not is_direct or rest:
        # One row is read to the end of its last round.
        gathered, behind = behind, behind + 2 * max(rows.rows * taps, 2 * rows.pairs)
        behind = -(-behind // 4) * 4
    if surplus or rest:
        written, behind = behind, behind + -(-rows.rows * rows.written * size // 4) * 4
    kernel = f"int16_rows{rows.rows}_{taps}x{filters}_dsp"
    body = KIT.render(
        "int16_rows.c.j2", window=window.values(1), channels=channels, filters=filters, taps=taps,
        rows=rows.rows, whole=whole, rest=rest, surplus=surplus, size=size, ctype=y.dtype.c_type,
        is_direct=is_direct, gathered=gathered, written=written, kernel=kernel,
    )  # fmt: skip
    tiles = whole + (rest > 0)
    cycles = tiles * code.time(node.target)
    if not is_direct:
        lines = count * window.kernel[0]
        cycles += round(lines * (_LINE + _BYTE * 2 * window.kernel[1] * channels))
    name = stem("int16_conv", "dsp", channels, filters, window=window)
    return driver(
        view.part([node.node.id]), name, (body, _DRIVER_BYTES),
        lambda: [Constant("weights", rows.pack())],
        [called(node, kernel, code, tiles, has_scratch=rows.rows > 1)], "int16 rows",
        macs=node.macs, cycles=cycles, constant_bytes=rows.constant_bytes, scratch_bytes=behind,
        in_place=()
        if is_direct and rows.rows == 1
        else _in_place(node, rows, window, channels),
        layouts=CHANNELS_LAST if node.op == "Conv" else NATURAL,
    )  # fmt: skip


def called(
    layer: Layer, name: str, code: Assembly, calls: int, *, has_scratch: bool = False
) -> Called:
    """The function in assembly: of the input, the output, the weights, and maybe the scratch."""
    parameters = [
        Parameter("const int16_t *", "x"), Parameter(f"{layer.output.type.dtype.c_type} *", "y"),
        Parameter("const uint32_t *", "weights"),
    ]  # fmt: skip
    parameters += [Parameter("uint8_t *", "scratch")] if has_scratch else []
    return Called(name, parameters, code, calls)


def _in_place(node: Layer, rows: Int16Rows, window: Plane, channels: int) -> tuple[InPlace, ...]:
    """So many rows are read before they are written."""
    lowest = overlap.window(1, channels, window, np.zeros(1, np.int64))
    of_tiles = np.minimum.reduceat(lowest, np.arange(0, lowest.size, rows.rows))
    count = np.minimum(np.arange(1, of_tiles.size + 1) * rows.rows, lowest.size)
    ends = count * rows.filters * node.output.type.dtype.bytes
    return overlap.fact(node, 0, overlap.distance(ends, 2 * of_tiles))
