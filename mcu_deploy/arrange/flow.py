"""Control flow between layouts and selection: one numbering for the graphs inside of graphs.

The plan holds the tensors of all graphs of a model, so no two may have one id, and an edge that a
subgraph reads from outside is the edge outside. What a loop carries is copied at the end of a
round, one state after the other: where a body gives back what it got as another state, as it is, a
copy of that is made before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from mcu_deploy import operators
from mcu_deploy.backends.interface import LayoutRule
from mcu_deploy.choose import Assignment, Group, Rejection
from mcu_deploy.errors import ModelError
from mcu_deploy.ir import (
    DType,
    EdgeId,
    Graph,
    GraphData,
    GraphEditor,
    Node,
    NodeId,
    TensorType,
    Topology,
)

T = TypeVar("T")


# ---- What Loop and Scan mean ----


@dataclass(frozen=True)
class Carried:
    """A value that goes from round to round: what it is first, the body's input that holds it, the
    body's output that it is next, and the node's output that it is behind the last round.

    The condition of a Loop is carried too, and is no output.
    """

    initial: EdgeId | None
    state: EdgeId
    next: EdgeId
    result: EdgeId | None


@dataclass(frozen=True)
class Slices:
    """A tensor of the node of which each round reads or writes one element, along an axis."""

    whole: EdgeId
    element: EdgeId
    axis: int
    backwards: bool = False


@dataclass(frozen=True)
class Rounds:
    """A Loop or a Scan, as what is done in each round.

    number: the body's input that counts the rounds; trips: the edge that says how many there are
    at most; condition: of these that are carried, the one that must hold before each round; count:
    how many rounds the static shapes ask for. None: there is none.
    """

    body: Graph
    carried: tuple[Carried, ...]
    taken: tuple[Slices, ...]
    collected: tuple[Slices, ...]
    number: EdgeId | None = None
    trips: EdgeId | None = None
    condition: Carried | None = None
    count: int | None = None


def rounds_of(graph: Graph, node: Node) -> Rounds:
    """What a Loop (1 and later) or a Scan (9 and later) of a numbered graph means."""
    body = graph.subgraphs(node.id)["body"]
    return _loop(graph, node, body) if node.op == "Loop" else _scan(graph, node, body)


def _loop(graph: Graph, node: Node, body: Graph) -> Rounds:
    trips, going, *initials = node.inputs
    count, holds, *inputs = _formal(node, body)
    again, *outputs = body.outputs
    results = node.writes
    carried = tuple(map(Carried, initials, inputs, outputs, results))
    collected = tuple(
        Slices(whole, element, 0)
        for whole, element in zip(results[len(initials) :], outputs[len(initials) :], strict=True)
    )
    condition = None if _always(graph, body, going, again) else Carried(going, holds, again, None)
    rounds = {graph.type(s.whole).shape[0] for s in collected}
    return Rounds(
        body, (*carried, *((condition,) if condition else ())), (), collected, count, trips,
        condition, min(rounds, default=None),
    )  # fmt: skip


def _always(graph: Graph, body: Graph, first: EdgeId | None, again: EdgeId) -> bool:
    """Whether a Loop's condition is true from the first round to the last."""
    starts = first is None or _is_true(graph, first)
    holds = body.inputs[1]
    is_read = bool(body.topology.consumers.get(holds)) or holds in body.outputs[1:]
    return starts and not is_read and (again == holds or _is_true(body, again))


def _is_true(graph: Graph, edge: EdgeId) -> bool:
    value = graph.constant(edge)
    return value is not None and bool(value.reshape(-1)[0])


