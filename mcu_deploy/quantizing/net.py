"""An ONNX model that is being rewritten: its nodes, and its constants as arrays.

Not `ir.Graph`: what is quantized here is written as ONNX again, for onnxruntime's quantizer.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mcu_deploy.files.arrays import Array
from mcu_deploy.formats.onnx_subgraphs import put


class Net:
    """A graph with static shapes, in the order of its nodes, which all have names of their own.

    constants: arrays by the names of their tensors. shapes: of all tensors, as far as onnx infers
    them. Both are to be changed through the methods only, which keep what is looked up in step.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        self._shell = copy.deepcopy(model)
        graph = self._shell.graph
        self.constants: dict[str, Array] = {
            t.name: numpy_helper.to_array(t) for t in graph.initializer
        }
        self.nodes: list[onnx.NodeProto] = list(graph.node)
        self.inputs = [v.name for v in graph.input if v.name not in self.constants]
        self.outputs = [v.name for v in graph.output]
        # What graphs inside of nodes read has to stay by name, as an output has.
        self.inner = {name for node in self.nodes for name in _read_inside(node)}
        self.types = {v.name: v for v in (*graph.value_info, *graph.input, *graph.output)}
        self._count = 0
        self._name_nodes()

    @classmethod
    def parsed(cls, content: bytes) -> Net:
        return cls(onnx.load_model_from_string(content))

    @property
    def seen(self) -> set[str]:
        """The tensors that have to be there by name: outputs, and what graphs inside read."""
        return self.inner | set(self.outputs)

    @property
    def name(self) -> str:
        return str(self._shell.graph.name)

    @property
    def opset(self) -> int:
        return int(next(o.version for o in self._shell.opset_import if o.domain in ("", "ai.onnx")))

    def _name_nodes(self) -> None:
        taken: set[str] = set()
        for node in self.nodes:
            name = node.name or f"{node.op_type}_{node.output[0]}"
            number = 1
            while (found := name if number == 1 else f"{name}_{number}") in taken:
                number += 1
            taken.add(found)
            node.name = found

    def model(self) -> onnx.ModelProto:
        """The model; tensors and constants that nothing reads are left out, shapes inferred."""
        used = {name for node in self.nodes for name in node.input} | self.seen
        made = copy.deepcopy(self._shell)
        graph = made.graph
        written = {name for node in self.nodes for name in node.output}
        known = [value for value in graph.value_info if value.name in written]
        for field in ("node", "initializer", "value_info"):
            graph.ClearField(field)
        graph.value_info.extend(known)
        put(graph.input, [v for v in graph.input if v.name in self.inputs])
        graph.node.extend(self.nodes)
        graph.initializer.extend(
            numpy_helper.from_array(value, name)
            for name, value in self.constants.items()
            if name in used
        )
        return onnx.shape_inference.infer_shapes(made)

    def copy(self) -> Net:
        """The same net, the shapes of its tensors inferred anew."""
        return Net(self.model())

    def shape(self, name: str) -> tuple[int, ...] | None:
        """A tensor's shape; None where it is not known."""
        if name in self.constants:
            return tuple(self.constants[name].shape)
        value = self.types.get(name)
        if value is None or not value.type.tensor_type.HasField("shape"):
            return None
        sizes = [d.dim_value for d in value.type.tensor_type.shape.dim]
        return tuple(sizes) if all(sizes) else None

    def is_float(self, name: str) -> bool:
        """Whether a tensor that nodes write, or an input, is of float32."""
        value = self.types.get(name)
        return value is not None and value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT

    def set_type(self, name: str, elem_type: int) -> None:
        """Changes the type of elements of an input or an output."""
        for value in (*self._shell.graph.input, *self._shell.graph.output):
            if value.name == name:
                value.type.tensor_type.elem_type = elem_type
                self.types[name] = value

    def producers(self) -> dict[str, onnx.NodeProto]:
        return {name: node for node in self.nodes for name in node.output if name}

    def consumers(self) -> dict[str, list[onnx.NodeProto]]:
        found: dict[str, list[onnx.NodeProto]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.input):
                found.setdefault(name, []).append(node)
        return found

    def sole_consumer(self, name: str) -> onnx.NodeProto | None:
        """The one node that reads a tensor, which is no output; else None."""
        readers = [n for n in self.nodes if name in n.input]
        return readers[0] if len(readers) == 1 and name not in self.seen else None

    def constant(self, name: str) -> Array | None:
        return self.constants.get(name)

    def add_constant(self, near: str, value: Any) -> str:
        """The name of a new constant."""
        name = self.fresh(near)
        self.constants[name] = np.asarray(value)
        return name

    def add_floats(self, near: str, value: Any) -> str:
        """The name of a new constant of float32."""
        return self.add_constant(near, np.asarray(value, np.float32))

    def fresh(self, near: str) -> str:
        """A name that no tensor and no node has."""
        taken = {name for node in self.nodes for name in (*node.input, *node.output, node.name)}
        taken |= set(self.constants) | set(self.inputs)
        while True:
            self._count += 1
            name = f"{near}_q{self._count}"
            if name not in taken:
                return name

    def rename(self, name: str) -> None:
        """Gives a tensor that is not `seen` another name: its values are the model's no more."""
        fresh = self.fresh(name)
        for node in self.nodes:
            for names in (node.input, node.output):
                for index, other in enumerate(names):
                    if other == name:
                        names[index] = fresh
        if name in self.types:
            self.types[fresh] = onnx.ValueInfoProto(name=fresh, type=self.types[name].type)

    def node(
        self, op: str, inputs: Sequence[str], outputs: Sequence[str], name: str, **attributes: Any
    ) -> onnx.NodeProto:
        return helper.make_node(op, list(inputs), list(outputs), name, **attributes)

    def replace(self, old: Iterable[onnx.NodeProto], new: Sequence[onnx.NodeProto]) -> None:
        """Puts nodes where the last of some stood."""
        gone = {node.name for node in old}
        at = max(i for i, node in enumerate(self.nodes) if node.name in gone)
        before = [node for node in self.nodes[: at + 1] if node.name not in gone]
        self.nodes = [*before, *new, *self.nodes[at + 1 :]]

    def rename_reads(self, names: Mapping[str, str]) -> None:
        """Lets nodes read other tensors."""
        for node in self.nodes:
            for index, name in enumerate(node.input):
                if name in names:
                    node.input[index] = names[name]


def _read_inside(node: onnx.NodeProto) -> set[str]:
    """The names that graphs of a node read, be they from outside or not."""
    found: set[str] = set()
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            found |= {value.name for value in graph.output}
            for inner in graph.node:
                found |= set(inner.input) | _read_inside(inner)
    return found


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}
