"""Graphs as tables: topology with dense ids, types and constants by number, attributes by kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import Graph, GraphData, Node, NodeId, TensorType, Topology
from mcu_deploy.ir.verify import verify
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.constants import array, decode_array, encode_array, numbers
from mcu_deploy.pmx.context import Reader, Writer
from mcu_deploy.pmx.damage import Damage, reading

# The kinds of attributes that are not tensors: the type of a value, and the vector it lies in.
_SINGLE = {int: ("INT", "ints"), float: ("FLOAT", "floats"), str: ("STRING", "strings")}


# ---- Saving ----


def encode(writer: Writer, graph: Graph) -> fb.GraphT:
    """A graph with its fused nodes' bodies and its subgraphs."""
    made = fb.GraphT()
    made.name, made.opset = writer.number(graph.name), graph.opset
    made.sourceSha256 = writer.number(graph.source_sha256)
    made.nodes = [_node(writer, node) for node in graph.nodes]
    made.shortNames = [writer.number(node.short) for node in graph.nodes]
    made.links = [
        -1 if edge is None else writer.ids.edge(edge)
        for node in graph.nodes
        for edge in (*node.inputs, *node.outputs, *node.extra_inputs)
    ]
    made.inputs = [writer.ids.edge(edge) for edge in graph.inputs]
    made.outputs = [writer.ids.edge(edge) for edge in graph.outputs]
    made.nextNode, made.nextEdge = writer.ids.next_node, writer.ids.next_edge
    edges = graph.topology.edges
    values = [graph.constant(edge) for edge in edges]
    made.edges = [writer.ids.edge(edge) for edge in edges]
    made.edgeNames = [writer.number(name) for name in edges.values()]
    made.edgeTypes = [writer.number(graph.type(edge)) for edge in edges]
    made.edgeConstants = [-1 if value is None else writer.constant(value) for value in values]
    made.attributes = [
        _attribute(writer, node, name, value)
        for node in graph.nodes
        for name, value in graph.attributes(node.id).items()
    ]
    made.bodies = [_body(writer, node, body) for node, body in graph.data.bodies.items()]
    made.subgraphs = [
        _subgraph(writer, node, name, inner)
        for node, subgraphs in graph.data.subgraphs.items()
        for name, inner in subgraphs.items()
    ]
    return made


def _node(writer: Writer, node: Node) -> fb.NodeT:
    made = fb.NodeT()
    made.id, made.op = writer.ids.node(node.id), writer.number(node.op)
    made.domain, made.name = writer.number(node.domain), writer.number(node.name)
    made.inputs, made.outputs = len(node.inputs), len(node.outputs)
    made.extraInputs = len(node.extra_inputs)
    return made


def _body(writer: Writer, node: NodeId, body: Graph) -> fb.BodyT:
    made = fb.BodyT()
    made.node, made.graph = writer.ids.node(node), encode(writer, body)
    return made


def _subgraph(writer: Writer, node: NodeId, attribute: str, graph: Graph) -> fb.SubgraphT:
    made = fb.SubgraphT()
    made.node, made.attribute = writer.ids.node(node), writer.number(attribute)
    made.graph = encode(writer, graph)
    return made


def _attribute(writer: Writer, node: Node, name: str, value: Any) -> fb.AttributeT:
    made = fb.AttributeT()
    made.node, made.name = writer.ids.node(node.id), writer.number(name)
    if isinstance(value, np.ndarray):
        made.kind, made.tensor = fb.AttributeKind.TENSOR, encode_array(writer, value)
        return made
    single = not isinstance(value, tuple | list)
    values = [value] if single else list(value)
    of = {type(v) for v in values} or {int}
    if of == {int, float}:  # such as (0, 6.0)
        of, values = {float}, [float(v) for v in values]
    found = _SINGLE.get(of.pop()) if len(of) == 1 else None
    if found is None:
        raise UnsupportedError(
            f"The attribute {name!r} of the {node.op} {node.name!r} is of a type that a .pmx file "
            f"cannot hold ({type(value).__name__}). Build from the model file itself."
        )
    kind, vector = found
    made.kind = getattr(fb.AttributeKind, kind if single else f"{kind}S")
    setattr(made, vector, [writer.number(v) for v in values] if vector == "strings" else values)
    return made


# ---- Loading ----


