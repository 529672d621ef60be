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

# By ONNX's names, which have no underscores, and are others for a few.
_DTYPES: Mapping[str, DType] = {dtype.name.replace("_", ""): dtype for dtype in DType} | {
    "FLOAT": DType.FLOAT32,
    "DOUBLE": DType.FLOAT64,
    "FLOAT8E8M0": DType.FLOAT8_E8M0FNU,
    "FLOAT4E2M1": DType.FLOAT4_E2M1FN,
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


def known_types(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    """The types of a graph's tensors, as far as they are known, those of its constants too."""
    make = onnx.helper.make_tensor_type_proto
    constants = {t.name: make(t.data_type, list(t.dims)) for t in graph.initializer}
    return declared_types(graph) | constants


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
    # Damaged files may hold any number.
    known = dict(zip(TensorProto.DataType.values(), TensorProto.DataType.keys(), strict=True))
    name = known.get(code, f"number {code}")
    if name in _DTYPES:
        return _DTYPES[name]
    raise Untyped(
        f"has elements of type {name}, which no backend computes; "
        "convert the model to float32 or to integers of 8 bits or more"
    )
