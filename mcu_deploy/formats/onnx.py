"""ONNX: from a .onnx file to a graph.

The file is brought to one form before it becomes a graph: functions inlined, quantized operators
in QDQ form, shapes bound and inferred, constant sub-expressions evaluated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from google.protobuf.message import DecodeError
from onnx import TensorProto, numpy_helper

from mcu_deploy.errors import McuDeployError, ModelError
from mcu_deploy.formats.consistency import check_sizes
from mcu_deploy.formats.onnx_operators import domain_of, refuse_unknown, refuse_untyped, text_of
from mcu_deploy.formats.onnx_shapes import bind_shapes, infer_and_fold
from mcu_deploy.formats.qoperator import to_qdq
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, TensorType

SUFFIXES = (".onnx",)

# What Python, numpy and protobuf raise where a file says something impossible.
_SIGNS_OF_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
# Indices in the generated code are 32-bit integers.
_LARGEST_TENSOR_BYTES = (1 << 31) - 1

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
}


def load(path: Path, shapes: Mapping[str, Sequence[int]]) -> Graph:
    """Reads an ONNX file (opset 7 or later). Raises ModelError for damaged or dynamic models."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ModelError(f"The model file {path} cannot be read ({error.strerror}).") from error
    try:
        return _load(path, raw, shapes)
    except McuDeployError:
        raise
    except _SIGNS_OF_DAMAGE as error:
        # A file may break ONNX's rules in more ways than the checker knows.
        raise ModelError(
            f"{path} breaks the rules of ONNX ({type(error).__name__}: {_first_line(error)}). "
            "Check it with onnx.checker, and export it again."
        ) from error


def _load(path: Path, raw: bytes, shapes: Mapping[str, Sequence[int]]) -> Graph:
    model = _parse(path, raw)
    _load_external_data(model, path)
    refuse_unknown(model)
    _check(model, path)
    model = _inline_functions(model, path)
    bind_shapes(model, shapes)
    to_qdq(model)
    infer_and_fold(model)
    refuse_untyped(model, _declared_types(model.graph))
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    graph = _to_graph(model, path.stem).finish(
        source_sha256=hashlib.sha256(raw).hexdigest(), opset=opset
    )
    check_sizes(graph)
    return graph


def self_contained(path: Path) -> bytes:
    """The model file's bytes; external tensor data is taken into it."""
    raw = path.read_bytes()
    model = _parse(path, raw)
    if not any(t.data_location == TensorProto.EXTERNAL for t in _tensors(model.graph)):
        return raw
    _load_external_data(model, path)
    embedded: bytes = model.SerializeToString(deterministic=True)
    return embedded


def _parse(path: Path, raw: bytes) -> onnx.ModelProto:
    try:
        model = onnx.load_model_from_string(raw)
    except (DecodeError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"{path} is not a readable ONNX file ({error}). It is damaged or cut short; "
            "copy or export it again."
        ) from error
    if not model.graph.node and not model.graph.output:
        raise ModelError(
            f"{path} holds no network: it is empty or no ONNX file. Export the model again."
        )
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version < 7:
            raise ModelError(
                f"{path} uses ONNX opset {opset.version}; mcu-deploy reads opset 7 and later. "
                "Convert it with onnx.version_converter."
            )
        newest = onnx.defs.onnx_opset_version()
        if opset.domain in ("", "ai.onnx") and opset.version > newest:
            raise ModelError(
                f"{path} uses ONNX opset {opset.version}, and the installed onnx package knows "
                f"operators up to opset {newest}. Update onnx, or export to an older opset."
            )
    return model


def _check(model: onnx.ModelProto, path: Path) -> None:
    """ONNX's own checks: required attributes, numbers of inputs, types, order of the nodes."""
    # The checker wants a shape for each input and output, which many exporters leave out.
    bare = [
        v.type.tensor_type
        for v in (*model.graph.input, *model.graph.output)
        if v.type.HasField("tensor_type") and not v.type.tensor_type.HasField("shape")
    ]
    try:
        for tensor_type in bare:
            tensor_type.shape.SetInParent()
        onnx.checker.check_model(model)
        for tensor_type in bare:
            tensor_type.ClearField("shape")
    except (onnx.checker.ValidationError, RuntimeError, ValueError, MemoryError) as error:
        raise ModelError(
            f"{path} is no valid ONNX model: {_first_line(error)}. Export the model again."
        ) from error


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0].rstrip(".") if lines else type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."


def _load_external_data(model: onnx.ModelProto, path: Path) -> None:
    folder = path.parent.resolve()
    for tensor in _tensors(model.graph):
        if tensor.data_location != TensorProto.EXTERNAL:
            continue
        location = next((e.value for e in tensor.external_data if e.key == "location"), "")
        target = (folder / location).resolve()
        if not target.is_relative_to(folder):
            raise ModelError(
                f"{path} keeps the tensor {tensor.name!r} in {location!r}, outside of the model's "
                "own folder; such files are refused. Put the data beside the model."
            )
        if not target.is_file():
            raise ModelError(
                f"{path} keeps the tensor {tensor.name!r} in {location!r}, which does not exist. "
                "Copy the data file beside the model."
            )
        try:
            onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        except (ValueError, OSError, onnx.checker.ValidationError) as error:
            raise ModelError(
                f"The external data {location!r} of tensor {tensor.name!r} cannot be read "
                f"({error}). Export the model again."
            ) from error
        tensor.data_location = TensorProto.DEFAULT
        del tensor.external_data[:]


