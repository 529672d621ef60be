"""IF and WHILE: operators that run other subgraphs of the file, as ONNX's If and Loop; and
STABLEHLO_COMPOSITE, which names what a subgraph computes: its nodes stand in its place.

What TFLite gives a subgraph are its inputs, one after the other; it sees nothing else of the graph
around it. WHILE asks a subgraph before each round whether to go on. A Loop is given that answer for
the first round, and its body ends with the one for the next, so the nodes of that subgraph stand in
front of the Loop and once more at the end of its body. Where the number of rounds is known, nothing
is asked: counters are the number of the round, and lists that the rounds write are scan outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mcu_deploy.errors import shorten
from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, Refused, Subgraph, TfliteTensor
from mcu_deploy.formats.tflite_ops.rounds import CountedRounds, counted
from mcu_deploy.ir import DType, EdgeId, Graph, TensorType

_OUTSIDE = "Convert the model with its variables outside of branches and loops."


def _if(operation: Operation, graph: GraphBuilder) -> None:
    condition, given = operation.input(0), operation.given[1:]
    _require_values(operation, given)
    names = ("then_branch", "else_branch")
    held = {
        name: _branch(operation, subgraph, given)
        for name, subgraph in zip(names, operation.subgraphs, strict=True)
    }
    extra = [graph.read(tensor) for tensor in given]
    graph.add(
        operation, "If", [graph.read(condition)], operation.outputs, extra_inputs=extra,
        subgraphs=held,
    )  # fmt: skip


def _branch(operation: Operation, subgraph: Subgraph, given: Sequence[TfliteTensor]) -> Graph:
    _require_alike(operation, given, subgraph.inputs)
    _require_alike(operation, subgraph.outputs, operation.outputs)
    inner = GraphBuilder(subgraph.name)
    for tensor in subgraph.inputs:
        inner.add_input(tensor)
    _run(operation, subgraph, inner)
    return inner.finish_inner(operation, [inner.read(tensor) for tensor in subgraph.outputs])


def _while(operation: Operation, graph: GraphBuilder) -> None:
    ask, body = operation.subgraphs
    given = operation.given
    _require_values(operation, given)
    for others in (ask.inputs, body.inputs, body.outputs, operation.outputs):
        _require_alike(operation, given, others)
    if len(ask.outputs) != 1 or ask.outputs[0].type.dtype is not DType.BOOL:
        raise operation.damaged("its condition is not one truth value")
    if known := counted(operation):
        _add_counted(operation, known, graph)
        return
    states = [graph.read(tensor) for tensor in given]
    before = graph.beside()
    for tensor, edge in zip(ask.inputs, states, strict=True):
        before.bind(tensor, edge)
    _run(operation, ask, before)

    inner = GraphBuilder(body.name)
    inner.add_edge_input("round", TensorType(DType.INT64, ()))
    inner.add_edge_input("goes on", ask.outputs[0].type)
    for tensor in body.inputs:
        inner.add_input(tensor)
    _run(operation, body, inner)
    after = [inner.read(tensor) for tensor in body.outputs]
    again = inner.beside()
    for tensor, edge in zip(ask.inputs, after, strict=True):
        again.bind(tensor, edge)
    _run(operation, ask, again)
    held = inner.finish_inner(operation, [again.read(ask.outputs[0]), *after])
    graph.add(
        operation, "Loop", [None, before.read(ask.outputs[0]), *states], operation.outputs,
        subgraphs={"body": held},
    )  # fmt: skip


def _add_counted(operation: Operation, known: CountedRounds, graph: GraphBuilder) -> None:
    """The Loop of a known number of rounds."""
    body, given, outputs = known.body, operation.given, operation.outputs
    inner = GraphBuilder(body.name)
    number = inner.add_edge_input("round", TensorType(DType.INT64, ()))
    goes_on = inner.add_edge_input("goes on", TensorType(DType.BOOL, ()))
    for place, first in known.counters.items():
        _count(operation, inner, body.inputs[place], number, first)
        last = np.array(first + known.trips, given[place].type.dtype.numpy)
        value = graph.constant(f"{outputs[place].name} value", last)
        graph.add(operation, "Identity", [value], outputs[place])
    special = {*known.counters, *known.constant, *known.lists}
    carried = [place for place in range(len(given)) if place not in special]
    constant = sorted(known.constant)
    for place in (*carried, *constant):
        inner.add_input(body.inputs[place])
    _run(operation, body, inner)
    collected = []
    for place, element in known.lists.items():
        operation.require_alike(element, given[place])
        shape = given[place].type.shape[1:]
        collected.append(inner.reshaped(operation, inner.read(element), shape))
    after = [inner.read(body.outputs[place]) for place in carried]
    for place in constant:
        graph.add(operation, "Identity", [graph.read(given[place])], outputs[place])
    trips = graph.integers(f"{operation.name} rounds", known.trips)
    graph.add(
        operation, "Loop", [trips, None, *(graph.read(given[place]) for place in carried)],
        [outputs[place] for place in (*carried, *known.lists)],
        extra_inputs=[graph.read(given[place]) for place in constant],
        subgraphs={"body": inner.finish_inner(operation, [goes_on, *after, *collected])},
    )  # fmt: skip


def _count(
    operation: Operation, graph: GraphBuilder, counter: TfliteTensor, number: EdgeId, first: int
) -> None:
    """Makes a counter the number of the round, from its first value on."""
    counts = graph.edge(counter.name, replace(counter.type, shape=()))
    graph.add(operation, "Cast", [number], counts)
    if first:
        begin = graph.constant(f"{counter.name} first", np.array(first, counter.type.dtype.numpy))
        counted_on = graph.edge(counter.name, counter.type)
        graph.add(operation, "Add", [counts, begin], counted_on)
        counts = counted_on
    graph.bind(counter, counts)


def _composite(operation: Operation, graph: GraphBuilder) -> None:
    (subgraph,), given = operation.subgraphs, operation.given
    _require_values(operation, given)
    _require_alike(operation, given, subgraph.inputs)
    _require_alike(operation, subgraph.outputs, operation.outputs)
    inner = graph.beside()
    for ours, theirs in zip(given, subgraph.inputs, strict=True):
        inner.bind(theirs, graph.read(ours))
    _run(operation, subgraph, inner)
    for theirs, ours in zip(subgraph.outputs, operation.outputs, strict=True):
        graph.add(operation, "Identity", [inner.read(theirs)], ours)


def _run(operation: Operation, subgraph: Subgraph, graph: GraphBuilder) -> None:
    """Adds the nodes of a subgraph. Raises UnsupportedError with the operator inside of it that is
    not read."""
    from mcu_deploy.formats.tflite_ops import add_custom, converters

    for inner in subgraph.operations:
        called = f"{inner.kind} {shorten(inner.name)!r}"
        tensors = (*inner.inputs, *inner.outputs, *inner.intermediates)
        if any(t is not None and t.unreadable for t in tensors):
            raise operation.unsupported(
                f"runs {called}, whose tensors are not read", "Convert it with other types."
            )
        convert = add_custom if inner.custom else converters().get(inner.kind)
        if convert is None:
            raise operation.unsupported(
                f"runs {called}, which is not read from TFLite files", "Replace it in the model."
            )
        try:
            convert(inner, graph)
        except Refused as refused:
            clause, _, remedy = refused.clause.partition("; ")
            raise operation.unsupported(f"runs {called}: {clause}", f"There, {remedy}.") from None
    if any(graph.variables):
        raise operation.unsupported("keeps a variable inside of it", _OUTSIDE)


def _require_values(operation: Operation, given: Sequence[TfliteTensor]) -> None:
    if any(tensor.is_handle for tensor in given):
        raise operation.unsupported("hands a variable to what it runs", _OUTSIDE)


def _require_alike(
    operation: Operation, ours: Sequence[TfliteTensor], theirs: Sequence[TfliteTensor]
) -> None:
    """What goes in and out of a subgraph is copied as it is."""
    if len(ours) != len(theirs):
        raise operation.damaged(
            f"it hands {len(ours)} tensors to and from what it runs, which has {len(theirs)}"
        )
    for one, other in zip(ours, theirs, strict=True):
        operation.require_alike(one, other)
        if one.type.shape != other.type.shape:
            raise operation.unsupported(
                f"has the tensor {shorten(other.name)!r} of the shape {list(other.type.shape)} for "
                f"{shorten(one.name)!r} of {list(one.type.shape)}",
                "A tensor keeps its shape; convert the model so.",
            )


CONVERTERS = {"IF": _if, "STABLEHLO_COMPOSITE": _composite, "WHILE": _while}