def decode(reader: Reader, table: fb.Graph | None) -> Graph:
    """The graph of a table. That it makes sense is for `verify` to say, of all graphs at once."""
    if table is None:
        raise Damage("a graph is missing")
    texts = reader.lists[str]
    edges = numbers(table.EdgesAsNumpy())
    names = dict(zip(edges, [texts[n] for n in numbers(table.EdgeNamesAsNumpy())], strict=True))
    known = reader.lists[TensorType]
    types = dict(zip(edges, [known[n] for n in numbers(table.EdgeTypesAsNumpy())], strict=True))
    constants = {
        edge: array(reader, types[edge], number)
        for edge, number in zip(edges, numbers(table.EdgeConstantsAsNumpy()), strict=True)
        if number >= 0
    }
    nodes = {node.id: node for node in _nodes(reader, table)}
    attributes: dict[NodeId, dict[str, Any]] = {node: {} for node in nodes}
    for item in (table.Attributes(i) for i in range(table.AttributesLength())):
        attributes[item.Node()][texts[item.Name()]] = _value(reader, item)
    bodies = [table.Bodies(i) for i in range(table.BodiesLength())]
    subgraphs: dict[NodeId, dict[str, Graph]] = {}
    for item in (table.Subgraphs(i) for i in range(table.SubgraphsLength())):
        inner = decode(reader, item.Graph())
        subgraphs.setdefault(item.Node(), {})[texts[item.Attribute()]] = inner
    topology = Topology(
        nodes, names, tuple(numbers(table.InputsAsNumpy())), tuple(numbers(table.OutputsAsNumpy())),
        table.NextNode(), table.NextEdge(),
    )  # fmt: skip
    later = Bodies(reader, nodes, {body.Node(): body for body in bodies})
    data = GraphData(types, constants, attributes, later, subgraphs)
    return Graph(texts[table.Name()], topology, data, texts[table.SourceSha256()], table.Opset())


class Bodies(Mapping[NodeId, Graph]):
    """The bodies of fused nodes, each read and checked when it is first asked for.

    Reports and the interpreter ask for them. They are a third of what there is to read, so that
    loading would wait for them in vain.
    """

    def __init__(
        self, reader: Reader, nodes: Mapping[NodeId, Node], tables: Mapping[NodeId, fb.Body]
    ) -> None:
        self._reader = reader
        self._nodes = nodes
        self._tables = tables
        self._read: dict[NodeId, Graph] = {}

    def __getitem__(self, node: NodeId) -> Graph:
        if node not in self._read:
            table = self._tables[node]
            with reading(self._reader.path):
                self._read[node] = self._body(self._nodes[node], table.Graph())
        return self._read[node]

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def _body(self, node: Node, table: fb.Graph | None) -> Graph:
        body = decode(self._reader, table)
        if body.outputs != node.writes or not set(body.inputs) <= set(node.reads):
            raise Damage(f"the body of {node.name!r} computes other edges than the node")
        verify(body)
        return body


def check(graph: Graph) -> None:
    """Raises GraphError where a graph breaks an invariant. Bodies are checked as they are read."""
    needed = {n: graph.data.bodies[n] for n in graph.data.bodies if graph.node(n).extra_inputs}
    verify(replace(graph, data=replace(graph.data, bodies=needed)))


def _nodes(reader: Reader, table: fb.Graph) -> Iterator[Node]:
    texts = reader.lists[str]
    links = [None if edge < 0 else edge for edge in numbers(table.LinksAsNumpy())]
    first = 0
    shorts = [texts[n] for n in numbers(table.ShortNamesAsNumpy())]
    nodes = [table.Nodes(i) for i in range(table.NodesLength())]
    for item, short in zip(nodes, shorts, strict=True):
        outputs = first + item.Inputs()
        extra = outputs + item.Outputs()
        end = extra + item.ExtraInputs()
        if end > len(links):
            raise Damage("its nodes have more inputs and outputs than are there")
        yield Node(
            item.Id(),
            texts[item.Op()],
            tuple(links[first:outputs]),
            tuple(links[outputs:extra]),
            texts[item.Name()],
            texts[item.Domain()],
            tuple(edge for edge in links[extra:end] if edge is not None),
            short,
        )
        first = end


def _value(reader: Reader, table: fb.Attribute) -> Any:
    """The value of an attribute."""
    kind, kinds = table.Kind(), fb.AttributeKind
    values: list[Any]
    if kind == kinds.TENSOR:
        return decode_array(reader, table.Tensor())
    if kind in (kinds.INT, kinds.INTS):
        values = numbers(table.IntsAsNumpy())
    elif kind in (kinds.FLOAT, kinds.FLOATS):
        values = numbers(table.FloatsAsNumpy())
    elif kind in (kinds.STRING, kinds.STRINGS):
        values = [reader.lists[str][n] for n in numbers(table.StringsAsNumpy())]
    else:
        raise Damage(f"an attribute is of kind {kind}, which is not known")
    if kind not in (kinds.INT, kinds.FLOAT, kinds.STRING):
        return tuple(values)
    if len(values) != 1:
        raise Damage(f"an attribute has {len(values)} values instead of one")
    return values[0]
