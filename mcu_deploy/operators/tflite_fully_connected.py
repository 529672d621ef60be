"""TFLite's quantized FULLY_CONNECTED: y = x w^T + bias; x (rows, depth), w (columns, depth)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import (
    activation_bounds,
    fully_connected_multipliers,
    multiply,
    saturate,
    scalar,
    wrap,
)
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.base import Call, Operator


def _fully_connected(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    assert x.quantization is not None
    assert w.quantization is not None
    assert y.quantization is not None
    _, w_zero = w.quantization.broadcast(w.rank)
    # Exact in float64: no partial sum of 8-bit products leaves 2**53 (and matmul is fast there).
    real_x = call.value(0).astype(np.float64) - scalar(x)[1]
    real_w = call.value(1).astype(np.float64) - w_zero
    sums = np.matmul(real_x, real_w.T).astype(np.int64)
    bias = call.optional(2)
    if bias is not None:
        sums = sums + bias.astype(np.int64)
    factors = fully_connected_multipliers(x.quantization, w.quantization, y.quantization)
    scaled = multiply(wrap(sums), *factors)
    return [saturate(scaled, scalar(y)[1], activation_bounds(call.activation, y), y.dtype)]


def _macs(
    inputs: Sequence[TensorType | None],
    outputs: Sequence[TensorType],
    attributes: Mapping[str, Any],
) -> int:
    weights = inputs[1]
    assert weights is not None
    return outputs[0].elements * weights.shape[1]


OPERATORS = (Operator("FullyConnected", _fully_connected, _macs, domain="tflite"),)
