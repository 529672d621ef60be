"""Layers, views and graphs as messages, in the words of mcu_graph_t, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.backends.c_rules import Nonsense, require
from mcu_deploy.backends.layer import HOST, Layer, Operand, Target
from mcu_deploy.dynamic.checks import (
    DTYPES,
    Blobs,
    Json,
    array,
    blob,
    dtype,
    integer,
    integers,
    items,
    line,
    member,
    real,
    text,
)
from mcu_deploy.ir import (
    DType,
    EdgeId,
    Graph,
    GraphData,
    Node,
    NodeId,
    Quantization,
    SubgraphView,
    TensorType,
    Topology,
)
from mcu_deploy.ir.graph import freeze
from mcu_deploy.ir.verify import GraphError, verify
from mcu_deploy.ir.view import view_of_all

_INTS, _FLOATS, _STRINGS, _TENSOR = range(4)
_LARGEST_TENSOR = 1 << 30
_INT64 = 2**63 - 1

Message = tuple[Json, list[memoryview]]


class GraphWriter:
    """Writes graphs of one message. bodies: what fused nodes stand for is written too."""

    def __init__(self, target: Target = HOST, *, bodies: bool = False) -> None:
        self.blobs: list[memoryview] = []
        self._target = target
        self._bodies = bodies
        self._numbers: dict[int, int] = {}
        self._kept: list[npt.NDArray[Any]] = []

    def graph(self, graph: Graph) -> Json:
        """A graph or a view."""
        edges = [
            self._edge(
                Operand(edge, graph.type(edge), graph.constant(edge), name),
                graph.topology.producers.get(edge),
                graph.topology.consumers[edge],
            )
            for edge, name in graph.topology.edges.items()
        ]
        nodes = [
            self._node(node, graph.attributes(node.id), graph.body(node.id)) for node in graph.nodes
        ]
        return self._whole(graph.name, graph.opset, nodes, edges, graph.inputs, graph.outputs)

    def layer(self, layer: Layer) -> Json:
        """A graph of one node."""
        written = {operand.edge: operand for operand in layer.outputs}
        read = {operand.edge: operand for operand in layer.inputs if operand is not None}
        edges = [
            *(self._edge(operand, None, [layer.node.id]) for operand in read.values()),
            *(self._edge(operand, layer.node.id, []) for operand in written.values()),
        ]
        nodes = [self._node(layer.node, layer.attributes, layer.body)]
        inputs = [edge for edge, operand in read.items() if operand.constant is None]
        return self._whole(layer.name, layer.opset, nodes, edges, inputs, written)

    def _whole(
        self,
        name: str,
        opset: int,
        nodes: list[Json],
        edges: list[Json],
        inputs: Iterable[EdgeId],
        outputs: Iterable[EdgeId],
    ) -> Json:
        target = self._target
        return {
            "name": name,
            "opset": opset,
            "target": {
                "core": target.core,
                "fpu": int(target.fpu),
                "dsp": int(target.dsp),
                "mve": int(target.mve),
            },
            "nodes": nodes,
            "edges": edges,
            "inputs": list(inputs),
            "outputs": list(outputs),
        }

    def _node(self, node: Node, attributes: Mapping[str, Any], body: Graph | None) -> Json:
        written = [self._attribute(name, value) for name, value in attributes.items()]
        answer: Json = {
            "id": node.id,
            "op": node.op,
            "domain": node.domain,
            "name": node.name,
            "inputs": list(node.inputs),
            "outputs": list(node.outputs),
            "attributes": [attribute for attribute in written if attribute is not None],
        }
        if body is not None and self._bodies:
            answer["body"] = self.graph(body)
        return answer

    def _attribute(self, name: str, value: Any) -> Json | None:
        """An attribute; None for those that the interface has no words for (graphs, types)."""
        if isinstance(value, np.ndarray):
            if value.dtype.name not in {kind.value for kind in DTYPES}:
                return None
            type_ = TensorType(DType.of(value.dtype), value.shape)
            tensor = self._type(type_) | {"data": self._blob(value)}
            return {"name": name, "kind": _TENSOR, "tensor": tensor}
        single = isinstance(value, str | int | float | np.number | np.bool_)
        values: Sequence[Any] = (value,) if single else value
        if not isinstance(values, Sequence):
            return None
        if all(isinstance(v, int | np.integer | np.bool_) for v in values):
            kind, plain = _INTS, [int(v) for v in values]
        elif all(isinstance(v, int | float | np.number) for v in values):
            return self._values(name, _FLOATS, [float(v) for v in values], single)
        elif all(isinstance(v, str) for v in values):
            return self._values(name, _STRINGS, list(values), single)
        else:
            return None
        return self._values(name, kind, plain, single)

    @staticmethod
    def _values(name: str, kind: int, values: list[Any], single: bool) -> Json:
        return {"name": name, "kind": kind, "values": values, "single": single}

    def _edge(self, operand: Operand, producer: NodeId | None, consumers: Iterable[NodeId]) -> Json:
        value = operand.constant
        return {
            "id": operand.edge,
            "name": operand.name,
            **self._type(operand.type),
            "data": None if value is None else self._blob(value),
            "producer": producer,
            "consumers": list(consumers),
        }

    @staticmethod
    def _type(type_: TensorType) -> Json:
        quantization = type_.quantization
        axis = None if quantization is None else quantization.axis
        return {
            "dtype": DTYPES.index(type_.dtype),
            "shape": list(type_.shape),
            "layout": None if type_.layout is None else list(type_.layout),
            "scales": [] if quantization is None else list(quantization.scale),
            "zero_points": [] if quantization is None else list(quantization.zero_point),
            "axis": -1 if axis is None else axis,
        }

    def _blob(self, value: npt.NDArray[Any]) -> int:
        """The number of the blob with an array's elements; one array is written once."""
        if id(value) not in self._numbers:
            self._kept.append(value)  # so that its id stays its own
            self._numbers[id(value)] = len(self.blobs)
            self.blobs.append(blob(value))
        return self._numbers[id(value)]


