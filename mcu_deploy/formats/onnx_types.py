"""Types of an ONNX file's tensors as ours, or the reason why they are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from mcu_deploy.errors import ModelError
from mcu_deploy.formats.consistency import too_large
from mcu_deploy.formats.onnx_reasons import reason
from mcu_deploy.ir import DType, TensorType

Value = np.ndarray[Any, Any]

_DTYPES: Mapping[int, DType] = {
    TensorProto.BOOL: DType.BOOL,
    TensorProto.INT8: DType.INT8,
    TensorProto.UINT8: DType.UINT8,
    TensorProto.INT16: DType.INT16,
    TensorProto.UINT16: DType.UINT16,
    TensorProto.INT32: DType.INT32,
    TensorProto.UINT32: DType.UINT32,
    TensorProto.INT64: DType.INT64,
    TensorProto.UINT64: DType.UINT64,
    TensorProto.FLOAT: DType.FLOAT32,
    TensorProto.DOUBLE: DType.FLOAT64,
    TensorProto.FLOAT16: DType.FLOAT16,
    TensorProto.BFLOAT16: DType.BFLOAT16,
}
# Numbers of newer versions of onnx than the oldest that is taken.
_DTYPES_SINCE = {
    "FLOAT8E4M3FN": DType.FLOAT8_E4M3FN,
    "FLOAT8E4M3FNUZ": DType.FLOAT8_E4M3FNUZ,
    "FLOAT8E5M2": DType.FLOAT8_E5M2,
    "FLOAT8E5M2FNUZ": DType.FLOAT8_E5M2FNUZ,
    "FLOAT8E8M0": DType.FLOAT8_E8M0FNU,
    "FLOAT4E2M1": DType.FLOAT4_E2M1FN,
    "INT4": DType.INT4,
    "UINT4": DType.UINT4,
    "INT2": DType.INT2,
    "UINT2": DType.UINT2,
}


class Untyped(Exception):
    """A clause about a tensor that has no type of ours: "has elements of type FLOAT16, ..."."""


class Open(Exception):
    """A tensor whose shape is unknown, in full or in part; how it is shown."""


class NoTensor(Exception):
    """A sequence, map or optional."""


def declared_types(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    """The types that a graph states for its tensors, by name."""
    return {v.name: v.type for v in (*graph.value_info, *graph.output, *graph.input)}


def type_of(type_: onnx.TypeProto | None) -> TensorType:
    """A declared type as ours. Raises Open, NoTensor or Untyped."""
    if type_ is None or type_.WhichOneof("value") is None:
        raise Open("unknown")
    if not type_.HasField("tensor_type"):
        raise NoTensor
    tensor = type_.tensor_type
    dtype = dtype_of(tensor.elem_type)
    dims = list(tensor.shape.dim)
    if not tensor.HasField("shape"):
        raise Open("unknown")
    if any(not d.HasField("dim_value") or d.dim_value < 0 for d in dims):
        raise Open(str([d.dim_param or d.dim_value or "?" for d in dims]))
    result = TensorType(dtype, tuple(int(d.dim_value) for d in dims))
    clause = too_large(result)
    if clause is not None:
        raise Untyped(clause)
    return result


def array_of(tensor: onnx.TensorProto) -> Value:
    """A constant. Raises Untyped, or ModelError where it is damaged."""
    dtype = dtype_of(tensor.data_type)
    try:
        # Older versions of onnx give narrow types as others.
        return np.asarray(numpy_helper.to_array(tensor)).astype(dtype.numpy, copy=False)
    except (ValueError, TypeError) as error:
        raise ModelError(
            f"The constant {tensor.name!r} is damaged ({reason(error)}). Export the model again."
        ) from error


def dtype_of(code: int) -> DType:
    """The type of ONNX's number. Raises Untyped."""
    if code in _DTYPES:
        return _DTYPES[code]
    # Damaged files may hold any number.
    known = dict(zip(TensorProto.DataType.values(), TensorProto.DataType.keys(), strict=True))
    name = known.get(code, f"number {code}")
    if name in _DTYPES_SINCE:
        return _DTYPES_SINCE[name]
    raise Untyped(
        f"has elements of type {name}, which no backend computes; "
        "convert the model to float32 or to integers of 8 bits or more"
    )
