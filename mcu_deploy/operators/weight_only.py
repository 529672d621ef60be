"""Layers of float32 with 8-bit constant weights, of the domain "mcu": Conv, Gemm, MatMul, LSTM, GRU
and RNN.

What ONNX writes as a DequantizeLinear of the weights before the operator. A sum is of the products
of the real input and the integer weight without its zero point, in the order of the operator in
float32; it is multiplied by the scale of the weights behind it. Recurrent ones round once a
step, as with weights of float32.

Gemm and MatMul may have weights with a scale for each block of elements along the depth: the
attribute `block_size`; the scales are the last input, of the weights' axes. In a block weights lie
within 15 of each other, so that 4 bits hold them. The last block may have fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators import conv, gemm, recurrent
from mcu_deploy.operators.base import Call, Operator

# The attribute of weights of blocks, and the place of their scales among the inputs.
BLOCK, SCALES = "block_size", 3


def output_axis(op: str, attributes: Mapping[str, Any], rank: int) -> int:
    """The axis of the weights that is the output's channels."""
    if op == "ConvTranspose":
        return 1
    return 0 if op == "Conv" or attributes.get("transB", 0) else rank - 1


def _weights(call: Call) -> tuple[Array, Array]:
    """The weights without their zero point, and their scale: one, or one a channel."""
    quantization = call.type(1).scaling
    value = call.value(1).astype(np.int32) - quantization.zero_point[0]
    return value.astype(np.float32), quantization.scales


def _conv(call: Call) -> list[Array]:
    weights, scale = _weights(call)
    sums = conv.convolved(call, call.value(0), weights)
    return conv.real_result(call, sums * conv.along_channels(call, scale))


def _gemm(call: Call) -> list[Array]:
    if BLOCK in call.attributes:
        depth = 1 - output_axis(call.op, call.attributes, 2)
        scales = np.repeat(call.value(SCALES), call.attributes[BLOCK], depth)
        scales = scales.take(range(call.type(1).shape[depth]), depth)
        return [gemm.real_product(call, call.value(0), call.value(1).astype(np.float32) * scales)]
    weights, scale = _weights(call)
    return [gemm.real_product(call, call.value(0), weights, scale)]


def _recurrent(call: Call) -> list[Array]:
    """With the real weights of float32, as DequantizeLinear makes them."""
    return recurrent.evaluate(call.dequantized())


OPERATORS = (
    Operator("Conv", _conv, conv.macs, domain="mcu"),
    Operator("Gemm", _gemm, gemm.macs, domain="mcu"),
    Operator("MatMul", _gemm, gemm.macs, domain="mcu"),
    *(Operator(name, _recurrent, recurrent.macs, domain="mcu") for name in recurrent.GATES),
)
