"""QuantizeLinear-13 and DequantizeLinear-13, -21: the borders between real and quantized edges."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array, dequantize, quantize
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import Quantization, TensorType
from mcu_deploy.operators.base import Call, Operator


def call_quantization(call: Call, rank: int) -> Quantization:
    """The scale and zero point that a Q or DQ node reads, which must be constants."""
    scale, zero_point = call.optional(1), call.optional(2)
    if scale is None:
        raise UnsupportedError(
            f"A {call.op} of the model reads a scale that is no constant. Quantize it statically, "
            "from samples."
        )
    if call.attributes.get("block_size", 0) or scale.ndim > 1:
        raise UnsupportedError(
            f"A {call.op} of the model has a scale for each block, which is not computed. Quantize "
            "by one scale, or one along an axis."
        )
    axis = int(call.attributes.get("axis", 1))
    points = zero_point if zero_point is not None else [0] * scale.size
    return Quantization.from_arrays(scale, points, axis % rank if rank else None)


def _quantize(call: Call) -> list[Array]:
    result = call.results[0]
    quantization = call_quantization(call, result.rank)
    return [quantize(call.value(0), TensorType(result.dtype, result.shape, quantization))]


def _dequantize(call: Call) -> list[Array]:
    x, scale = call.type(0), call.optional(1)
    block = int(call.attributes.get("block_size", 0))
    if block and scale is not None:
        axis, zero_point = int(call.attributes.get("axis", 1)), call.optional(2)
        factors, points = (
            np.repeat(v, block, axis).take(range(x.shape[axis]), axis)
            for v in (scale, np.zeros_like(scale) if zero_point is None else zero_point)
        )
        real = (call.value(0).astype(np.int64) - points.astype(np.int64)).astype(np.float32)
        return [real * factors.astype(np.float32)]
    quantization = call_quantization(call, x.rank)
    return [dequantize(call.value(0), TensorType(x.dtype, x.shape, quantization))]


OPERATORS = (
    Operator("QuantizeLinear", _quantize, exact=True, converts=True),
    Operator("DequantizeLinear", _dequantize, exact=True, converts=True),
)