def encode_layer(layer: Layer, *, bodies: bool = False) -> Message:
    """A layer as a graph of one node."""
    writer = GraphWriter(layer.target, bodies=bodies)
    return {"graph": writer.layer(layer)}, writer.blobs


def encode_view(view: Graph, target: Target, *, bodies: bool = False) -> Message:
    """A view, or a whole graph."""
    writer = GraphWriter(target, bodies=bodies)
    return {"graph": writer.graph(view)}, writer.blobs


def decode_layer(message: Json, blobs: Blobs) -> Layer:
    """The layer of a message. Raises Nonsense."""
    graph = decode_graph(member(message, "graph"), blobs)
    nodes = list(graph.nodes)
    require(len(nodes) == 1, f"a layer has one node, not {len(nodes)}")
    node = nodes[0]

    def operand(edge: EdgeId) -> Operand:
        return Operand(edge, graph.type(edge), graph.constant(edge), graph.edge_name(edge))

    return Layer(
        node,
        tuple(None if edge is None else operand(edge) for edge in node.inputs),
        tuple(operand(edge) for edge in node.outputs if edge is not None),
        graph.attributes(node.id),
        graph.opset,
        decode_target(message),
        graph.body(node.id),
    )


def decode_view(message: Json, blobs: Blobs) -> SubgraphView:
    """The view of a message, of all nodes that were sent, with their ids. Raises Nonsense."""
    return view_of_all(decode_graph(member(message, "graph"), blobs))


def decode_target(message: Json) -> Target:
    """What a message's graph is for. Raises Nonsense."""
    target = member(member(message, "graph"), "target")
    flags = (integer(member(target, flag), flag, 0, 1) != 0 for flag in ("fpu", "dsp", "mve"))
    return Target(text(member(target, "core"), "the core"), *flags)


def decode_graph(message: Any, blobs: Blobs, opset: int = 0) -> Graph:
    """A graph that keeps all invariants; opset is that of a graph which says 0. Raises Nonsense."""
    said = integer(member(message, "opset"), "the opset", 0, 1 << 16)
    reader = _GraphReader(blobs, said or opset)
    graph = reader.graph(message)
    try:
        verify(graph)
    except GraphError as error:
        raise Nonsense(str(error)) from None
    return graph