def _scan(graph: Graph, node: Node, body: Graph) -> Rounds:
    attributes = graph.attributes(node.id)
    formal, results = _formal(node, body), node.writes
    states = len(formal) - int(attributes["num_scan_inputs"])

    def slices(
        what: str, wholes: Collection[EdgeId | None], elements: Collection[EdgeId]
    ) -> tuple[Slices, ...]:
        zeros = (0,) * len(elements)
        axes = attributes.get(f"scan_{what}_axes", zeros)
        directions = attributes.get(f"scan_{what}_directions", zeros)
        return tuple(
            Slices(whole, element, int(axis) % graph.type(whole).rank, bool(direction))
            for whole, element, axis, direction in zip(
                wholes, elements, axes, directions, strict=True
            )
            if whole is not None
        )

    taken = slices("input", node.inputs[states:], formal[states:])
    return Rounds(
        body,
        tuple(map(Carried, node.inputs[:states], formal, body.outputs, results[:states])),
        taken,
        slices("output", results[states:], body.outputs[states:]),
        count=graph.type(taken[0].whole).shape[taken[0].axis],
    )


def _formal(node: Node, body: Graph) -> tuple[EdgeId, ...]:
    """The inputs of a body without those that it reads from outside."""
    return body.inputs[: len(body.inputs) - len(node.extra_inputs)]


# ---- Numbering ----


def number(graph: Graph, assignment: Assignment) -> tuple[Graph, Assignment]:
    """The graph and its assignment with ids that are distinct over all graphs inside of it."""
    if not graph.data.subgraphs:
        return graph, assignment
    return _Numbering(graph).run(graph, assignment)


class _Numbering:
    """Gives new ids: where the next ones stand."""

    def __init__(self, graph: Graph) -> None:
        self._next_node, self._next_edge = graph.topology.next_node, graph.topology.next_edge

    def run(self, graph: Graph, assignment: Assignment) -> tuple[Graph, Assignment]:
        """Numbers the graphs inside of one that is numbered."""
        editor = GraphEditor(_from(graph, self._next_node, self._next_edge))
        for node in graph.nodes:
            if node.op == "Loop" and graph.subgraphs(node.id) and node.inputs[1] is None:
                true = editor.add_constant("true", np.array(True), TensorType(DType.BOOL, ()))
                editor.set_inputs(node.id, [node.inputs[0], true, *node.inputs[2:]])
        graph = self._take(editor)
        editor = GraphEditor(graph)
        inner: dict[NodeId, Mapping[str, Assignment]] = {}
        for node in graph.nodes:
            if node.op == "Scan" and graph.opset < 9:
                raise ModelError(
                    f"The Scan {node.name!r} is of opset 8, and its items have lengths of their "
                    "own. Export the model to opset 9 or later."
                )
            split = assignment.subgraphs.get(node.id, {})
            found = {
                name: self._inside(graph, node, held, split.get(name, Assignment({}, {})))
                for name, held in graph.subgraphs(node.id).items()
            }
            if found:
                extra = tuple(dict.fromkeys(node.extra_inputs))
                editor.put(replace(node, extra_inputs=extra))
                editor.subgraphs[node.id] = {name: g for name, (g, _) in found.items()}
            if split:
                inner[node.id] = {name: a for name, (_, a) in found.items()}
        made = editor.finish()
        return made, replace(assignment, subgraphs=inner)

    def _take(self, editor: GraphEditor) -> Graph:
        graph = editor.finish()
        self._next_node, self._next_edge = graph.topology.next_node, graph.topology.next_edge
        return graph

    def _inside(
        self, outer: Graph, holder: Node, graph: Graph, assignment: Assignment
    ) -> tuple[Graph, Assignment]:
        """A graph that a node holds, with new ids; its extra inputs are the edges outside."""
        blank = replace(graph, topology=Topology({}, {}, (), (), 0, 0), data=GraphData({}, {}, {}))
        editor = GraphEditor(_from(blank, self._next_node, self._next_edge))
        formal = len(graph.inputs) - len(holder.extra_inputs)
        edges = dict(zip(graph.inputs[formal:], holder.extra_inputs, strict=True))
        for inside, outside in edges.items():
            editor.edges[outside] = graph.edge_name(inside)
            editor.types[outside] = graph.type(inside)
        for edge in (*graph.inputs[:formal], *graph.outputs):
            if edge not in edges:
                edges[edge] = editor.add_edge(graph.edge_name(edge), graph.type(edge))
                value = graph.constant(edge)
                if value is not None:
                    editor.constants[edges[edge]] = value
        added = editor.add_graph(graph, edges)
        editor.inputs = list(dict.fromkeys(edges[e] for e in graph.inputs))
        editor.outputs = _without_identities(editor, [edges[e] for e in graph.outputs])
        pairs = zip(graph.nodes, added, strict=True)
        nodes = {old.id: new for old, new in pairs if new in editor.nodes}
        renamed = _renamed(assignment, nodes, editor.nodes)
        if holder.op == "Loop":
            _part_states(editor, 1, len(holder.inputs) - 1, renamed)
        elif holder.op == "Scan":
            taken = int(outer.attributes(holder.id)["num_scan_inputs"])
            _part_states(editor, 0, len(holder.inputs) - taken, renamed)
        return self.run(self._take(editor), renamed)


