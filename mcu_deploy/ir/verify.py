"""The graph's invariants, checked after every pass in the tests."""

from __future__ import annotations

from mcu_deploy.ir.graph import EdgeId, Graph
from mcu_deploy.ir.types import TensorType


class GraphError(AssertionError):
    """A graph that breaks an invariant: a bug in the pass that made it, never the user's fault."""


def verify(graph: Graph) -> None:
    """Raises GraphError with a sentence where a graph breaks an invariant, its bodies included."""
    _verify_ids(graph)
    _verify_order(graph)
    _verify_data(graph)
    _verify_bodies(graph)
    _verify_subgraphs(graph)


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise GraphError(sentence)


def _verify_ids(graph: Graph) -> None:
    """Every id was given by this line of graphs, and has its name, type and attributes."""
    topology, data = graph.topology, graph.data
    for node_id, node in topology.nodes.items():
        _require(node.id == node_id, f"node {node.id} is filed under the foreign id {node_id}")
        _require(0 <= node_id < topology.next_node, f"node {node_id} was not given by this graph")
    for edge in topology.edges:
        _require(0 <= edge < topology.next_edge, f"edge {edge} was not given by this graph")
    named = set(topology.edges)
    for what, edges in (("type", set(data.types)), ("constant", set(data.constants))):
        _require(edges <= named, f"edges {sorted(edges - named)} have a {what} but no name")
    _require(named <= set(data.types), f"edges {sorted(named - set(data.types))} have no type")
    nodes = set(topology.nodes)
    _require(
        nodes == set(data.attributes),
        f"nodes {sorted(nodes ^ set(data.attributes))} have no attributes, or these no node",
    )
    _require(set(data.bodies) <= nodes, f"bodies of missing nodes {sorted(set(data.bodies))}")


def _verify_order(graph: Graph) -> None:
    """Every edge is written once, before it is read."""
    topology, constants = graph.topology, graph.data.constants
    inputs = set(graph.inputs)
    _require(len(inputs) == len(graph.inputs), "an edge is listed twice as an input")
    _require(not inputs & set(constants), f"inputs {sorted(inputs & set(constants))} are constant")
    available: set[EdgeId] = inputs | set(constants)
    for node in topology.nodes.values():
        for edge in node.reads:
            _require(edge in available, f"{node.name!r} reads edge {edge} before it is written")
        for edge in node.writes:
            _require(edge not in constants, f"{node.name!r} writes the constant edge {edge}")
            _require(edge not in inputs, f"{node.name!r} writes the input {edge}")
            _require(edge not in available, f"edge {edge} has two producers")
            available.add(edge)
    for edge in graph.outputs:
        _require(edge in available, f"output {edge} is never written")
    unnamed = available - set(topology.edges)
    _require(not unnamed, f"edges {sorted(unnamed)} are used but have no name")


def _verify_data(graph: Graph) -> None:
    """Constants are as their types say and cannot be written; types make sense in themselves."""
    for edge, value in graph.data.constants.items():
        type_ = graph.type(edge)
        _require(tuple(value.shape) == type_.shape, f"constant {edge} has a shape unlike its type")
        _require(value.dtype == type_.dtype.numpy, f"constant {edge} has a dtype unlike its type")
        _require(not value.flags.writeable, f"constant {edge} can be written")
    for edge, type_ in graph.data.types.items():
        _require(min(type_.shape, default=0) >= 0, f"edge {edge} has the shape {type_.shape}")
        _verify_quantization(edge, type_)
        if type_.layout is not None:
            axes = list(range(type_.rank))
            _require(sorted(type_.layout) == axes, f"edge {edge}: its layout is no order of axes")


def _verify_quantization(edge: EdgeId, type_: TensorType) -> None:
    quantization = type_.quantization
    if quantization is None:
        return
    scales, points, axis = len(quantization.scale), len(quantization.zero_point), quantization.axis
    _require(scales == points, f"edge {edge}: {scales} scales but {points} zero points")
    if axis is None:
        _require(scales == 1, f"edge {edge}: {scales} scales but no axis")
        return
    _require(0 <= axis < type_.rank, f"edge {edge}: axis {axis} is none of its {type_.rank}")
    size = type_.shape[axis]
    _require(scales == size, f"edge {edge}: {scales} scales along an axis of {size}")


def _verify_bodies(graph: Graph) -> None:
    """A body computes its node's outputs from its node's inputs."""
    for node_id, body in graph.data.bodies.items():
        node = graph.node(node_id)
        foreign = set(body.inputs) - set(node.reads)
        _require(
            not foreign, f"the body of {node.name!r} reads {sorted(foreign)}, which the node lacks"
        )
        _require(
            body.outputs == node.writes,
            f"the body of {node.name!r} writes other edges than the node",
        )
        verify(body)


def _verify_subgraphs(graph: Graph) -> None:
    """The last inputs of a subgraph are its node's extra inputs; who has these has subgraphs."""
    nodes = set(graph.topology.nodes)
    foreign = sorted(set(graph.data.subgraphs) - nodes)
    _require(not foreign, f"subgraphs of missing nodes {foreign}")
    for node in graph.nodes:
        extra, subgraphs = node.extra_inputs, graph.subgraphs(node.id)
        has = bool(subgraphs) or graph.body(node.id) is not None or not extra
        _require(has, f"{node.name!r} has extra inputs but no subgraph")
        for name, inner in subgraphs.items():
            where = f"the subgraph {name!r} of {node.name!r}"
            _require(len(inner.inputs) >= len(extra), f"{where} lacks inputs for the extra inputs")
            formal = len(inner.inputs) - len(extra)
            for outside, inside in zip(extra, inner.inputs[formal:], strict=True):
                ours, theirs = graph.type(outside), inner.type(inside)
                _require(
                    (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape),
                    f"{where} reads edge {outside} as {theirs}, which is {ours}",
                )
            verify(inner)