class _GraphReader:
    """Reads the graphs of one message."""

    def __init__(self, blobs: Blobs, opset: int) -> None:
        self._blobs = blobs
        self._opset = opset

    def graph(self, message: Any) -> Graph:
        names: dict[EdgeId, str] = {}
        types: dict[EdgeId, TensorType] = {}
        constants: dict[EdgeId, npt.NDArray[Any]] = {}
        for item in items(member(message, "edges"), "edges"):
            edge = integer(member(item, "id"), "an edge's id", 0, 2**31)
            require(edge not in names, f"two edges have the id {edge}")
            names[edge] = line(member(item, "name"), "an edge's name")
            types[edge] = self._type(item, f"edge {edge}")
            if member(item, "data") is not None:
                constants[edge] = self._constant(item, types[edge], f"edge {edge}")
        nodes: dict[NodeId, Node] = {}
        attributes: dict[NodeId, Mapping[str, Any]] = {}
        bodies: dict[NodeId, Graph] = {}
        for item in items(member(message, "nodes"), "nodes"):
            node = self._node(item, names)
            require(node.id not in nodes, f"two nodes have the id {node.id}")
            nodes[node.id] = node
            attributes[node.id] = dict(
                self._attribute(node, attribute)
                for attribute in items(member(item, "attributes"), "attributes")
            )
            if item.get("body") is not None:
                bodies[node.id] = self.graph(item["body"])
        topology = Topology(
            nodes, names,
            self._known(member(message, "inputs"), "inputs", names),
            self._known(member(message, "outputs"), "outputs", names),
            max(nodes, default=-1) + 1, max(names, default=-1) + 1,
        )  # fmt: skip
        name = line(member(message, "name"), "a graph's name")
        data = GraphData(types, constants, attributes, bodies)
        return Graph(name, topology, data, opset=self._opset)

    @staticmethod
    def _known(value: Any, what: str, names: Mapping[EdgeId, str]) -> tuple[EdgeId, ...]:
        found = integers(value, what)
        for edge in found:
            require(edge in names, f"edge {edge} is among the {what}, but there is none")
        return found

    def _node(self, item: Any, names: Mapping[EdgeId, str]) -> Node:
        name = line(member(item, "name"), "a node's name")

        def edges(what: str) -> tuple[EdgeId | None, ...]:
            found = items(member(item, what), what)
            return tuple(e if e is None else self._known([e], what, names)[0] for e in found)

        return Node(
            integer(member(item, "id"), "a node's id", 0, 2**31),
            line(member(item, "op"), "a node's operator"),
            edges("inputs"),
            edges("outputs"),
            name,
            line(member(item, "domain"), "a node's domain"),
        )

    def _attribute(self, node: Node, item: Any) -> tuple[str, Any]:
        name = line(member(item, "name"), "an attribute's name")
        what = f"the attribute {name}"
        kind = integer(member(item, "kind"), f"the kind of {what}", _INTS, _TENSOR)
        if kind == _TENSOR:
            tensor = member(item, "tensor")
            return name, self._constant(tensor, self._type(tensor, what), what)
        values = items(member(item, "values"), f"values of {what}")
        found: tuple[Any, ...]
        if kind == _INTS:
            found = integers(values, f"values of {what}", -_INT64 - 1, _INT64)
        elif kind == _FLOATS:
            found = tuple(real(value, what) for value in values)
        else:
            found = tuple(text(value, what) for value in values)
        single = item.get("single")
        if single is None:
            single = _is_single(node, self._opset, name)
        require(not single or len(found) == 1, f"{what} of {node.op} is one value")
        return name, found[0] if single else found

    def _constant(self, item: Any, type_: TensorType, what: str) -> npt.NDArray[Any]:
        return freeze(array(item, type_.dtype, type_.shape, self._blobs, what))

    @staticmethod
    def _type(item: Any, what: str) -> TensorType:
        kind = dtype(member(item, "dtype"), what)
        shape = integers(member(item, "shape"), f"axes of {what}", 0, _LARGEST_TENSOR)
        size = math.prod(shape) * kind.bytes
        require(size <= _LARGEST_TENSOR, f"{what} has {size} bytes")
        layout = member(item, "layout")
        order = None if layout is None else integers(layout, f"layout of {what}")
        return TensorType(kind, shape, _quantization(item, len(shape), what), order)


def _quantization(item: Any, rank: int, what: str) -> Quantization | None:
    given = items(member(item, "scales"), f"scales of {what}")
    scales = tuple(real(scale, f"a scale of {what}") for scale in given)
    if not scales:
        return None
    for scale in scales:
        require(0 < scale < math.inf, f"a scale of {what} is {scale}")
    points = integers(member(item, "zero_points"), f"zero points of {what}", -(2**31), 2**31 - 1)
    axis = integer(member(item, "axis"), f"the quantization axis of {what}", -1, max(rank - 1, 0))
    return Quantization(scales, points, None if axis < 0 else axis)


def _is_single(node: Node, opset: int, attribute: str) -> bool:
    """Whether ONNX has one value for an attribute: C has lists only."""
    import onnx.defs  # slow to import, and only replacements from C need it

    single = onnx.defs.OpSchema.AttrType
    try:
        schema = onnx.defs.get_schema(node.op, opset, node.domain)
    except onnx.defs.SchemaError:
        return False
    known = schema.attributes.get(attribute)
    return known is not None and known.type in (single.INT, single.FLOAT, single.STRING)