def _from(graph: Graph, node: NodeId, edge: EdgeId) -> Graph:
    """The graph, of which an editor gives ids from these on."""
    return replace(graph, topology=replace(graph.topology, next_node=node, next_edge=edge))


def _without_identities(editor: GraphEditor, outputs: Sequence[EdgeId]) -> list[EdgeId]:
    """What outputs are that an Identity puts out: no one asks for their names."""
    editor.outputs = list(outputs)
    graph = editor.finish()

    def is_same(node: Node) -> bool:
        x, y = node.inputs[0], node.outputs[0]
        return (
            node.op == "Identity"
            and x is not None
            and y is not None
            and graph.type(x) == graph.type(y)
        )

    return [source(graph, edge, is_same) for edge in outputs]


def _part_states(editor: GraphEditor, first: int, count: int, assignment: Assignment) -> None:
    """Puts a copy before each output of a body that is, as it is, what another one carries.

    first: which input of the body is the first that is carried; count: how many are.
    """
    body = editor.finish()
    states = body.inputs[first : first + count]
    for index, state in enumerate(states):
        edge = body.outputs[index]
        if source(body, edge, lambda node: passes_on(node, assignment)) in {*states} - {state}:
            name = f"{body.edge_name(edge)} copied"
            copy = editor.add_edge(name, replace(body.type(edge), layout=None))
            editor.add_node("Reorder", [edge], [copy], name, {}, "mcu")
            editor.outputs[index] = copy


def passes_on(node: Node, assignment: Assignment) -> bool:
    """Whether a node's output may be a view of its first input."""
    operator, support = operators.find(node.domain, node.op), assignment.supports.get(node.id)
    # A backend may make a view although its layout rule does not say so.
    if operator is not None and operator.view:
        return True
    return support is not None and support.layout is LayoutRule.VIEW


def source(graph: Graph, edge: EdgeId, is_passed: Callable[[Node], bool]) -> EdgeId:
    """Where a value comes from, through nodes that pass it on."""
    producer = graph.producer(edge)
    while producer is not None and producer.inputs[0] is not None and is_passed(producer):
        edge = producer.inputs[0]
        producer = graph.producer(edge)
    return edge


def _renamed(
    assignment: Assignment, ids: Mapping[NodeId, NodeId], nodes: Mapping[NodeId, Node]
) -> Assignment:
    """An assignment in which nodes have other ids. What is gone from the graph is left out."""

    def moved(table: Mapping[NodeId, T]) -> dict[NodeId, T]:
        return {ids[node]: value for node, value in table.items() if node in ids}

    return Assignment(
        moved(assignment.backends),
        moved(assignment.supports),
        tuple(
            Rejection(nodes[ids[r.node.id]], r.backend, r.reason)
            for r in assignment.refusals
            if r.node.id in ids
        ),
        tuple(
            Group(p.backend, tuple(ids[n] for n in p.nodes if n in ids)) for p in assignment.groups
        ),
        moved(assignment.candidates),
        moved(assignment.chosen_by),
        moved(assignment.subgraphs),
        moved(assignment.proposals),
    )
