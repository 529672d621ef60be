"""Kept tensors, partitions and states: from the names that a user gives to marks on the graph.

Between import and layouts the tensors that are asked for stand among the graph's outputs, behind
its own, so that every stage keeps them (ppl.nn: MarkAsOutput); positions in that list are
how they are found again when nodes around them have changed.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import RequestError, UsageError, shorten
from mcu_deploy.formats.imported import OwnState
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.ir.nested import graphs_within
from mcu_deploy.options import PartitionRequest, Requests, StateRequest


@dataclass(frozen=True)
class Marks:
    """Where the tensors that were asked for stand among the outputs of a marked graph.

    requests: what was asked for, names understood, and the states of the model itself. outputs: how
    many outputs the model has. at: the position by name, for tensors that are no inputs of the
    model. cuts: the positions of tensors through which partitions are reached. first: of the
    model's states the values in the first run, by their inputs.
    """

    requests: Requests
    outputs: int
    at: dict[str, int] = field(default_factory=dict)
    cuts: frozenset[int] = frozenset()
    first: Mapping[str, Array] = field(default_factory=dict)


def mark(graph: Graph, requests: Requests, states: Sequence[OwnState] = ()) -> tuple[Graph, Marks]:
    """The graph with the tensors that were asked for behind its outputs.

    states: those of the model itself. Raises UsageError for names that the model does not have, and
    for constants.
    """
    own = tuple(StateRequest(state.input, state.output) for state in states)
    requests = replace(
        requests,
        keep=tuple(dict.fromkeys(requests.keep)),
        partitions=tuple(_understood(graph, p) for p in requests.partitions),
        states=(*own, *requests.states),
    )
    outputs = list(graph.outputs)
    at: dict[str, int] = {}
    cuts: set[int] = set()

    def expose(name: str, what: str, is_cut: bool) -> None:
        edge = (find_cut if is_cut else find_stored)(graph, name, what)
        if graph.constant(edge) is not None:
            raise RequestError(
                f"{what} names {shorten(name)!r}, which is a constant of the model. Name a tensor "
                "that a run computes."
            )
        if edge in graph.inputs and is_cut:
            return
        if name not in at:
            at[name] = len(outputs)
            outputs.append(edge)
        if is_cut:
            cuts.add(at[name])

    for name in requests.keep:
        expose(name, f"--keep {shorten(name)}", is_cut=False)
    for partition in requests.partitions:
        for name in (*partition.inputs, *partition.outputs):
            expose(name, f"--partition {partition.name}", is_cut=True)
    _require_distinct([p.name for p in requests.partitions], "--partition")
    _require_distinct([s.input for s in requests.states], "--state")
    _require_distinct([s.output for s in requests.states], "--state")
    first = {state.input: state.first for state in states if state.first is not None}
    marks = Marks(requests, len(graph.outputs), at, frozenset(cuts), first)
    return replace(graph, topology=replace(graph.topology, outputs=tuple(outputs))), marks


def _understood(graph: Graph, request: PartitionRequest) -> PartitionRequest:
    """The way to read a request in which the model has every tensor; the first if none is."""
    known = set(graph.topology.edges.values())
    for inputs, outputs in ((request.inputs, request.outputs), *request.otherwise):
        if known.issuperset((*inputs, *outputs)):
            return PartitionRequest(request.name, inputs, outputs)
    return replace(request, otherwise=())


def find_cut(graph: Graph, name: str, what: str) -> EdgeId:
    """The edge at which a model is cut for the sake of this tensor.

    Raises UsageError, which begins with `what`, where the model has no tensor of this name.
    """
    return _end_of_integer_layer(graph, find_stored(graph, name, what))


def stored(graph: Graph, edge: EdgeId) -> EdgeId:
    """The edge that holds a tensor in memory.

    A real tensor between DequantizeLinear and QuantizeLinear is never there as such: what is in
    memory is the quantized tensor in front or behind. The model's own inputs and outputs are what
    they are.
    """
    if edge in graph.inputs or edge in graph.outputs:
        return edge
    producer = graph.producer(edge)
    if producer is not None and producer.op == "DequantizeLinear":
        source = producer.inputs[0]
        if source is not None and graph.constant(source) is None:
            return source
    readers = graph.consumers(edge)
    if len(readers) == 1 and readers[0].op == "QuantizeLinear":
        quantized = readers[0].outputs[0]
        return edge if quantized is None else quantized
    return edge


def find_stored(graph: Graph, name: str, what: str) -> EdgeId:
    """The edge that holds the tensor of this name in memory.

    Raises UsageError, which begins with `what`, where the model has no tensor of this name.
    """
    return stored(graph, _find(graph, name, what))


def _end_of_integer_layer(graph: Graph, edge: EdgeId) -> EdgeId:
    """Where the integer layer ends inside of which a real tensor would be computed.

    A cut between a quantized convolution and its activation is made behind both, where the tensor
    is quantized: everything between needs nothing else, so the parts make up the whole, and the
    layer stays one of integers.
    """
    end = edge
    if edge in graph.inputs:
        return edge
    while True:
        readers = graph.consumers(end)
        if not graph.type(end).dtype.is_float or end in graph.outputs or len(readers) != 1:
            return edge
        (reader,) = readers
        others = [e for e in reader.reads if e != end]
        if len(reader.writes) != 1 or not all(_is_fixed(graph, e) for e in others):
            return edge
        end = reader.writes[0]
        if reader.op == "QuantizeLinear":
            return end


def _is_fixed(graph: Graph, edge: EdgeId) -> bool:
    """Whether an edge is a constant, or computed from constants alone."""
    if graph.constant(edge) is not None:
        return True
    producer = graph.producer(edge)
    return producer is not None and all(_is_fixed(graph, e) for e in producer.reads)


def _find(graph: Graph, name: str, what: str) -> EdgeId:
    edge = graph.find_edge(name)
    if edge is None:
        for node in graph.nodes:
            if any(_has(inner, name) for inner in graph.subgraphs(node.id).values()):
                raise RequestError(
                    f"{what} names {shorten(name)!r}, which is inside of the {node.op} "
                    f"{shorten(node.name)!r}: it may be computed several times in a run, or never. "
                    "Name a tensor around it, such as what it puts out."
                )
        names = [n for n in graph.topology.edges.values() if n]
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = " A viewer of models, such as Netron, shows what they are called."
        if near:
            hint = f" Did you mean {' or '.join(shorten(n, 60) for n in near)}?"
        layer = next((n for n in graph.nodes if name in (n.short, n.name) and n.writes), None)
        if layer is not None:
            written = " or ".join(shorten(graph.edge_name(e), 60) for e in layer.writes)
            hint = f" It is a layer, which writes {written}."
        raise RequestError(
            f"{what} names {shorten(name)!r}, but the model has no tensor of this name.{hint}"
        )
    return edge


def _has(graph: Graph, name: str) -> bool:
    """Whether a graph, or one inside of it, has a tensor of this name."""
    return any(inner.find_edge(name) is not None for inner in graphs_within(graph))


def _require_distinct(names: Sequence[str], option: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{option} says {shorten(name)!r} twice; give each its own.")