def _tensors(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    found = list(graph.initializer)
    for node in graph.node:
        for attribute in node.attribute:
            found += [attribute.t] if attribute.HasField("t") else []
            found += attribute.tensors
            if attribute.HasField("g"):
                found += _tensors(attribute.g)
            for inner in attribute.graphs:
                found += _tensors(inner)
    return found


def _inline_functions(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    if not model.functions:
        return model
    try:
        inlined: onnx.ModelProto = onnx.inliner.inline_local_functions(model)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"The local functions of {path} cannot be inlined: {error}.") from error
    return inlined


def _to_graph(model: onnx.ModelProto, name: str) -> GraphEditor:
    proto = model.graph
    editor = GraphEditor.empty(text_of(proto.name or name))
    types = _declared_types(proto)
    edges: dict[str, EdgeId] = {}
    for tensor in proto.initializer:
        value = _array(tensor)
        edges[tensor.name] = editor.add_constant(
            text_of(tensor.name), value, TensorType(DType.of(value.dtype), value.shape)
        )
    for value_info in proto.input:
        if value_info.name in edges:
            continue  # an initializer that is listed as an input too (IR version 3)
        edge = editor.add_edge(text_of(value_info.name), _static(types, value_info.name, "input"))
        edges[value_info.name] = edge
        editor.inputs.append(edge)
    for index, node in enumerate(proto.node):
        node_name = text_of(node.name or f"{text_of(node.op_type)}_{index}")
        inputs = [_lookup(edges, i, node_name) if i else None for i in node.input]
        outputs: list[EdgeId | None] = []
        for output in node.output:
            if not output:
                outputs.append(None)
                continue
            if output in edges:
                raise ModelError(
                    f"The tensor {output!r} is written twice, the second time by {node_name!r}; "
                    "ONNX allows one writer. Export the model again."
                )
            edges[output] = editor.add_edge(
                text_of(output), _static(types, output, f"output of {node_name!r}")
            )
            outputs.append(edges[output])
        editor.add_node(
            text_of(node.op_type),
            inputs,
            outputs,
            node_name,
            _attributes(node),
            domain_of(text_of(node.domain)),
        )
    if not proto.output:
        raise ModelError("The model has no output, so there is nothing to compute.")
    for value_info in proto.output:
        editor.outputs.append(_lookup(edges, value_info.name, "the list of outputs"))
    return editor


def _lookup(edges: Mapping[str, EdgeId], name: str, reader: str) -> EdgeId:
    if name not in edges:
        raise ModelError(
            f"{reader!r} reads the tensor {name!r}, which nothing in the model writes before. "
            "Export the model again."
        )
    return edges[name]


def _declared_types(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    return {v.name: v.type for v in (*graph.value_info, *graph.output, *graph.input)}


def _static(types: Mapping[str, onnx.TypeProto], name: str, what: str) -> TensorType:
    type_ = types.get(name)
    if type_ is None or not type_.HasField("tensor_type"):
        raise ModelError(
            f"The shape of the {what}, tensor {name!r}, cannot be inferred: the operator is "
            "unknown to ONNX, or it is no tensor. Run onnx.shape_inference on the model, or "
            "replace the operator."
        )
    tensor = type_.tensor_type
    if tensor.elem_type not in _DTYPES:
        label = _type_name(tensor.elem_type)
        raise ModelError(
            f"The {what}, tensor {name!r}, has elements of type {label}, which no backend "
            "computes. Convert the model to float32 or an integer type."
        )
    dims = list(tensor.shape.dim) if tensor.HasField("shape") else None
    if dims is None or any(not d.HasField("dim_value") or d.dim_value < 0 for d in dims):
        shown = "unknown" if dims is None else [d.dim_param or d.dim_value or "?" for d in dims]
        raise ModelError(
            f"The {what}, tensor {name!r}, has no static shape ({shown}). "
            "Bind the inputs with --shape INPUT=1,3,96,96."
        )
    result = TensorType(_DTYPES[tensor.elem_type], tuple(int(d.dim_value) for d in dims))
    if result.bytes > _LARGEST_TENSOR_BYTES:
        raise ModelError(
            f"The {what}, tensor {name!r}, has the shape {list(result.shape)}, which is more than "
            "2 GiB and more than any microcontroller holds. Use a smaller shape."
        )
    return result


def _type_name(code: int) -> str:
    """ONNX's name of an element type; damaged files may hold any number."""
    known = dict(zip(TensorProto.DataType.values(), TensorProto.DataType.keys(), strict=True))
    return str(known.get(code, f"number {code}"))


def _array(tensor: onnx.TensorProto) -> np.ndarray[Any, Any]:
    if tensor.data_type not in _DTYPES:
        label = _type_name(tensor.data_type)
        raise ModelError(
            f"The constant {tensor.name!r} has elements of type {label}, which no backend "
            "computes. Convert the model to float32 or an integer type."
        )
    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError) as error:
        raise ModelError(
            f"The constant {tensor.name!r} is damaged ({error}). Export the model again."
        ) from error


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif isinstance(value, onnx.TensorProto):
            value = _array(value)
        elif isinstance(value, (list, tuple)) or hasattr(value, "__len__"):
            value = tuple(
                v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in value
            )
        found[attribute.name] = value
    return found
