"""Gemm (Gemm-13) and MatMul (MatMul-13): float32, and int8/uint8 with int32 accumulators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array, activation_bounds, clip, multiplier, requantize
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.base import Call, Operator


def _quantized_product(call: Call, a: Array, b: Array, bias: Array | None) -> Array:
    """Integer product of (..., M, K) and (..., K, N) with zero points removed, requantized."""
    aq, bq = call.type(0).quantization, call.type(1).quantization
    y_type = call.results[0]
    yq = y_type.quantization
    assert aq is not None
    assert bq is not None
    assert yq is not None
    sums = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
    if bias is not None:
        sums = sums + bias.astype(np.int64)
    bounds = activation_bounds(call.activation, y_type)
    # A scale per column of B lies along the last axis of the product.
    factor = multiplier(aq, bq, yq)
    return requantize(sums.astype(np.int32), factor, yq.zero_point[0], bounds, y_type.dtype)


def _without_zero_point(value: Array, type_: TensorType) -> Array:
    assert type_.quantization is not None
    _, zero_point = type_.quantization.broadcast(type_.rank)
    return value.astype(np.int32) - zero_point


def _gemm(call: Call) -> list[Array]:
    a, b, c = call.value(0), call.value(1), call.optional(2)
    if call.is_quantized:
        a = _without_zero_point(a, call.type(0))
        b = _without_zero_point(b, call.type(1))
    if call.attributes.get("transA", 0):
        a = a.T
    if call.attributes.get("transB", 0):
        b = b.T
    if call.is_quantized:
        return [_quantized_product(call, a, b, c)]
    real = np.matmul(a, b) * np.float32(call.attributes.get("alpha", 1.0))
    if c is not None:
        real = real + np.float32(call.attributes.get("beta", 1.0)) * c
    return [clip(real, call.activation)]


def _matmul(call: Call) -> list[Array]:
    a, b = call.value(0), call.value(1)
    if call.is_quantized:
        a = _without_zero_point(a, call.type(0))
        b = _without_zero_point(b, call.type(1))
        return [_quantized_product(call, a, b, None)]
    return [clip(np.matmul(a, b), call.activation)]


def macs(
    inputs: Sequence[TensorType | None],
    outputs: Sequence[TensorType],
    attributes: Mapping[str, Any],
) -> int:
    """Of a product of matrices: one for each output and element along the depth."""
    a = inputs[0]
    assert a is not None
    depth = a.shape[0] if attributes.get("transA", 0) else a.shape[-1]
    return outputs[0].elements * depth


OPERATORS = (
    Operator("Gemm", _gemm, macs, quantized="native", takes_clamp=True, has_weights=True),
    Operator("MatMul", _matmul, macs, quantized="native", takes_clamp=True, has_weights=True),
)
