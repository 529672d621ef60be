"""Gemm (Gemm-13) and MatMul (MatMul-13): float32, and int8/uint8 with int32 accumulators."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array, activation_bounds, clip, multiplier, requantize
from mcu_deploy.operators.base import Call, Operator


def _quantized_product(call: Call, a: Array, b: Array, bias: Array | None) -> Array:
    """Integer product of (..., M, K) and (..., K, N) with zero points removed, requantized."""
    y = call.results[0]
    sums = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
    if bias is not None:
        sums = sums + bias.astype(np.int64)
    bounds = activation_bounds(call.activation, y)
    # A scale per column of B lies along the last axis of the product.
    scale = multiplier(call.type(0).scaling, call.type(1).scaling, y.scaling)
    return requantize(sums.astype(np.int32), scale, y.scaling.zero_point[0], bounds, y.dtype)


def factor(call: Call, index: int) -> Array:
    """A matrix; of a quantized one the integers without the zero point."""
    value, type_ = call.value(index), call.type(index)
    if not call.is_quantized:
        return value
    _, zero_point = type_.scaling.broadcast(type_.rank)
    return value.astype(np.int32) - zero_point


def _gemm(call: Call) -> list[Array]:
    a, b = factor(call, 0), factor(call, 1)
    if not call.is_quantized:
        return [real_product(call, a, b)]
    return [_quantized_product(call, *_transposed(call, a, b), call.optional(2))]


def _matmul(call: Call) -> list[Array]:
    a, b = factor(call, 0), factor(call, 1)
    if call.is_quantized:
        return [_quantized_product(call, a, b, None)]
    return [clip(np.matmul(a, b), call.activation)]


def real_product(call: Call, a: Array, b: Array, scale: Array | None = None) -> Array:
    """alpha * scale * a b + beta * c, clamped."""
    sums = np.matmul(*_transposed(call, a, b))
    sums = sums if scale is None else sums * scale
    real = sums * np.float32(call.attributes.get("alpha", 1.0))
    bias = call.optional(2)
    if bias is not None:
        real = real + np.float32(call.attributes.get("beta", 1.0)) * bias
    return clip(real, call.activation)


def _transposed(call: Call, a: Array, b: Array) -> tuple[Array, Array]:
    """The matrices as Gemm's transA and transB say."""
    attributes = call.attributes
    return a.T if attributes.get("transA", 0) else a, b.T if attributes.get("transB", 0) else b


def _matmul_integer(call: Call) -> list[Array]:
    """MatMulInteger-10: the exact sums of 8-bit integers without their zero points, of which a
    matrix has one, or one a row of the first and one a column of the second."""
    a, b = call.value(0).astype(np.int32), call.value(1).astype(np.int32)
    a_zero, b_zero = call.optional(2), call.optional(3)
    if a_zero is not None:
        a = a - a_zero.astype(np.int32).reshape((-1, 1) if a_zero.size > 1 else ())
    b = b if b_zero is None else b - b_zero.astype(np.int32).reshape(-1)
    return [np.matmul(a, b)]


def macs(call: Call) -> int:
    """Of a product of matrices: one for each output and element along the depth."""
    depth = call.type(0).shape[0 if call.attributes.get("transA", 0) else -1]
    return call.results[0].elements * depth


OPERATORS = (
    Operator("Gemm", _gemm, macs, quantized="native", takes_clamp=True, has_weights=True),
    Operator("MatMul", _matmul, macs, quantized="native", takes_clamp=True, has_weights=True),
    Operator("MatMulInteger", _matmul_integer, macs),
)
