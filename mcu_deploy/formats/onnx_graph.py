"""From an ONNX graph whose shapes are all known to a graph of ours, subgraphs included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from mcu_deploy.errors import ModelError, UnsupportedError
from mcu_deploy.formats.onnx_inference import refuse_training
from mcu_deploy.formats.onnx_operators import domain_of, sized_at_run_time, text_of
from mcu_deploy.formats.onnx_reasons import reason
from mcu_deploy.formats.onnx_subgraphs import free_names, subgraphs_of
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, TensorType

Value = np.ndarray[Any, Any]

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


def to_graph(
    proto: onnx.GraphProto,
    name: str,
    opset: int,
    outer: Mapping[str, TensorType] | None = None,
    constants: Mapping[str, Value] | None = None,
) -> Graph:
    """The graph of an ONNX graph whose shapes are inferred.

    For a subgraph, `outer` are the computed tensors that it reads from the graphs around it, which
    become its last inputs; `constants` are the constants that it reads from them, which become its
    own. Raises ModelError, which names the tensor or node, for what is not static or not sound.
    """
    return _Reader(proto, name, outer or {}, constants or {}).read(opset)


class _Reader:
    def __init__(
        self,
        proto: onnx.GraphProto,
        name: str,
        outer: Mapping[str, TensorType],
        constants: Mapping[str, Value],
    ) -> None:
        self.proto = proto
        self.editor = GraphEditor.empty(name)
        self.types = declared_types(proto)
        self.edges: dict[str, EdgeId] = {}
        for name, value in constants.items():
            self._constant(name, value)
        for tensor in proto.initializer:
            self._constant(tensor.name, _array(tensor))
        for value_info in proto.input:
            if value_info.name in self.edges:
                continue  # an initializer that is listed as an input too (IR version 3)
            self._input(value_info.name, _static(self.types, value_info.name, "input"))
        for name, type_ in outer.items():
            self._input(name, type_)

    def _constant(self, name: str, value: Value) -> None:
        type_ = TensorType(DType.of(value.dtype), value.shape)
        self.edges[name] = self.editor.add_constant(text_of(name), value, type_)

    def _input(self, name: str, type_: TensorType) -> None:
        edge = self.editor.add_edge(text_of(name), type_)
        self.edges[name] = edge
        self.editor.inputs.append(edge)

    def read(self, opset: int) -> Graph:
        for index, node in enumerate(self.proto.node):
            self._node(node, text_of(node.name or f"{text_of(node.op_type)}_{index}"), opset)
        if not self.proto.output:
            raise ModelError("The model has no output, so there is nothing to compute.")
        for value_info in self.proto.output:
            self.editor.outputs.append(self._lookup(value_info.name, "the list of outputs"))
        return self.editor.finish(opset=opset)

    def _node(self, node: onnx.NodeProto, name: str, opset: int) -> None:
        inputs = [self._lookup(i, name) if i else None for i in node.input]
        extra_inputs, subgraphs = self._subgraphs(node, name, opset)
        outputs: list[EdgeId | None] = []
        for output in node.output:
            if not output:
                outputs.append(None)
                continue
            if output in self.edges:
                raise ModelError(
                    f"The tensor {output!r} is written twice, the second time by {name!r}; "
                    "ONNX allows one writer. Export the model again."
                )
            type_ = self._written_type(node, name, output)
            self.edges[output] = self.editor.add_edge(text_of(output), type_)
            outputs.append(self.edges[output])
        if text_of(node.op_type) == "Dropout" and not domain_of(text_of(node.domain)):
            self._dropout(node, inputs, outputs, name, opset)
            return
        self.editor.add_node(
            text_of(node.op_type), inputs, outputs, name, _attributes(node),
            domain_of(text_of(node.domain)), extra_inputs, subgraphs,
        )  # fmt: skip

    def _dropout(
        self,
        node: onnx.NodeProto,
        inputs: Sequence[EdgeId | None],
        outputs: Sequence[EdgeId | None],
        name: str,
        opset: int,
    ) -> None:
        """At inference it is its input; its mask says that every element is kept."""
        given = (*inputs, None, None)
        known = self.editor.constants
        refuse_training(node, *(None if e is None else known.get(e) for e in given[1:3]))
        y, mask = (*outputs, None)[:2]
        if y is not None:
            self.editor.add_node("Identity", inputs[:1], [y], name)
        if mask is not None:
            type_ = self.editor.types[mask]
            # Before opset 12 onnxruntime fills it with zeros.
            value = np.full(type_.shape, opset >= 12, type_.dtype.numpy)
            kept = self.editor.add_constant(f"{name} mask", value, type_)
            self.editor.add_node("Identity", [kept], [mask], f"{name} mask")

    def _written_type(self, node: onnx.NodeProto, name: str, output: str) -> TensorType:
        """The type of a node's output. Raises ModelError with the reason where it has no size."""
        type_ = self.types.get(output)
        if type_ is not None and type_.HasField("tensor_type") and not _is_static(type_):
            constants = {n for n, edge in self.edges.items() if edge in self.editor.constants}
            clause = sized_at_run_time(node, constants)
            if clause is not None:
                raise UnsupportedError(f"{text_of(node.op_type)} {name[:80]!r}: {clause}.")
        return _static(self.types, output, f"output of {name!r}")

    def _subgraphs(
        self, node: onnx.NodeProto, name: str, opset: int
    ) -> tuple[list[EdgeId], dict[str, Graph]]:
        """The graphs that a node holds, and the edges that they read."""
        protos = subgraphs_of(node)
        free = dict.fromkeys(n for proto in protos.values() for n in free_names(proto))
        found = {n: self._lookup(n, name) for n in free}
        known = self.editor.constants
        constants = {n: known[edge] for n, edge in found.items() if edge in known}
        outer = {n: self.editor.types[e] for n, e in found.items() if e not in known}
        subgraphs = {
            attribute: to_graph(
                proto, text_of(proto.name or f"{name} {attribute}"), opset, outer, constants
            )
            for attribute, proto in protos.items()
        }
        return [found[n] for n in outer], subgraphs

    def _lookup(self, name: str, reader: str) -> EdgeId:
        if name not in self.edges:
            raise ModelError(
                f"{reader!r} reads the tensor {name!r}, which nothing in the model writes before. "
                "Export the model again."
            )
        return self.edges[name]


def declared_types(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    """The types that a graph states for its tensors, by name."""
    return {v.name: v.type for v in (*graph.value_info, *graph.output, *graph.input)}


def _is_static(type_: onnx.TypeProto) -> bool:
    shape = type_.tensor_type.shape
    sized = all(d.HasField("dim_value") and d.dim_value >= 0 for d in shape.dim)
    return type_.tensor_type.HasField("shape") and sized


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
    dims = list(tensor.shape.dim)
    if not _is_static(type_):
        sizes = [d.dim_param or d.dim_value or "?" for d in dims]
        shown = sizes if tensor.HasField("shape") else "unknown"
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


def _array(tensor: onnx.TensorProto) -> Value:
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
            f"The constant {tensor.name!r} is damaged ({reason(error)}). Export the model again."
        ) from error


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.HasField("g"):
            continue
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
