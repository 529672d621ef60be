"""TFLite's quantized CONV_2D and DEPTHWISE_CONV_2D, one operator: Conv of the domain "tflite".

Its inputs and attributes are ONNX's (Conv-11): x (N, C, H, W), w (M, C/group, kH, kW), bias (M);
its requantization is TFLite-Micro's.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import (
    activation_bounds,
    convolution_multipliers,
    multiply,
    saturate,
    scalar,
    wrap,
)
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.conv import accumulate, conv_window, macs


def _conv(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    assert x.quantization is not None
    assert w.quantization is not None
    assert y.quantization is not None
    geometry = conv_window(x, w, y, call.attributes)
    group = int(call.attributes.get("group", 1))
    _, w_zero = w.quantization.broadcast(w.rank)
    # Exact in float64: no partial sum of 8-bit products leaves 2**53 (and matmul is fast there).
    real_x = call.value(0).astype(np.float64) - scalar(x)[1]
    real_w = call.value(1).astype(np.float64) - w_zero
    sums = accumulate(real_x, real_w, y.shape, group, geometry).astype(np.int64)
    column = (1, -1) + (1,) * (x.rank - 2)
    bias = call.optional(2)
    if bias is not None:
        sums = sums + bias.astype(np.int64).reshape(column)
    multipliers, shifts = convolution_multipliers(x.quantization, w.quantization, y.quantization)
    scaled = multiply(wrap(sums), multipliers.reshape(column), shifts.reshape(column))
    bounds = activation_bounds(call.activation, y)
    return [saturate(scaled, scalar(y)[1], bounds, y.dtype)]


OPERATORS = (Operator("Conv", _conv, macs, domain="tflite"),)
