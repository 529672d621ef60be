"""`build --explain`: who computes each node, why the others do not, and what it would cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcu_deploy.choose import Assignment, Candidate
from mcu_deploy.compiled import Network
from mcu_deploy.ir import Graph
from mcu_deploy.report.model import CostReport


@dataclass(frozen=True)
class CandidateRow:
    """A backend that could compute a node, with what it states before layouts are known.

    title: what it proposes, where it says that. nodes: how many it would compute. cost: in cycles
    or else instructions, of all these; None where it states neither.
    """

    backend: str
    title: str
    nodes: int
    layout: str
    macs: int
    cost: CostReport | None
    flash_bytes: int | None


@dataclass(frozen=True)
class RefusalRow:
    """A backend that does not compute a node, and why."""

    backend: str
    reason: str


@dataclass(frozen=True)
class Explanation:
    """A node of the final graph.

    step: the layer's index, None for a view, which computes nothing. short: the layer's own name;
    name: the model's. chosen_by: a strategy,
    "--layer-backend", "made by ID" for what a backend made of several nodes, "inserted" for
    conversions between memory orders, or "split" for an If, Loop or Scan, whose graphs are given
    to backends node by node. group: the number of the group of nodes that the backend
    got at once. cost: of the workload that computes it. candidates: the one that was taken first,
    then the others in the order of preference, then proposals for several nodes.
    """

    network: str
    step: int | None
    op: str
    short: str
    name: str
    nodes: tuple[str, ...]
    backend: str
    chosen_by: str
    group: int | None
    cost: CostReport | None
    candidates: tuple[CandidateRow, ...]
    refusals: tuple[RefusalRow, ...]


def explain(network: Network) -> tuple[Explanation, ...]:
    """All nodes in the order of execution, those of the graphs that a node holds behind it."""
    return tuple(_rows(network, network.graph, network.assignment))


def _rows(network: Network, graph: Graph, assignment: Assignment) -> Iterator[Explanation]:
    steps = {s.choice.layer.node.id: s for s in network.plan.steps}
    groups = {n: i for i, p in enumerate(assignment.groups) for n in p.nodes}
    for node in graph.nodes:
        step = steps.get(node.id)
        backend = assignment.backends.get(node.id)
        parts = assignment.subgraphs.get(node.id, {})
        if step is not None:
            computed_by = step.choice.workload.backend
        else:
            computed_by = backend.id if backend is not None else ""
        yield Explanation(
            network=network.name,
            step=None if step is None else step.index,
            op=node.op,
            short=node.short,
            name=node.name,
            nodes=graph.leaf_nodes(node.id),
            backend=computed_by,
            chosen_by="split" if parts else assignment.chosen_by.get(node.id, "inserted"),
            group=groups.get(node.id),
            cost=None if step is None else CostReport.of(step.choice.workload.costs.stated),
            candidates=tuple(_candidate(c) for c in assignment.candidates.get(node.id, ())),
            refusals=tuple(
                RefusalRow(r.backend, r.reason) for r in assignment.refusals if r.node.id == node.id
            ),
        )
        for name, part in parts.items():
            yield from _rows(network, graph.subgraphs(node.id)[name], part)


def _candidate(candidate: Candidate) -> CandidateRow:
    costs, layout = candidate.costs, candidate.support.layout.value
    nodes = 1 if candidate.proposal is None else len(candidate.proposal.nodes)
    return CandidateRow(
        candidate.backend, candidate.title, nodes, layout, costs.macs, CostReport.of(costs.stated),
        costs.flash,
    )  # fmt: skip
