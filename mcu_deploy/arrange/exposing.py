"""Kept tensors, partitions and states after layouts: from the marks on the graph to its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcu_deploy.arrange import flow
from mcu_deploy.arrange.exposure import Exposure, Kept, Partition, State
from mcu_deploy.choose import Assignment
from mcu_deploy.errors import RequestError, shorten
from mcu_deploy.ir import EdgeId, Graph, GraphEditor
from mcu_deploy.options import Requests, StateRequest
from mcu_deploy.passes.marks import Marks


def settle(graph: Graph, marks: Marks, assignment: Assignment) -> tuple[Graph, Exposure]:
    """After layouts: the graph with its own outputs and the next values of its states, and what
    was asked for as edges."""
    requests = marks.requests
    graph = _apart_from_states(graph, requests, assignment)
    edges = {name: graph.outputs[position] for name, position in marks.at.items()}

    def edge(name: str) -> EdgeId:
        if name in edges:
            return edges[name]
        found = next((e for e in graph.inputs if graph.edge_name(e) == name), None)
        if found is None:  # the quantized input behind a name of the tensor that it stands for
            raise RequestError(
                f"--partition names {shorten(name)!r}, which is the model's input under another "
                "name. Name the input itself."
            )
        return found

    states = tuple(_state(graph, marks, request) for request in requests.states)
    partitions = tuple(
        Partition(
            p.name, tuple(edge(name) for name in p.inputs), tuple(edge(name) for name in p.outputs)
        )
        for p in requests.partitions
    )
    kept = tuple(Kept(name, edges[name]) for name in requests.keep)
    hidden = {request.output for request in requests.states}
    shown = [e for e in graph.outputs[: marks.outputs] if graph.edge_name(e) not in hidden]
    outputs = (*shown, *(state.output for state in states))
    settled = replace(graph, topology=replace(graph.topology, outputs=outputs))
    return settled, Exposure(kept, partitions, states)


def _apart_from_states(graph: Graph, requests: Requests, assignment: Assignment) -> Graph:
    """The graph with a copy wherever an output is the memory of a state.

    At the end of a run the state's next value is written over the old one: who wants the old one
    (an output, a kept tensor, the next value of another state, as in a delay line) takes a copy.
    """
    names = {request.input for request in requests.states}
    states = {edge for edge in graph.inputs if graph.edge_name(edge) in names}
    editor = GraphEditor(graph)
    copies: dict[EdgeId, EdgeId] = {}
    for position, edge in enumerate(graph.outputs):
        if flow.source(graph, edge, lambda node: flow.passes_on(node, assignment)) not in states:
            continue
        if edge not in copies:
            name = graph.edge_name(edge)
            copies[edge] = editor.add_edge(name, graph.type(edge))
            # An Identity may be a view; this one is always a copy.
            editor.add_node("Reorder", [edge], [copies[edge]], f"{name} copied", {}, "mcu")
        editor.outputs[position] = copies[edge]
    return editor.finish() if copies else graph


def _state(graph: Graph, marks: Marks, request: StateRequest) -> State:
    what = f"--state {shorten(request.input)}={shorten(request.output)}"

    def named(kind: str, name: str, edges: Sequence[EdgeId]) -> EdgeId:
        known = {graph.edge_name(edge): edge for edge in edges}
        if name not in known:
            raise RequestError(
                f"{what}: the model has no {kind} {shorten(name)!r}; it has "
                f"{', '.join(shorten(n, 40) for n in known)}."
            )
        return known[name]

    source = named("input", request.input, graph.inputs)
    target = named("output", request.output, graph.outputs[: marks.outputs])
    before, after = graph.type(source), graph.type(target)
    if (before.dtype, before.shape, before.quantization) != (
        after.dtype, after.shape, after.quantization,
    ):  # fmt: skip
        raise RequestError(
            f"{what}: the input is {before} and the output {after}; what is carried from run to "
            "run must be alike, quantization included. Change the model so that they are."
        )
    initial = marks.first.get(request.input)
    if (
        initial is None
        and before.quantization is not None
        and before.quantization.zero_point[0] != 0
    ):
        initial = np.full(before.shape, before.quantization.zero_point[0], before.dtype.numpy)
    return State(request.input, source, target, initial)
