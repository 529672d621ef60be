"""Partial views: part of a graph as a backend sees it, over the data store of the whole.

Document 002 ("ir::Graph"): every partition sees a whole topology of its own. Ids are those of the
graph; an edge that leaves the part has only its producer there, one that enters it only its
consumers. Shapes, constants and attributes are looked up in the one store, which is not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcu_deploy.ir.graph import EdgeId, Graph, Node, NodeId, Topology


@dataclass(frozen=True)
class PartialTopology(Topology):
    """Some nodes of a topology, with the edges that they touch.

    inputs: edges that are read here and written elsewhere, or nowhere, in the order of reading;
    constants are none. outputs: edges that are written here and read elsewhere, or are outputs of
    the whole, in the order of writing.
    """


@dataclass(frozen=True)
class SubgraphView(Graph):
    """A part of `whole`, with a `PartialTopology` over the same `data`. Read-only, as all are."""

    whole: Graph | None = None

    @property
    def node_ids(self) -> frozenset[NodeId]:
        return frozenset(self.topology.nodes)

    def part(self, nodes: Iterable[NodeId]) -> SubgraphView:
        """A view of some of this view's nodes. Raises KeyError for a node that is not in it."""
        wanted = [self.topology.nodes[node].id for node in nodes]
        assert self.whole is not None
        return view(self.whole, wanted)


def view(graph: Graph, nodes: Iterable[NodeId]) -> SubgraphView:
    """The view of some nodes of a graph, or of a view's whole.

    Raises KeyError for a node that the graph does not have.
    """
    wanted = {graph.topology.nodes[node].id for node in nodes}
    own = {n.id: n for n in graph.topology.nodes.values() if n.id in wanted}
    topology = PartialTopology(
        own,
        _edges(graph, own),
        _inputs(graph, own),
        _outputs(graph, own),
        graph.topology.next_node,
        graph.topology.next_edge,
    )
    return SubgraphView(
        graph.name, topology, graph.data, graph.source_sha256, graph.opset, whole=graph
    )


def view_of_all(graph: Graph) -> SubgraphView:
    """The view of all nodes of a graph."""
    return view(graph, graph.topology.nodes)


def _edges(graph: Graph, nodes: Mapping[NodeId, Node]) -> dict[EdgeId, str]:
    touched = dict.fromkeys(e for n in nodes.values() for e in (*n.reads, *n.writes))
    return {edge: graph.edge_name(edge) for edge in touched}


def _inputs(graph: Graph, nodes: Mapping[NodeId, Node]) -> tuple[EdgeId, ...]:
    written = {e for n in nodes.values() for e in n.writes}
    read = dict.fromkeys(e for n in nodes.values() for e in n.reads)
    return tuple(e for e in read if e not in written and e not in graph.data.constants)


def _outputs(graph: Graph, nodes: Mapping[NodeId, Node]) -> tuple[EdgeId, ...]:
    outputs = set(graph.outputs)
    return tuple(
        edge
        for node in nodes.values()
        for edge in node.writes
        if edge in outputs or any(c not in nodes for c in graph.topology.consumers[edge])
    )
