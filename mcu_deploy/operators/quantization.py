"""QuantizeLinear-13 and DequantizeLinear-13: the borders between real and quantized edges."""

from __future__ import annotations

from mcu_deploy.arithmetic import Array, dequantize, quantize
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import Quantization, TensorType
from mcu_deploy.operators.base import Call, Operator


def call_quantization(call: Call, rank: int) -> Quantization:
    """The scale and zero point that a Q or DQ node reads, which must be constants."""
    scale, zero_point = call.optional(1), call.optional(2)
    if scale is None:
        raise UnsupportedError(f"{call.op} reads a scale that is no constant.")
    axis = int(call.attributes.get("axis", 1))
    points = zero_point if zero_point is not None else [0] * scale.size
    return Quantization.from_arrays(scale, points, axis % rank if rank else None)


def _quantize(call: Call) -> list[Array]:
    result = call.results[0]
    quantization = call_quantization(call, result.rank)
    return [quantize(call.value(0), TensorType(result.dtype, result.shape, quantization))]


def _dequantize(call: Call) -> list[Array]:
    x = call.type(0)
    quantization = call_quantization(call, x.rank)
    return [dequantize(call.value(0), TensorType(x.dtype, x.shape, quantization))]


OPERATORS = (
    Operator("QuantizeLinear", _quantize),
    Operator("DequantizeLinear", _dequantize),
)
