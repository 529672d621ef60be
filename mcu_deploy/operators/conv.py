"""Conv (ONNX Conv-1, Conv-11): float32, and int8/uint8 with int32 accumulators."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array, activation_bounds, clip, multiplier, requantize
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.windows import Index, Window, window


def conv_window(
    x: TensorType, w: TensorType, y: TensorType, attributes: Mapping[str, Any]
) -> Window:
    """The sliding window of a convolution; x (N, C, spatial), w (M, C/group, kernel)."""
    return window(attributes, x.shape[2:], y.shape[2:], w.shape[2:])


def accumulate(x: Array, w: Array, y_shape: tuple[int, ...], group: int, geometry: Window) -> Array:
    """Sums of products, tap by tap in index order; the type of the sums is that of `x`."""
    batch, channels = x.shape[:2]
    filters = w.shape[0]
    result = np.zeros((batch, group, filters // group, *y_shape[2:]), dtype=x.dtype)
    grouped = x.reshape(batch, group, channels // group, *x.shape[2:])
    weights = w.reshape(group, filters // group, channels // group, *w.shape[2:])
    for tap in geometry.taps():
        source, target = geometry.slices(tap)
        patch = grouped[source]
        if patch.size:
            at: Index = (slice(None), slice(None), slice(None), *tap)
            taps = weights[at]
            flat = patch.reshape(batch, group, channels // group, -1)
            part = np.matmul(taps[None], flat)
            result[target] += part.reshape(result[target].shape)
    return result.reshape(y_shape)


def _conv(call: Call) -> list[Array]:
    group = int(call.attributes.get("group", 1))
    x_type, w_type, y_type = call.type(0), call.type(1), call.results[0]
    geometry = conv_window(x_type, w_type, y_type, call.attributes)
    bias = call.optional(2)
    column = (1, -1) + (1,) * (x_type.rank - 2)
    if not call.is_quantized:
        sums = accumulate(call.value(0), call.value(1), y_type.shape, group, geometry)
        real = sums if bias is None else sums + bias.reshape(column)
        return [clip(real, call.activation)]
    xq, wq, yq = x_type.quantization, w_type.quantization, y_type.quantization
    assert xq is not None
    assert wq is not None
    assert yq is not None
    _, w_zero = wq.broadcast(w_type.rank)
    # Exact in float64: no partial sum of 8-bit products leaves 2**53 (and matmul is fast there).
    x = call.value(0).astype(np.float64) - xq.zero_point[0]
    w = call.value(1).astype(np.float64) - w_zero
    sums = accumulate(x, w, y_type.shape, group, geometry).astype(np.int64)
    if bias is not None:
        sums = sums + bias.reshape(column).astype(np.int64)
    factor = multiplier(xq, wq, yq)
    factor = factor.reshape(column) if factor.size > 1 else factor
    bounds = activation_bounds(call.activation, y_type)
    return [requantize(sums.astype(np.int32), factor, yq.zero_point[0], bounds, y_type.dtype)]


def macs(
    inputs: Sequence[TensorType | None],
    outputs: Sequence[TensorType],
    attributes: Mapping[str, Any],
) -> int:
    """Of a convolution: one for each weight of a filter and each output."""
    weights = inputs[1]
    assert weights is not None
    return outputs[0].elements * math.prod(weights.shape[1:])


OPERATORS = (Operator("Conv", _conv, macs, quantized="native", takes_clamp=True, has_weights=True),)
