"""QuantizeLinear-25, DequantizeLinear-25 and older: borders between real and quantized edges."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array, dequantize, narrow, quantize, quantized
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.operators.base import Call, Operator


def call_quantization(call: Call, rank: int) -> Quantization:
    """The scale and zero point that a Q or DQ node reads, which must be constants."""
    scale, zero_point = call.optional(1), call.optional(2)
    if scale is None:
        raise UnsupportedError(
            f"A {call.op} of the model reads a scale that is no constant. Quantize it statically, "
            "from samples."
        )
    axis = int(call.attributes.get("axis", 1))
    points = zero_point if zero_point is not None else [0] * scale.size
    return Quantization.from_arrays(scale, points, axis % rank if rank else None)


def has_blocks(call: Call) -> bool:
    """Whether a Q or DQ node has a scale for each block along an axis."""
    return call.type(1).rank > 1


def block_of(call: Call) -> int:
    """The elements of a block; where the node leaves that to the shapes, as few as there can be."""
    given = int(call.attributes.get("block_size", 0))
    axis = int(call.attributes.get("axis", 1)) % call.type(0).rank
    return given or -(-call.type(0).shape[axis] // call.type(1).shape[axis])


def _spread(call: Call, value: Array) -> Array:
    """The scales or zero points of blocks, one for each element."""
    axis, shape = int(call.attributes.get("axis", 1)), call.type(0).shape
    return np.repeat(value, block_of(call), axis).take(range(shape[axis]), axis)


def _of_blocks(call: Call) -> tuple[Array, Array]:
    """Scale and zero point of each element."""
    scale, given = call.value(1), call.optional(2)
    zeros = np.zeros(scale.shape, np.int64) if given is None else given.astype(np.int64)
    return _spread(call, scale.astype(np.float32)), _spread(call, zeros)


def _along(call: Call, value: Array) -> Array:
    """Scales or zero points, of a tensor, of slices or of blocks, as they meet the elements."""
    if has_blocks(call):
        return _spread(call, value)
    shape = [1] * call.type(0).rank
    if value.size > 1:
        shape[int(call.attributes.get("axis", 1))] = value.size
    return value.reshape(shape)


def _quantize(call: Call) -> list[Array]:
    result = call.results[0]
    if result.dtype.is_narrow:
        return [_quantize_narrow(call, result.dtype)]
    if has_blocks(call):
        return [quantized(call.value(0), *_of_blocks(call), result.dtype)]
    quantization = call_quantization(call, result.rank)
    return [quantize(call.value(0), TensorType(result.dtype, result.shape, quantization))]


def _quantize_narrow(call: Call, dtype: DType) -> Array:
    """To integers of fewer than 8 bits, or to a narrow float, which has no zero point."""
    scale, given = _along(call, call.value(1).astype(np.float32)), call.optional(2)
    if dtype.wide is DType.FLOAT32:
        with np.errstate(all="ignore"):
            # ONNX adds the zero point, 0, which leaves no -0.
            quotient = call.value(0).astype(np.float32) / scale + np.float32(0)
        return narrow.rounded(quotient, dtype, bool(call.attributes.get("saturate", 1)))
    zero = np.zeros((), np.int64) if given is None else _along(call, given.astype(np.int64))
    return quantized(call.value(0), scale, zero, dtype)


def _dequantize(call: Call) -> list[Array]:
    x = call.type(0)
    if x.dtype.is_narrow:
        real = narrow.widened(call.value(0), x.dtype).astype(np.float32)
        return [real * _along(call, call.value(1).astype(np.float32))]
    if has_blocks(call):
        scale, zero = _of_blocks(call)
        return [(call.value(0).astype(np.int64) - zero).astype(np.float32) * scale]
    quantization = call_quantization(call, x.rank)
    return [dequantize(call.value(0), TensorType(x.dtype, x.shape, quantization))]


OPERATORS = (
    Operator("QuantizeLinear", _quantize, exact=True, converts=True),
    Operator("DequantizeLinear", _dequantize, exact=True, converts=True),
)
