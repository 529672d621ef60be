"""Who computes which node, and why: what reports tell, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcu_deploy.backends.interface import (
    Backend,
    BackendBase,
    Layer,
    LayerSupport,
    MemoryManager,
    Operand,
    Support,
    WorkloadFactory,
    no,
)
from mcu_deploy.choose import Assignment, Candidate, Partition, Refusal
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import Graph, Node, NodeId
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.context import Reader, Writer
from mcu_deploy.pmx.damage import Damage
from mcu_deploy.pmx.records import record


class SavedBackend(BackendBase):
    """A backend as a file knows it: by its id. What it made is there, it itself need not be."""

    def __init__(self, backend_id: str) -> None:
        self.id = backend_id

    def layer_support(self) -> LayerSupport:
        return self

    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        return no("of it only the workloads were saved")

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        raise BackendFault(self.id, f"Of the backend {self.id} only the workloads were saved.")


# ---- Saving ----


def encode(writer: Writer, graph: Graph, assignment: Assignment) -> fb.AssignmentT:
    """An assignment, as far as it is about nodes of the graph as it is now."""
    made = fb.AssignmentT()
    nodes = graph.topology.nodes
    made.nodes = [_node(writer, graph, assignment, node) for node in nodes]
    made.refusals = [_refusal(writer, r) for r in assignment.refusals if r.node.id in nodes]
    kept = [(p.backend, tuple(n for n in p.nodes if n in nodes)) for p in assignment.partitions]
    made.partitions = [record(Partition).encode(writer, Partition(*p)) for p in kept]
    return made


def _node(writer: Writer, graph: Graph, assignment: Assignment, node: NodeId) -> fb.NodeAssignmentT:
    made = fb.NodeAssignmentT()
    made.node = writer.ids.node(node)
    if node in assignment.backends:
        made.backend = writer.number(assignment.backends[node].id)
        made.support = writer.number(assignment.supports[node])
    if node in assignment.chosen_by:
        made.chosenBy = writer.number(assignment.chosen_by[node])
    candidates = assignment.candidates.get(node)
    if candidates is not None:
        made.candidates = [record(Candidate).encode(writer, c) for c in candidates]
    made.subgraphs = [
        _subgraph(writer, name, graph.subgraphs(node)[name], inner)
        for name, inner in assignment.subgraphs.get(node, {}).items()
    ]
    return made


def _subgraph(
    writer: Writer, attribute: str, graph: Graph, assignment: Assignment
) -> fb.SubgraphAssignmentT:
    made = fb.SubgraphAssignmentT()
    made.attribute = writer.number(attribute)
    made.assignment = encode(writer, graph, assignment)
    return made


def _refusal(writer: Writer, refusal: Refusal) -> fb.RefusalT:
    made = fb.RefusalT()
    made.node = writer.ids.node(refusal.node.id)
    made.backend = writer.number(refusal.backend)
    made.reason = writer.number(refusal.reason)
    return made


# ---- Loading ----


def decode(reader: Reader, table: fb.Assignment | None, graph: Graph) -> Assignment:
    """An assignment over a graph that was read before."""
    if table is None:
        raise Damage("the assignment is missing")
    texts = reader.lists[str]
    backends: dict[NodeId, Backend] = {}
    supports: dict[NodeId, Support] = {}
    candidates: dict[NodeId, tuple[Candidate, ...]] = {}
    chosen_by: dict[NodeId, str] = {}
    subgraphs: dict[NodeId, Mapping[str, Assignment]] = {}
    for item in (table.Nodes(i) for i in range(table.NodesLength())):
        node = _known(graph, item.Node()).id
        support, chosen = item.Support(), item.ChosenBy()
        if support >= 0:
            supports[node] = reader.lists[Support][support]
            backends[node] = SavedBackend(texts[item.Backend()])
        if chosen >= 0:
            chosen_by[node] = texts[chosen]
        if not item.CandidatesIsNone():
            every = (item.Candidates(i) for i in range(item.CandidatesLength()))
            candidates[node] = tuple(record(Candidate).decode(reader, c) for c in every)
        inner = [item.Subgraphs(i) for i in range(item.SubgraphsLength())]
        if inner:
            subgraphs[node] = dict(_decode_subgraph(reader, s, graph, node) for s in inner)
    refusals = (table.Refusals(i) for i in range(table.RefusalsLength()))
    partitions = (table.Partitions(i) for i in range(table.PartitionsLength()))
    return Assignment(
        backends,
        supports,
        tuple(
            Refusal(_known(graph, r.Node()), texts[r.Backend()], texts[r.Reason()])
            for r in refusals
        ),
        tuple(record(Partition).decode(reader, p) for p in partitions),
        candidates,
        chosen_by,
        subgraphs,
    )


def _known(graph: Graph, node: NodeId) -> Node:
    found = graph.topology.nodes.get(node)
    if found is None:
        raise Damage(f"the assignment speaks of node {node}, which is not in the graph")
    return found


def _decode_subgraph(
    reader: Reader, table: fb.SubgraphAssignment, graph: Graph, node: NodeId
) -> tuple[str, Assignment]:
    attribute = reader.lists[str][table.Attribute()]
    inner = graph.subgraphs(node).get(attribute)
    if inner is None:
        raise Damage(f"the assignment speaks of a subgraph {attribute!r}, which is not there")
    return attribute, decode(reader, table.Assignment(), inner)
