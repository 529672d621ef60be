"""The arithmetic contract of docs/arithmetic.md, in numpy, shared by the interpreter (the oracle)
and by the backends where they compute constants.

Everything that reaches an integer result is float32 arithmetic in a fixed order, rounded half to
even; no float32 transcendental of numpy is used here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir import DType, Quantization, TensorType

Array = npt.NDArray[Any]
UNBOUNDED = (float("-inf"), float("inf"))


def quantize(real: Array, type_: TensorType, activation: tuple[float, float] = UNBOUNDED) -> Array:
    """QuantizeLinear-13: saturate(round_half_even(real / scale) + zero_point), in float32.

    activation: a clamp that was fused; what is quantized was clamped by it. NaN, which ONNX leaves
    open, becomes the smallest value that the type and the clamp allow.
    """
    scale, zero_point = type_.scaling.broadcast(type_.rank)
    integers = quantized(real, scale, zero_point, type_.dtype)
    if activation != UNBOUNDED:
        integers = np.clip(integers, *activation_bounds(activation, type_))
    return np.asarray(integers, dtype=type_.dtype.numpy)


def quantized(real: Array, scale: Array, zero_point: Array, dtype: DType) -> Array:
    """QuantizeLinear by scales and zero points that broadcast against the tensor."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        quotient = real.astype(np.float32) / scale
    low, high = dtype.range
    # Clamped before the rounding: the bounds are integers, so the order does not matter, and the
    # float never leaves the range that an integer holds.
    bounded = np.where(np.isnan(quotient), (low - zero_point).astype(np.float32), quotient)
    clamped = np.clip(bounded, low - zero_point, high - zero_point)
    return np.asarray((np.rint(clamped).astype(np.int64) + zero_point).astype(dtype.numpy))


def dequantize(value: Array, type_: TensorType) -> npt.NDArray[np.float32]:
    """DequantizeLinear-13: float32(q - zero_point) * scale."""
    scale, zero_point = type_.scaling.broadcast(type_.rank)
    with np.errstate(over="ignore"):
        result = (value.astype(np.int64) - zero_point).astype(np.float32) * scale
    return np.asarray(result, dtype=np.float32)


def largest_sums(weights: Array, channel: int, largest: int, bias: Array | None) -> Array:
    """int64 by output channel: the largest magnitude of a sum of products and its bias. weights:
    without their zero point; channel: their axis of the outputs; largest: of an element of the
    input, without its zero point."""
    axes = tuple(axis for axis in range(weights.ndim) if axis != channel)
    sums = np.asarray(np.abs(weights.astype(np.int64)).sum(axis=axes) * largest)
    if bias is None:
        return sums
    offsets = np.abs(bias.astype(np.int64))
    if offsets.size > sums.size:
        # Of a ConvTranspose in groups: a slice of its weights has a filter of each.
        offsets = offsets.reshape(-1, sums.size).max(axis=0)
    return np.asarray(sums + offsets)


def multiplier(x: Quantization, w: Quantization, y: Quantization) -> npt.NDArray[np.float32]:
    """float32(float32(sx * sw) / sy): one number, or one an output channel."""
    with np.errstate(over="ignore", under="ignore"):
        product = (x.scales * w.scales).astype(np.float32)
        return (product / y.scales).astype(np.float32)


def requantize(
    accumulator: Array, factor: Array, zero_point: int, bounds: tuple[int, int], dtype: DType
) -> Array:
    """int32 accumulators to the output type: float32 product, half to even, plus zero point.

    `factor` broadcasts against the accumulator; `bounds` are the quantized bounds of the
    activation, inside of the type's range.
    """
    return requantized(accumulator, factor, zero_point, bounds).astype(dtype.numpy)


def requantized(
    accumulator: Array, factor: Array | np.float32, zero_point: int, bounds: tuple[int, int]
) -> Array:
    """As `requantize`, in int64. NaN, which 0 makes of a factor that is infinite in float32,
    becomes the lower bound; what is infinite is clamped like every other product."""
    low, high = np.float32(bounds[0] - zero_point), np.float32(bounds[1] - zero_point)
    with np.errstate(over="ignore", invalid="ignore"):
        product = accumulator.astype(np.float32) * np.asarray(factor, np.float32)
    # Clamped before the rounding: the float never leaves the range that an integer holds.
    clamped = np.minimum(np.fmax(product, low), high)
    return np.asarray(np.rint(clamped).astype(np.int64) + zero_point)


def activation_bounds(activation: tuple[float, float], type_: TensorType) -> tuple[int, int]:
    """The quantized bounds of a clamp: Q(clip(x)) = clip(Q(x)), since quantizing is monotone."""
    assert type_.quantization is not None and type_.quantization.per_tensor
    low, high = type_.dtype.range
    scalar = TensorType(type_.dtype, (), type_.quantization)
    if np.isfinite(activation[0]):
        low = int(quantize(np.asarray(activation[0], dtype=np.float32), scalar))
    if np.isfinite(activation[1]):
        high = int(quantize(np.asarray(activation[1], dtype=np.float32), scalar))
    return low, high


def clip(value: Array, activation: tuple[float, float]) -> Array:
    """A float32 activation clamp; bounds that are infinite do nothing, NaN stays NaN."""
    low, high = activation
    if np.isfinite(low):
        value = np.where(value < np.float32(low), np.float32(low), value)
    if np.isfinite(high):
        value = np.where(value > np.float32(high), np.float32(high), value)
    return value


def exponential_table(scale: float, elements: int) -> tuple[npt.NDArray[np.uint32], int]:
    """round(exp(-d * scale) * 2**bits) for d = 0..255, and bits.

    Computed in float64 and rounded once. bits is 24, or fewer where the sum over `elements`
    entries would not fit into 32 bits.
    """
    import math

    bits = min(24, 31 - max(0, math.ceil(math.log2(max(elements, 1)))))
    table = [round(math.exp(-d * float(np.float32(scale))) * 2**bits) for d in range(256)]
    return np.array(table, dtype=np.uint32), bits


def softmax_quantized(x: Array, x_type: TensorType, y_type: TensorType, axis: int) -> Array:
    """Softmax over `axis` of a tensor quantized per tensor; integer sums of a table of exp."""
    table, _ = exponential_table(x_type.scaling.scale[0], x.shape[axis])
    distance = x.max(axis=axis, keepdims=True).astype(np.int32) - x.astype(np.int32)
    terms = table[distance]
    total = terms.astype(np.uint64).sum(axis=axis, keepdims=True).astype(np.uint32)
    share = terms.astype(np.float32) / total.astype(np.float32)
    return quantize(share, y_type)
