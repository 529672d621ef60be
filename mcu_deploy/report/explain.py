"""`build --explain`: who computes each node, why the others do not, and what it would cost."""

from __future__ import annotations

from typing import Any

from mcu_deploy.choose import Assignment, Candidate
from mcu_deploy.compiled import Network
from mcu_deploy.ir import Graph


def explain(network: Network) -> list[dict[str, Any]]:
    """One entry for every node of the final graph, in the order of execution.

    step: the layer's index, None for a view, which computes nothing. short: the layer's own name;
    name: the model's. chosen_by: a strategy,
    "--layer-backend", "made by ID" for what a backend made of several nodes, "inserted" for
    conversions between memory orders, or "split" for an If, Loop or Scan, whose graphs are given
    to backends node by node. partition: the number of the group of nodes that the backend
    got at once. candidates: who could compute it, in the order of preference, with the estimated
    costs (None: not known). refusals: who does not, and why.
    """
    return _rows(network, network.graph, network.assignment)


def _rows(network: Network, graph: Graph, assignment: Assignment) -> list[dict[str, Any]]:
    """Of a graph; those of the graphs that a node holds stand behind the node's own."""
    steps = {s.choice.layer.node.id: s for s in network.plan.steps}
    partitions = {n: i for i, p in enumerate(assignment.partitions) for n in p.nodes}
    rows: list[dict[str, Any]] = []
    for node in graph.nodes:
        step = steps.get(node.id)
        backend = assignment.backends.get(node.id)
        parts = assignment.subgraphs.get(node.id, {})
        if step is not None:
            computed_by = step.choice.workload.backend
        else:
            computed_by = backend.id if backend is not None else ""
        rows.append(
            {
                "network": network.name,
                "step": None if step is None else step.index,
                "op": node.op,
                "short": node.short,
                "name": node.name,
                "nodes": list(graph.leaf_nodes(node.id)),
                "backend": computed_by,
                "chosen_by": "split" if parts else assignment.chosen_by.get(node.id, "inserted"),
                "partition": partitions.get(node.id),
                "candidates": [_candidate(c) for c in assignment.candidates.get(node.id, ())],
                "refusals": _refusals(assignment, node.id),
            }
        )
        for name, part in parts.items():
            rows += _rows(network, graph.subgraphs(node.id)[name], part)
    return rows


def _candidate(candidate: Candidate) -> dict[str, Any]:
    costs = candidate.costs
    return {
        "backend": candidate.backend,
        "layout": candidate.support.layout.value,
        "macs": costs.macs,
        "instructions": costs.instructions,
        "cycles": costs.cycles,
        "flash_bytes": costs.flash,
    }


def _refusals(assignment: Assignment, node: int) -> list[dict[str, str]]:
    return [
        {"backend": r.backend, "reason": r.reason} for r in assignment.refusals if r.node.id == node
    ]
