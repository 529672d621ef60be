"""TFLite's quantized ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE and PRELU with broadcasting; CONV_2D
and DEPTHWISE_CONV_2D, which are one operator, Conv; TRANSPOSE_CONV, which is ConvTranspose;
FULLY_CONNECTED; BATCH_MATMUL, which is MatMul.

Inputs and attributes of Conv are ONNX's (Conv-11): x (N, C, H, W), w (M, C/group, kH, kW), bias
(M); of ConvTranspose w is (C, M, kH, kW). FullyConnected is y = x w^T + bias: x (rows, depth), w
(columns, depth). The bias has the type of the sums: int32, or int64 with an x of int16. MatMul is
ONNX's (MatMul-13), of two matrices of int8 or of int16.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.gemmlowp import reciprocal
from mcu_deploy.arithmetic.tflite import (
    Integers,
    Sum,
    activation_bounds,
    convolution_multipliers,
    fully_connected_multipliers,
    high_product,
    multiply,
    multiply_wide,
    product_multiplier,
    quantize_multiplier,
    quotient_multiplier,
    rounding_shift,
    saturate,
    scalar,
    wide_factor,
    wrap,
)
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators import conv, conv_transpose
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.gemm import factor, macs


def finished(call: Call, scaled: Integers) -> list[Array]:
    """A result in steps of the output's scale, with its zero point and the fused clamp."""
    y = call.results[0]
    return [saturate(scaled, scalar(y)[1], activation_bounds(call.activation, y), y.dtype)]


def centred(call: Call, index: int) -> Integers:
    """An input without its zero point."""
    return call.value(index).astype(np.int64) - scalar(call.type(index))[1]


def _sum(call: Call) -> list[Array]:
    is_square = call.op == "SquaredDifference"
    factors = (Sum.squared if is_square else Sum.of)(call.type(0), call.type(1), call.results[0])
    left = multiply(centred(call, 0) << factors.before, *factors.left)
    right = multiply(centred(call, 1) << factors.before, *factors.right)
    total = left + right if call.op == "Add" else left - right
    return finished(call, multiply(total**2 if is_square else total, *factors.result))


def _product(call: Call) -> list[Array]:
    multiplier = product_multiplier(call.type(0), call.type(1), call.results[0])
    return finished(call, multiply(centred(call, 0) * centred(call, 1), *multiplier))


def _quotient(call: Call) -> list[Array]:
    """The dividend fills 31 bits, and is multiplied by the reciprocal of the divisor, of 31 bits,
    too. By 0 a quotient is as far from 0 as can be, and that of 0 is 0."""
    multiplier, shift = quotient_multiplier(call.type(0), call.type(1), call.results[0])
    dividend, divisor = np.broadcast_arrays(centred(call, 0), centred(call, 1))
    dividend, divisor = dividend * np.where(divisor < 0, -1, 1), np.abs(divisor)
    headroom = 31 - np.frexp(np.where(dividend < 0, -dividend - 1, dividend))[1].astype(np.int64)
    bits = np.maximum(np.frexp(divisor)[1].astype(np.int64), 1) - 1
    inverse = reciprocal((divisor << (31 - bits)) - (1 << 31))
    quotient = high_product(high_product(dividend << headroom, inverse), multiplier)
    right = bits + headroom - shift
    scaled = np.where(right > 31, 0, rounding_shift(quotient, np.minimum(right, 31)))
    return finished(call, np.where(divisor == 0, np.sign(dividend) * 2**9, scaled))


def prelu_factors(call: Call) -> tuple[tuple[int, int], tuple[int, int]]:
    """The factors of PRelu: of what is not negative, and of a negative product with its slope."""
    x, slope, y = (scalar(t)[0] for t in (call.type(0), call.type(1), call.results[0]))
    return quantize_multiplier(x / y), quantize_multiplier(x * slope / y)


def _prelu(call: Call) -> list[Array]:
    identity, negative = prelu_factors(call)
    x = centred(call, 0)
    below = multiply(x * centred(call, 1), *negative)
    return finished(call, np.where(x >= 0, multiply(x, *identity), below))


def _conv(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    factors = convolution_multipliers(x.scaling, w.scaling, y.scaling)
    return finished(call, multiplied(call, conv.integer_sums(call), *factors))


def is_wide(op: str, types: Sequence[TensorType | None]) -> bool:
    """Whether sums of products have 64 bits: where the bias that they start from, the third input,
    has them; those of MatMul, which has none, where they are of int16."""
    decides = types[0] if op == "MatMul" else types[2] if len(types) > 2 else None
    wide = DType.INT16 if op == "MatMul" else DType.INT64
    return decides is not None and decides.dtype is wide


def multiplied(call: Call, sums: Integers, multiplier: Integers, shift: Integers) -> Integers:
    """The sums of a convolution, exact, in steps of the output: one factor, or one a channel."""
    if is_wide(call.op, call.types):
        wide = (conv.along_channels(call, v) for v in wide_factor(multiplier, shift))
        return multiply_wide(sums, *wide)
    factors = (conv.along_channels(call, v) for v in (multiplier, shift))
    return multiply(wrap(sums), *factors)


def _conv_transpose(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    factors = convolution_multipliers(x.scaling, w.scaling, y.scaling)
    return finished(call, multiplied(call, conv_transpose.integer_sums(call), *factors))


def _fully_connected(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    # Exact in float64: no sum of products of 8 and 16 bits leaves 2**53 (and matmul is fast there).
    sums = np.matmul(factor(call, 0).astype(np.float64), factor(call, 1).T).astype(np.int64)
    bias = call.optional(2)
    if bias is not None:
        sums = sums + bias.astype(np.int64)
    factors = fully_connected_multipliers(x.scaling, w.scaling, y.scaling)
    return finished(call, multiplied(call, sums, *factors))


def _matmul(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    # Exact in float64, as above.
    left, right = (centred(call, k).astype(np.float64) for k in (0, 1))
    sums = np.matmul(left, right).astype(np.int64)
    factors = fully_connected_multipliers(x.scaling, w.scaling, y.scaling)
    if is_wide(call.op, call.types):
        return finished(call, multiply_wide(sums, *wide_factor(*factors)))
    return finished(call, multiply(wrap(sums), *factors))


def _rows_times_weights(call: Call) -> int:
    return call.results[0].elements * call.type(1).shape[1]


OPERATORS = (
    Operator("Add", _sum, domain="tflite", broadcasts=True, monotone=True),
    Operator("Sub", _sum, domain="tflite", broadcasts=True, monotone=True),
    Operator("SquaredDifference", _sum, domain="tflite", broadcasts=True),
    Operator("Mul", _product, domain="tflite", broadcasts=True),
    Operator("Div", _quotient, domain="tflite", broadcasts=True),
    Operator("PRelu", _prelu, domain="tflite", broadcasts=True),
    Operator("Conv", _conv, conv.macs, domain="tflite"),
    Operator("ConvTranspose", _conv_transpose, conv_transpose.macs, domain="tflite"),
    Operator("FullyConnected", _fully_connected, _rows_times_weights, domain="tflite"),
    Operator("MatMul", _matmul, macs, domain="tflite"),
)
