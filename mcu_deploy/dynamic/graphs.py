"""Graphs on their way to a backend, and what must hold of one that a backend gives."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from mcu_deploy.backends.c_rules import Nonsense, require
from mcu_deploy.backends.layer import Layer
from mcu_deploy.dynamic.memory import MAX_BODIES
from mcu_deploy.ir import Graph, GraphData, Node, Topology
from mcu_deploy.ir.verify import GraphError, verify
from mcu_deploy.records import is_attribute

_LARGEST_TENSOR = 1 << 30
_LARGEST_OPSET = 1 << 16


def graph_of(layer: Layer) -> Graph:
    """A graph of one node."""
    node = replace(layer.node, extra_inputs=())
    read = {operand.edge: operand for operand in layer.inputs if operand is not None}
    written = {operand.edge: operand for operand in layer.outputs}
    every = read | written
    topology = Topology(
        {node.id: node},
        {edge: operand.name for edge, operand in every.items()},
        tuple(edge for edge, operand in read.items() if operand.constant is None),
        tuple(written),
        node.id + 1,
        max(every, default=-1) + 1,
    )
    data = GraphData(
        {edge: operand.type for edge, operand in every.items()},
        {edge: o.constant for edge, o in every.items() if o.constant is not None},
        {node.id: layer.attributes},
        {} if layer.body is None else {node.id: layer.body},
    )
    return Graph(layer.name, topology, data, opset=layer.opset)


def part_of(graph: Graph, bodies: int = MAX_BODIES) -> Graph:
    """A graph or a view without what is not its own, and what the interface has no words for.

    bodies: how deep what its fused nodes stand for goes along; 0: not at all.
    """
    edges, nodes, data = graph.topology.edges, graph.topology.nodes, graph.data
    return Graph(
        graph.name,
        graph.topology,
        GraphData(
            {edge: data.types[edge] for edge in edges},
            {edge: data.constants[edge] for edge in edges if edge in data.constants},
            {
                n: {name: v for name, v in graph.attributes(n).items() if is_attribute(v)}
                for n in nodes
            },
            {n: part_of(data.bodies[n], bodies - 1) for n in nodes if bodies and n in data.bodies},
        ),
        opset=graph.opset,
    )


def checked(graph: Graph, opset: int = 0) -> Graph:
    """A graph that keeps all invariants; opset is that of a graph which says 0. Raises Nonsense."""
    graph = _bounded(graph, opset)
    try:
        verify(graph)
    except GraphError as error:
        raise Nonsense(str(error)) from None
    return graph


def _bounded(graph: Graph, opset: int) -> Graph:
    for edge, type_ in graph.data.types.items():
        size = math.prod(type_.shape) * type_.dtype.bytes
        low = min(type_.shape, default=0)
        require(low >= 0 and size <= _LARGEST_TENSOR, f"edge {edge} has {size} bytes")
        for scale in () if type_.quantization is None else type_.quantization.scale:
            require(0 < scale < math.inf, f"a scale of edge {edge} is {scale}")
    require(0 <= graph.opset <= _LARGEST_OPSET, f"the opset is {graph.opset}")
    opset = graph.opset or opset
    bodies = {node: _bounded(body, opset) for node, body in graph.data.bodies.items()}
    return replace(graph, opset=opset, data=replace(graph.data, bodies=bodies))


def with_singles(graph: Graph) -> Graph:
    """The graph with one value where ONNX has one: C has lists only. Raises Nonsense."""
    attributes = {
        node.id: {
            name: _single(node, graph.opset, name, value)
            for name, value in graph.attributes(node.id).items()
        }
        for node in graph.nodes
    }
    bodies = {node: with_singles(body) for node, body in graph.data.bodies.items()}
    return replace(graph, data=replace(graph.data, attributes=attributes, bodies=bodies))


def _single(node: Node, opset: int, name: str, value: Any) -> Any:
    if not isinstance(value, tuple) or not _is_single(node, opset, name):
        return value
    require(len(value) == 1, f"the attribute {name} of {node.op} is one value")
    return value[0]


def _is_single(node: Node, opset: int, attribute: str) -> bool:
    """Whether ONNX has one value for an attribute."""
    import onnx.defs  # slow to import, and few ask for it

    single = onnx.defs.OpSchema.AttrType
    try:
        schema = onnx.defs.get_schema(node.op, opset, node.domain)
    except onnx.defs.SchemaError:
        return False
    known = schema.attributes.get(attribute)
    return known is not None and known.type in (single.INT, single.FLOAT, single.STRING)
