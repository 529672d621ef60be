"""Conv (ONNX Conv-1, Conv-11): float32, and int8/uint8 with int32 accumulators."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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


def convolved(call: Call, x: Array, w: Array) -> Array:
    """The sums of a call's convolution of `x` by `w`, without the bias."""
    geometry = conv_window(call.type(0), call.type(1), call.results[0], call.attributes)
    group = int(call.attributes.get("group", 1))
    return accumulate(x, w, call.results[0].shape, group, geometry)


def along_channels(call: Call, value: Array) -> Array:
    """A number for each channel, or one for all, to broadcast against the output."""
    return value.reshape((1, -1) + (1,) * (call.type(0).rank - 2))


def integer_sums(call: Call) -> Array:
    """The accumulators of a quantized convolution with its bias, in int64."""
    # Matmul is fast in floats, which are exact as long as no partial sum leaves their mantissa:
    # those of products of 8 and 16 bits never leave that of float64.
    largest = math.prod(high - low for low, high in (call.type(n).dtype.range for n in (0, 1)))
    fits = largest * math.prod(call.type(1).shape[1:]) < 2**24
    return exact_sums(call, convolved, "float32" if fits else "float64")


def exact_sums(call: Call, summed: Callable[[Call, Array, Array], Array], real: str) -> Array:
    """As `integer_sums`, by what sums the products of reals of this type."""
    _, w_zero = call.type(1).scaling.broadcast(call.type(1).rank)
    x = call.value(0).astype(real) - float(call.type(0).scaling.zero_point[0])
    w = call.value(1).astype(real) - w_zero.astype(real)
    sums, bias = summed(call, x, w).astype(np.int64), call.optional(2)
    return sums if bias is None else sums + along_channels(call, bias).astype(np.int64)


def real_result(call: Call, sums: Array) -> list[Array]:
    """What is made of the sums of a real convolution: the bias is added, then clamped."""
    bias = call.optional(2)
    real = sums if bias is None else sums + along_channels(call, bias)
    return [clip(real, call.activation)]


def integer_result(call: Call, sums: Array) -> list[Array]:
    """What is made of the sums of a quantized convolution with their bias."""
    y = call.results[0]
    factor = multiplier(call.type(0).scaling, call.type(1).scaling, y.scaling)
    factor = along_channels(call, factor) if factor.size > 1 else factor
    bounds = activation_bounds(call.activation, y)
    return [requantize(sums.astype(np.int32), factor, y.scaling.zero_point[0], bounds, y.dtype)]


def _conv(call: Call) -> list[Array]:
    if not call.is_quantized:
        return real_result(call, convolved(call, call.value(0), call.value(1)))
    return integer_result(call, integer_sums(call))


def macs(call: Call) -> int:
    """Of a convolution: one for each weight of a filter and each output."""
    return call.results[0].elements * math.prod(call.type(1).shape[1:])


def _conv_integer(call: Call) -> list[Array]:
    """ConvInteger-10: the exact sums of 8-bit integers without their zero points."""
    x, w = call.value(0).astype(np.int32), call.value(1).astype(np.int32)
    x_zero, w_zero = call.optional(2), call.optional(3)
    x = x if x_zero is None else x - x_zero.astype(np.int32).reshape(-1)
    if w_zero is not None:
        w = w - w_zero.astype(np.int32).reshape((-1,) + (1,) * (w.ndim - 1))
    return [convolved(call, x, w)]


OPERATORS = (
    Operator("Conv", _conv, macs, quantized="native", takes_clamp=True, has_weights=True),
    Operator("ConvInteger", _conv_integer, macs),
)
