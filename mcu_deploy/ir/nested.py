"""Graphs inside of graphs: all of them under one numbering, and all that they hold in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mcu_deploy.ir.graph import EdgeId, Graph, GraphData, NodeId, Topology


def graphs_within(graph: Graph) -> Iterator[Graph]:
    """A graph and all graphs that its nodes hold, outer ones first."""
    yield graph
    for node in graph.nodes:
        for inner in graph.subgraphs(node.id).values():
            yield from graphs_within(inner)


def flat(graph: Graph) -> Graph:
    """The graph with the nodes and edges of all graphs inside of it, for looking things up by id.

    Their ids must be distinct (`flow.number`); an edge that a subgraph reads from outside has one
    id everywhere, and the type that it has outside.
    """
    if not graph.data.subgraphs:
        return graph
    found = list(graphs_within(graph))
    topology, data = graph.topology, graph.data

    def joined(tables: list[Mapping[int, Any]]) -> dict[int, Any]:
        return {key: value for table in reversed(tables) for key, value in table.items()}

    edges: dict[EdgeId, str] = joined([g.topology.edges for g in found])
    attributes: dict[NodeId, Mapping[str, Any]] = joined([g.data.attributes for g in found])
    return replace(
        graph,
        topology=Topology(
            {n.id: n for g in found for n in g.nodes},
            edges,
            topology.inputs,
            topology.outputs,
            max(g.topology.next_node for g in found),
            max(g.topology.next_edge for g in found),
        ),
        data=GraphData(
            joined([g.data.types for g in found]),
            joined([g.data.constants for g in found]),
            attributes,
            joined([g.data.bodies for g in found]),
            joined([data.subgraphs, *(g.data.subgraphs for g in found[1:])]),
        ),
    )
