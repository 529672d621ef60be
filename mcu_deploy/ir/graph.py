"""The graph as an immutable value: topology (who feeds whom) and data (what they are).

Node and edge ids only grow and are never reused (as in ppl.nn's ir::Graph), so an id names the
same thing in every value that descends from one import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir.types import TensorType

NodeId = int
EdgeId = int


@dataclass(frozen=True)
class Node:
    """An operator: op and domain are ONNX's names; an absent optional input is None.

    extra_inputs: the edges that the node's subgraphs read (ppl.nn: extra input). name: the
    model's own. short: a name for people, of its own in the whole model (`naming`).
    """

    id: NodeId
    op: str
    inputs: tuple[EdgeId | None, ...]
    outputs: tuple[EdgeId | None, ...]
    name: str
    domain: str = ""
    extra_inputs: tuple[EdgeId, ...] = ()
    short: str = ""

    def input(self, index: int) -> EdgeId:
        """An input that must be there."""
        edge = self.inputs[index]
        assert edge is not None, f"{self.name!r} needs input {index}"
        return edge

    @cached_property
    def reads(self) -> tuple[EdgeId, ...]:
        """The edges that the node reads, extra inputs last, each once."""
        edges = (*self.inputs, *self.extra_inputs)
        return tuple(dict.fromkeys(e for e in edges if e is not None))

    @cached_property
    def writes(self) -> tuple[EdgeId, ...]:
        """The outputs that are there."""
        return tuple(e for e in self.outputs if e is not None)


@dataclass(frozen=True)
class Topology:
    """Nodes in a topological order, and the names of the edges between them."""

    nodes: Mapping[NodeId, Node]
    edges: Mapping[EdgeId, str]
    inputs: tuple[EdgeId, ...]
    outputs: tuple[EdgeId, ...]
    next_node: NodeId
    next_edge: EdgeId

    @cached_property
    def producers(self) -> Mapping[EdgeId, NodeId]:
        """The node that writes each edge; inputs and constants have none."""
        return {e: n.id for n in self.nodes.values() for e in n.outputs if e is not None}

    @cached_property
    def positions(self) -> Mapping[NodeId, int]:
        """Where each node stands in the order."""
        return {node: k for k, node in enumerate(self.nodes)}

    @cached_property
    def consumers(self) -> Mapping[EdgeId, tuple[NodeId, ...]]:
        """The nodes that read each edge, in the order of `nodes`, each once."""
        found: dict[EdgeId, list[NodeId]] = {edge: [] for edge in self.edges}
        for node in self.nodes.values():
            for edge in node.reads:
                found[edge].append(node.id)
        return {edge: tuple(nodes) for edge, nodes in found.items()}


@dataclass(frozen=True)
class GraphData:
    """What the ids of a topology stand for.

    subgraphs: the graphs that If, Loop and Scan hold, by attribute. The inputs of such a graph are
    those of its operator, and behind them the node's extra inputs, all of them and in their order.
    """

    types: Mapping[EdgeId, TensorType]
    constants: Mapping[EdgeId, npt.NDArray[Any]]
    attributes: Mapping[NodeId, Mapping[str, Any]]
    bodies: Mapping[NodeId, Graph] = field(default_factory=dict)
    subgraphs: Mapping[NodeId, Mapping[str, Graph]] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """A network at one point of its way through the compiler."""

    name: str
    topology: Topology
    data: GraphData
    source_sha256: str = ""
    opset: int = 0

    @property
    def nodes(self) -> Iterator[Node]:
        """The nodes in a topological order."""
        return iter(self.topology.nodes.values())

    @property
    def inputs(self) -> tuple[EdgeId, ...]:
        return self.topology.inputs

    @property
    def outputs(self) -> tuple[EdgeId, ...]:
        return self.topology.outputs

    def node(self, node: NodeId) -> Node:
        return self.topology.nodes[node]

    def type(self, edge: EdgeId) -> TensorType:
        return self.data.types[edge]

    def edge_name(self, edge: EdgeId) -> str:
        return self.topology.edges[edge]

    def constant(self, edge: EdgeId | None) -> npt.NDArray[Any] | None:
        """The value of a constant edge; None for an edge that is none (or absent)."""
        return None if edge is None else self.data.constants.get(edge)

    def attributes(self, node: NodeId) -> Mapping[str, Any]:
        """A node's attributes, by ONNX's names."""
        return self.data.attributes.get(node, MappingProxyType({}))

    def body(self, node: NodeId) -> Graph | None:
        """The small graph that a fused node stands for."""
        return self.data.bodies.get(node)

    def subgraphs(self, node: NodeId) -> Mapping[str, Graph]:
        """The graphs that a node holds, by the names of its attributes; most hold none."""
        return self.data.subgraphs.get(node, MappingProxyType({}))

    def producer(self, edge: EdgeId) -> Node | None:
        """The node that writes an edge; None for inputs and constants."""
        node = self.topology.producers.get(edge)
        return None if node is None else self.topology.nodes[node]

    def consumers(self, edge: EdgeId) -> tuple[Node, ...]:
        """The nodes that read an edge, in the order of `nodes`, each once."""
        return tuple(self.topology.nodes[n] for n in self.topology.consumers[edge])

    def sole_consumer(self, edge: EdgeId) -> Node | None:
        """The one node that reads an edge; None where several do or the edge is an output."""
        readers = self.topology.consumers[edge]
        if len(readers) != 1 or edge in self.outputs:
            return None
        return self.topology.nodes[readers[0]]

    def find_edge(self, name: str) -> EdgeId | None:
        """The edge of this name; the first where several have it."""
        return next((e for e, n in self.topology.edges.items() if n == name), None)

    def leaves(self, node: NodeId) -> tuple[Node, ...]:
        """The source model's nodes that a node stands for."""
        body = self.body(node)
        if body is None:
            return (self.node(node),)
        return tuple(leaf for inner in body.nodes for leaf in body.leaves(inner.id))

    def leaf_nodes(self, node: NodeId) -> tuple[str, ...]:
        """The names of the source model's nodes that a node stands for."""
        return tuple(leaf.name for leaf in self.leaves(node))


def freeze(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view, so that no stage can change another's constant."""
    view = np.asarray(array, order="C").view()
    view.flags.writeable = False
    return view
