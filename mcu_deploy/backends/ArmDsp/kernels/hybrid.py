"""TFLite's convolution of float32 by int8 weights ("dynamic range"): integers within.

The input becomes int8 in the scratch, by what is found when the network runs: one scale, or its
range, with a zero point. Three windows at a time are rows of bytes, 1x1 ones as they lie there,
others gathered; float_rows.py multiplies them with all filters. A row of a fully connected layer is
an image of one window. The driver is C.
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
from mcu_deploy.backends.isa.dsp.dynamic_range import affine, extent, symmetric
from mcu_deploy.backends.isa.dsp.float_rows import ROWS, FloatRows, together
from mcu_deploy.backends.kit.dynamic_range import SCALED_BY_RANGE
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Plane, plane
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.conv import conv_window

OPERATORS = ("tflite::HybridConv",)
_MOST_FILTERS = 510  # whose third row an offset reaches
_MOST_SUM = 2**23  # that two filters in one word have room for
# Cycles of the driver: of a row of a window, what of it is a byte, and a scale in double.
_ROW, _BYTE, _DOUBLE = 60, 0.6, 1200
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
    if x.rank != 4 or not layer.output.type.elements:
        return "it convolves over two spatial axes"
    if w.constant is None or (bias is not None and bias.constant is None):
        return "its weights or its bias are computed at run time"
    scaling = w.type.quantization
    if w.type.dtype is not DType.INT8 or scaling is None or any(scaling.zero_point):
        return "it takes weights of int8 with the zero point 0"
    if w.type.shape[1] != x.shape[1]:
        return "it takes no groups"
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
    filters, positions = len(weights), math.prod(_window(layer).output)
    is_row = positions == 1 or filters % 2 or filters > _MOST_FILTERS
    rows, has_zero = 1 if is_row else ROWS, bool(layer.attributes.get("asymmetric", 0))
    surplus = -filters % together(rows)
    weights = np.pad(weights, ((0, surplus), (0, -weights.shape[1] % 4)))
    offsets = np.zeros(filters, np.float32) if bias is None else np.asarray(bias.constant)
    factors = np.broadcast_to(w.type.scaling.scales, (filters,))
    # A range with 0 in it has 256 bytes: what is positive and negative comes to no more.
    positive, negative = (np.abs(of).sum(axis=1) for of in (weights.clip(0), weights.clip(None, 0)))
    most = 255 * np.maximum(positive, negative) if has_zero else 127 * (positive + negative)
    is_below = bool(((weights[1::2] == -128) & (weights[::2] < 0)).any())
    return FloatRows(
        weights, np.pad(factors, (0, surplus)), np.pad(offsets, (0, surplus)),
        bool(most.max() >= _MOST_SUM or is_below), *layer.call.activation, rows, has_zero,
    )  # fmt: skip


def _proposal(view: SubgraphView, node: Layer) -> Proposal:
    x, y = node.input(0).type, node.output.type
    window, rows = _window(node), rows_of(node)
    (batch, channels), filters = x.shape[:2], y.shape[1]
    elements, surplus = x.elements // batch, rows.filters - filters
    whole, rest = divmod(math.prod(window.output), rows.rows)
    is_direct = {*window.kernel, *window.stride} == {1} and not any(window.padded)
    is_direct &= channels % 4 == 0 or whole + rest == 1
    image = rows.scratch_bytes
    patches = image + -(-elements // 4) * 4
    behind = patches + (0 if is_direct else rows.rows * rows.taps)
    if is_direct and rest:
        behind += ROWS * channels  # the last rows may be none of the image
    scratch = behind + (4 * rows.rows * rows.filters if rest or surplus else 0)
    quantize = (affine if rows.has_zero else symmetric)(elements)
    multiply = rows.assemble()
    kind = "affine" if rows.has_zero else "symmetric"
    names = f"{kind}_by_4_{elements % 4}_dsp", f"float_rows_{rows.taps}x{rows.filters}_dsp"
    extent_name = f"extent_by_4_{elements % 4}_dsp" if rows.has_zero else ""
    body = KIT.render(
        "hybrid_conv.c.j2", window=window.values(1), channels=channels, filters=filters,
        batch=batch, elements=elements, image=image, patches=None if is_direct else patches,
        behind=behind, taps=rows.taps, whole=whole, at_once=rows.rows, rest=rest,
        surplus=surplus, extent=extent_name, quantize=names[0], rows=names[1],
        scaled_by_range=SCALED_BY_RANGE,
    )  # fmt: skip
    tiles = batch * (whole + (rest > 0))
    cycles = batch * quantize.time(node.target) + tiles * multiply.time(node.target)
    if not is_direct:
        lines = batch * math.prod(window.output) * window.kernel[0]
        cycles += round(lines * (_ROW + _BYTE * window.kernel[1] * channels))
    name = stem("hybrid_conv", "dsp", channels, filters, window=window)
    source, floats = Parameter("const float *", "x"), Parameter("float *", "numbers")
    integers, fours = Parameter("int8_t *", "y"), Parameter("uint32_t", "fours")
    calls = [
        Called(names[0], (source, integers, floats, fours), quantize, batch),
        called(names[1], TensorType(DType.INT8, x.shape), y, multiply, calls=tiles),
    ]
    if rows.has_zero:
        of_range = extent(elements)
        calls.append(Called(extent_name, (source, floats, fours), of_range, batch))
        cycles += batch * (of_range.time(node.target) + _DOUBLE)
    # The image of bytes may lie on the one of floats, which is read before it; so may the output.
    in_place = [InPlace(0, 0, -x.bytes), InPlace(0, None, image - 12)] if batch == 1 else []
    return driver(
        view.part([node.node.id]), name, (body, _DRIVER_BYTES),
        lambda: [Constant("weights", rows.pack())], calls, "hybrid", macs=node.macs,
        cycles=cycles, constant_bytes=rows.constant_bytes, scratch_bytes=scratch,
        in_place=in_place,
    )  # fmt: skip
