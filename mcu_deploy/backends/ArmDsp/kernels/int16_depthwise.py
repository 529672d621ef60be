"""Depthwise convolutions of int16 by weights of 8 bits, a row of the output at a time.

Where there is padding, the driver, in C, puts the lines that the row needs into the scratch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcu_deploy.backends.ArmDsp.kernels.int16_rows import called
from mcu_deploy.backends.ArmDsp.workloads import KIT, driver
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.dsp.int16_depthwise import Int16Depthwise
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Plane, plane, window_refusal
from mcu_deploy.backends.quantized.int16 import read
from mcu_deploy.operators.conv import conv_window

OPERATORS = ("Conv", "tflite::Conv")

_MOST_TAPS = 32
_MOST_TOGETHER = 3
# Cycles of the driver: of a line that is copied and what of it is a byte.
_LINE, _BYTE = 60, 0.6
_DRIVER_BYTES = 100


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    x, w = node.input(0).type, node.input(1).type
    groups = int(node.attributes.get("group", 1))
    if groups == 1:
        return ""  # int16_rows.py's
    products = read(node)
    if isinstance(products, str):
        return products
    if not groups == x.shape[1] == len(products.weights):
        return "of groups it takes those of one channel and one filter"
    if x.rank not in (3, 4) or x.shape[0] != 1 or not node.output.type.elements:
        return "it convolves one image over one or two spatial axes"
    window = plane(conv_window(x, w, node.output.type, node.attributes))
    if reason := window_refusal(window):
        return reason
    rows, columns = window.kernel
    if x.shape[1] % 2 or rows * columns > _MOST_TAPS:
        return f"it takes channels by 2 and up to {_MOST_TAPS} taps"
    of_taps = replace(products, weights=products.weights.reshape(-1, rows, columns))
    needed = (window.output[1] - 1) * window.stride[1] + columns
    is_direct = not any(window.padded) and window.dilation[0] == 1
    line = x.shape[1] * (window.input[1] if is_direct else needed)
    ways = [
        Int16Depthwise(of_taps, window.output[1], together, window.stride[1], line)
        for together in range(1, min(_MOST_TOGETHER, window.output[1]) + 1)
    ]
    ways = [way for way in ways if way.reaches]
    if not ways:
        return f"it has no offsets for {x.shape[1]} channels"
    return [_proposal(view, node, way, window, is_direct) for way in ways]


def _proposal(
    view: SubgraphView, node: Layer, way: Int16Depthwise, window: Plane, is_direct: bool
) -> Proposal:
    code, y, channels = way.assemble(), node.output.type, way.channels
    kernel = f"int16_depthwise_{channels}_dsp"
    before = window.pad[1] * channels
    copied = min(window.input[1] * channels, way.line - before)
    body = KIT.render(
        "int16_depthwise.c.j2", window=window.values(1), channels=channels, line=way.line,
        before=before, copied=copied, is_direct=is_direct, kernel=kernel,
    )  # fmt: skip
    (rows, columns), high = window.output, window.kernel[0]
    cycles = rows * code.time(node.target)
    if not is_direct:
        cycles += round(rows * high * (_LINE + _BYTE * 2 * copied))
    name = stem("int16_depthwise", "dsp", channels, window=window)
    ends = np.arange(1, rows + 1) * columns * y.dtype.bytes * channels
    first = np.maximum(np.arange(rows) * window.stride[0] - window.pad[0], 0)
    demand = overlap.distance(ends, first * window.input[1] * 2 * channels)
    return driver(
        view.part([node.node.id]), name, (body, _DRIVER_BYTES),
        lambda: [Constant("weights", way.pack())], [called(node, kernel, code, rows)],
        "int16 depthwise" + f", {way.together} pixels together" * (way.together > 1),
        macs=node.macs, cycles=cycles, constant_bytes=way.constant_bytes,
        scratch_bytes=0 if is_direct else 2 * way.line * high,
        in_place=() if is_direct else overlap.fact(node, 0, demand),
    )  # fmt: skip
