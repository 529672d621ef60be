"""TFLite's quantized ADD, SUB and MUL with broadcasting; CONV_2D and DEPTHWISE_CONV_2D, which are
one operator, Conv; FULLY_CONNECTED.

Inputs and attributes of Conv are ONNX's (Conv-11): x (N, C, H, W), w (M, C/group, kH, kW), bias
(M). FullyConnected is y = x w^T + bias: x (rows, depth), w (columns, depth).
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import (
    Integers,
    Sum,
    activation_bounds,
    convolution_multipliers,
    fully_connected_multipliers,
    multiply,
    product_multiplier,
    saturate,
    scalar,
    wrap,
)
from mcu_deploy.operators import conv
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.gemm import factor


def finished(call: Call, scaled: Integers) -> list[Array]:
    """A result in steps of the output's scale, with its zero point and the fused clamp."""
    y = call.results[0]
    return [saturate(scaled, scalar(y)[1], activation_bounds(call.activation, y), y.dtype)]


def centred(call: Call, index: int) -> Integers:
    """An input without its zero point."""
    return call.value(index).astype(np.int64) - scalar(call.type(index))[1]


def _sum(call: Call) -> list[Array]:
    factors = Sum.of(call.type(0), call.type(1), call.results[0])
    left = multiply(centred(call, 0) << Sum.SHIFT, *factors.left)
    right = multiply(centred(call, 1) << Sum.SHIFT, *factors.right)
    total = left + right if call.op == "Add" else left - right
    return finished(call, multiply(total, *factors.result))


def _product(call: Call) -> list[Array]:
    multiplier = product_multiplier(call.type(0), call.type(1), call.results[0])
    return finished(call, multiply(centred(call, 0) * centred(call, 1), *multiplier))


def _conv(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    factors = convolution_multipliers(x.scaling, w.scaling, y.scaling)
    per_channel = (conv.along_channels(call, values) for values in factors)
    return finished(call, multiply(wrap(conv.integer_sums(call)), *per_channel))


def _fully_connected(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    # Exact in float64: no partial sum of 8-bit products leaves 2**53 (and matmul is fast there).
    sums = np.matmul(factor(call, 0).astype(np.float64), factor(call, 1).T).astype(np.int64)
    bias = call.optional(2)
    if bias is not None:
        sums = sums + bias.astype(np.int64)
    factors = fully_connected_multipliers(x.scaling, w.scaling, y.scaling)
    return finished(call, multiply(wrap(sums), *factors))


def _rows_times_weights(call: Call) -> int:
    return call.results[0].elements * call.type(1).shape[1]


OPERATORS = (
    Operator("Add", _sum, domain="tflite", broadcasts=True, monotone=True),
    Operator("Sub", _sum, domain="tflite", broadcasts=True, monotone=True),
    Operator("Mul", _product, domain="tflite", broadcasts=True),
    Operator("Conv", _conv, conv.macs, domain="tflite"),
    Operator("FullyConnected", _fully_connected, _rows_times_weights, domain="tflite"),
)
