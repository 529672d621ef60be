"""TFLite's convolution of float32 by int8 weights ("dynamic range"): integers within.

The input becomes int8 in the scratch, by one scale that is found when the network runs. Three
windows at a time are rows of bytes, 1x1 ones as they lie there, others gathered; float_rows.py
multiplies them with all filters. The driver is C.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmDsp.kernels.int16_rows import window_refusal
from mcu_deploy.backends.ArmDsp.workloads import KIT, Called, called, driver
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa.dsp.float_rows import ROWS, FloatRows, symmetric
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Plane, plane
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.conv import conv_window

OPERATORS = ("tflite::HybridConv",)
_MOST_FILTERS = 510  # whose third row an offset reaches
_MOST_SUM = 2**23  # that two filters in one word have room for
# Cycles of the driver: of a row of a window and what of it is a byte.
_ROW, _BYTE = 60, 0.6
_DRIVER_BYTES = 200


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution by itself."""
    if reason := refusal(node):
        return reason
    return [_proposal(view, node)]


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    x, w, bias = layer.input(0).type, layer.input(1), layer.optional(2)
    if not layer.target.fpu:
        return f"it computes in float32, which this {layer.target.core} has no FPU for"
    if x.rank != 4 or x.shape[0] != 1 or not layer.output.type.elements:
        return "it convolves one image over two spatial axes"
    if layer.attributes.get("asymmetric", 0):
        return "it quantizes without a zero point"
    if w.constant is None or (bias is not None and bias.constant is None):
        return "its weights or its bias are computed at run time"
    scaling = w.type.quantization
    if w.type.dtype is not DType.INT8 or scaling is None or any(scaling.zero_point):
        return "it takes weights of int8 with the zero point 0"
    filters, depth = w.type.shape[:2]
    if depth != x.shape[1]:
        return "it takes no groups"
    if filters % 2 or filters > _MOST_FILTERS:
        return f"it takes filters by 2 and up to {_MOST_FILTERS}, not {filters}"
    low, high = layer.call.activation
    if low not in (0, -math.inf) or high <= 0:
        return "of activations it takes those that begin at 0"
    window = _window(layer)
    return window_refusal(window)


def _window(layer: Layer) -> Plane:
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    return plane(conv_window(x, w, y, layer.attributes))


def rows_of(layer: Layer) -> FloatRows:
    """What multiplies the windows."""
    w, bias = layer.input(1), layer.optional(2)
    assert w.constant is not None
    weights = w.constant.transpose(0, 2, 3, 1).reshape(len(w.constant), -1).astype(np.int64)
    weights = np.pad(weights, ((0, 0), (0, -weights.shape[1] % 4)))
    filters = len(weights)
    offsets = np.zeros(filters, np.float32) if bias is None else np.asarray(bias.constant)
    is_far = 127 * np.abs(weights).sum(axis=1).max() >= _MOST_SUM
    is_below = bool(((weights[1::2] == -128) & (weights[::2] < 0)).any())
    factors = np.broadcast_to(w.type.scaling.scales, (filters,))
    return FloatRows(weights, factors, offsets, bool(is_far or is_below), *layer.call.activation)


def _proposal(view: SubgraphView, node: Layer) -> Proposal:
    x, y = node.input(0).type, node.output.type
    window, rows = _window(node), rows_of(node)
    channels, filters = x.shape[1], y.shape[1]
    whole, rest = divmod(math.prod(window.output), ROWS)
    is_direct = {*window.kernel, *window.stride} == {1} and not any(window.padded)
    is_direct &= channels % 4 == 0
    image = rows.scratch_bytes
    patches = image + -(-x.elements // 4) * 4
    behind = patches + (0 if is_direct else ROWS * rows.taps)
    if is_direct and rest:
        behind += ROWS * channels  # the last rows may be none of the image
    scratch = behind + (4 * ROWS * filters if rest else 0)
    quantize, multiply = symmetric(x.elements), rows.assemble()
    names = f"symmetric_{x.elements}_dsp", f"float_rows_{rows.taps}x{filters}_dsp"
    body = KIT.render(
        "hybrid_conv.c.j2", window=window.values(1), channels=channels, filters=filters,
        image=image, patches=None if is_direct else patches, behind=behind, taps=rows.taps,
        whole=whole, rest=rest, symmetric=names[0], rows=names[1],
    )  # fmt: skip
    tiles = whole + (rest > 0)
    cycles = quantize.time(node.target) + tiles * multiply.time(node.target)
    if not is_direct:
        lines = math.prod(window.output) * window.kernel[0]
        cycles += round(lines * (_ROW + _BYTE * window.kernel[1] * channels))
    constant_bytes = 4 * (filters // 2) * (rows.pairs * (2 if rows.is_wide else 1) + 4)
    name = stem("hybrid_conv", "dsp", channels, filters, window=window)
    parameters = (
        Parameter("const float *", "x"), Parameter("int8_t *", "y"), Parameter("float *", "scale"),
    )  # fmt: skip
    return driver(
        view.part([node.node.id]), name, (body, _DRIVER_BYTES),
        lambda: [Constant("weights", rows.pack())],
        [
            Called(names[0], parameters, quantize),
            called(names[1], TensorType(DType.INT8, x.shape), y, multiply, calls=tiles),
        ],
        "hybrid", macs=node.macs, cycles=cycles, constant_bytes=constant_bytes,
        scratch_bytes=scratch,
        # The image of bytes may lie on the one of floats, which is read before it.
        in_place=[InPlace(0, 0, -x.bytes), InPlace(0, None, image - 12)],
    )  # fmt: skip
