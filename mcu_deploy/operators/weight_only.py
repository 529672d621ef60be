"""Conv, Gemm and MatMul of float32 with 8-bit constant weights, of the domain "mcu".

What ONNX writes as a DequantizeLinear of the weights before the operator. A sum is of the products
of the real input and the integer weight without its zero point, in the order of the operator in
float32; it is multiplied by the scale of the weights behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array, clip
from mcu_deploy.operators import conv, gemm
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.conv import accumulate, conv_window


def output_axis(op: str, attributes: Mapping[str, Any], rank: int) -> int:
    """The axis of the weights that is the output's channels."""
    return 0 if op == "Conv" or attributes.get("transB", 0) else rank - 1


def _weights(call: Call) -> tuple[Array, Array]:
    """The weights without their zero point, and their scale: one, or one a channel."""
    quantization = call.type(1).quantization
    assert quantization is not None
    value = call.value(1).astype(np.int32) - quantization.zero_point[0]
    return value.astype(np.float32), quantization.scales


def _conv(call: Call) -> list[Array]:
    x, w, y = call.type(0), call.type(1), call.results[0]
    weights, scale = _weights(call)
    group = int(call.attributes.get("group", 1))
    geometry = conv_window(x, w, y, call.attributes)
    column = (1, -1) + (1,) * (x.rank - 2)
    real = accumulate(call.value(0), weights, y.shape, group, geometry) * scale.reshape(column)
    bias = call.optional(2)
    return [clip(real if bias is None else real + bias.reshape(column), call.activation)]


def _gemm(call: Call) -> list[Array]:
    weights, scale = _weights(call)
    a = call.value(0)
    a = a.T if call.attributes.get("transA", 0) else a
    b = weights.T if call.attributes.get("transB", 0) else weights
    real = np.matmul(a, b) * scale * np.float32(call.attributes.get("alpha", 1.0))
    bias = call.optional(2)
    if bias is not None:
        real = real + np.float32(call.attributes.get("beta", 1.0)) * bias
    return [clip(real, call.activation)]


OPERATORS = (
    Operator("Conv", _conv, conv.macs, domain="mcu"),
    Operator("Gemm", _gemm, gemm.macs, domain="mcu"),
    Operator("MatMul", _gemm, gemm.macs, domain="mcu"),
)
