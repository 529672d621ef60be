"""Who computes which node, and why: what reports tell, as far as it is about saved nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcu_deploy.backends.interface import Layer, Support, Workload, no
from mcu_deploy.backends.kit.backends import LayerBackend
from mcu_deploy.choose import Assignment, Group
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import Graph, NodeId
from mcu_deploy.schema import Clause


class SavedBackend(LayerBackend):
    """A backend as a file knows it: by its id. What it made is there, it itself need not be."""

    def __init__(self, backend_id: str) -> None:
        self.id = backend_id

    def supports(self, layer: Layer) -> Support:
        return no("of it only the workloads were saved")

    def workloads(self, layer: Layer) -> tuple[Workload, ...]:
        raise BackendFault(self.id, f"Of the backend {self.id} only the workloads were saved.")


def of_graph(assignment: Assignment, graph: Graph) -> Assignment:
    """The assignment as far as it is about nodes of the graph as it is now."""
    nodes = graph.topology.nodes

    def there(mapping: Mapping[NodeId, Any]) -> dict[NodeId, Any]:
        return {node: mapping[node] for node in nodes if node in mapping}

    return Assignment(
        there(assignment.backends),
        there(assignment.supports),
        tuple(replace(r, node=nodes[r.node.id]) for r in assignment.refusals if r.node.id in nodes),
        tuple(
            Group(p.backend, tuple(node for node in p.nodes if node in nodes))
            for p in assignment.groups
        ),
        {
            node: tuple(replace(c, proposal=None, code={}) for c in found)
            for node, found in there(assignment.candidates).items()
        },
        there(assignment.chosen_by),
        {
            node: {name: of_graph(a, graph.subgraphs(node)[name]) for name, a in inner.items()}
            for node, inner in there(assignment.subgraphs).items()
        },
    )


def check(assignment: Assignment, graph: Graph) -> None:
    """Raises Misfit where an assignment is about other nodes than the graph has."""
    about = {
        *assignment.backends, *assignment.candidates, *assignment.chosen_by,
        *assignment.subgraphs, *(refusal.node.id for refusal in assignment.refusals),
        *(node for partition in assignment.groups for node in partition.nodes),
    }  # fmt: skip
    for node in about - set(graph.topology.nodes):
        raise Clause(f"the assignment speaks of node {node}, which is not in the graph")
    if set(assignment.backends) != set(assignment.supports):
        raise Clause("the assignment gives nodes to backends, and does not say how")
    for node, inner in assignment.subgraphs.items():
        for name, part in inner.items():
            if name not in graph.subgraphs(node):
                raise Clause(f"the assignment speaks of a subgraph {name!r}, which is not there")
            check(part, graph.subgraphs(node)[name])
