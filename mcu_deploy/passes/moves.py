"""Lets operators that only move elements move integers instead of reals.

Quantizing works on each element by itself, so it commutes with a move: DequantizeLinear goes behind
the operators that move its elements, QuantizeLinear before those that move what it reads. A
Transpose, a Pad or a Concat between them is then an integer operator, and what is around it can be
a sandwich.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mcu_deploy import operators
from mcu_deploy.arithmetic import Array, dequantize, quantize
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, Node, TensorType
from mcu_deploy.ir.graph import freeze
from mcu_deploy.operators import Call
from mcu_deploy.operators.base import evaluate
from mcu_deploy.passes.quantization import BYTES, converts, dequantizer, moved, quantizer


def commute(graph: Graph) -> Graph:
    """The graph in which elements are moved as integers, wherever a move is beside a Q or DQ."""
    if not any(converts(node) for node in graph.nodes):
        return graph
    editor = GraphEditor(graph)
    moves = [node for node in graph.nodes if moved(node)]
    for node in moves:
        if node.op == "Pad":
            _write_pad_value(editor, node)
        _sink(editor, editor.nodes[node.id], graph.opset)
    for node in reversed(moves):
        if node.id in editor.nodes:
            _hoist(editor, editor.nodes[node.id])
    return editor.finish()


def _write_pad_value(graph: GraphEditor, pad: Node) -> None:
    """Lets a Pad of reals say what it pads with, which may be left out."""
    attributes, (data, *others) = graph.attributes(pad.id), pad.inputs
    given = others[1:2] not in ([], [None])
    if given or attributes.get("mode", "constant") != "constant":
        return
    if data is None or graph.type(data).dtype is not DType.FLOAT32:
        return
    value = np.array(attributes.get("value", 0.0), np.float32)
    edge = graph.add_constant(f"{pad.name} value", value, TensorType(DType.FLOAT32, ()))
    graph.put(replace(pad, inputs=(data, *(*others, None)[:1], edge, *others[2:])))


def _real(graph: GraphEditor, edge: EdgeId) -> Array | None:
    """The real value of a constant, be it behind a DequantizeLinear."""
    source = dequantizer(graph, edge)
    if source is None:
        return graph.constant(edge)
    integers = graph.constant(source.inputs[0])
    return None if integers is None else dequantize(integers, graph.type(source.reads[0]))


def _sink(graph: GraphEditor, node: Node, opset: int) -> None:
    """M(DequantizeLinear(x)) as DequantizeLinear(M(x)), where all that is moved has one scale.

    A constant beside x, such as a Pad's value, has to be one of the numbers that the scale knows.
    """
    edges = moved(node)
    sources = {edge: dequantizer(graph, edge) for edge in edges}
    first = next(
        (s for e, s in sources.items() if s and _real(graph, e) is None), sources[edges[0]]
    )
    if first is None:
        return
    type_ = graph.type(first.reads[0])
    says, attributes = type_.scaling, dict(graph.attributes(first.id))
    behind = {e for e in node.reads if e not in edges and graph.constant(e) is None}
    is_constant = _real(graph, first.writes[0]) is not None and not behind
    if not is_constant and not (says.per_tensor and type_.dtype in BYTES):
        return
    if not says.per_tensor:
        axis = _moved_axis(graph, node) if len(edges) == 1 else None
        if axis is None:
            return
        says, attributes["axis"] = replace(says, axis=axis), axis
    scalar = TensorType(type_.dtype, (), says)
    inputs: dict[EdgeId, EdgeId] = {}
    for edge, source in sources.items():
        if source is not None and _alike(graph.type(source.reads[0]), type_):
            inputs[edge] = source.reads[0]
            continue
        real = _real(graph, edge)
        if real is None or not np.array_equal(dequantize(quantize(real, scalar), scalar), real):
            return
        inputs[edge] = _constant(graph, edge, quantize(real, scalar), scalar)
    outputs: dict[EdgeId, EdgeId] = {}
    for edge in node.writes:
        old = graph.type(edge)
        if old.dtype is DType.FLOAT32:  # a MaxPool also writes positions
            outputs[edge] = graph.add_edge(graph.edge_name(edge), replace(scalar, shape=old.shape))
            arguments = [outputs[edge], *first.inputs[1:]]
            graph.add_node(
                "DequantizeLinear", arguments, [edge], first.name, attributes,
                short=first.short, beside=node.id,
            )  # fmt: skip
    _replace(graph, node, inputs, outputs)
    _evaluate(graph, graph.nodes[node.id], opset)


def _alike(a: TensorType, b: TensorType) -> bool:
    """Whether equal integers mean equal numbers."""
    return (a.dtype, a.quantization) == (b.dtype, b.quantization)


def _moved_axis(graph: GraphEditor, node: Node) -> int | None:
    """Where the axis that weights are quantized along is behind a move; None where it is lost."""
    (edge,), result = moved(node), node.writes[0]
    source = dequantizer(graph, edge)
    x, y = graph.type(edge if source is None else source.reads[0]), graph.type(result)
    axis = x.scaling.axis
    assert axis is not None
    if node.op == "Transpose":
        perm = graph.attributes(node.id).get("perm", tuple(reversed(range(x.rank))))
        return tuple(perm).index(axis)
    if not operators.lookup(node.domain, node.op).view:
        return None
    # In memory the axis stays what it is where it has as much before it, and so behind it.
    size, before = x.shape[axis], math.prod(x.shape[:axis])
    alike = (n for n, count in enumerate(y.shape) if count == size)
    return next((n for n in alike if math.prod(y.shape[:n]) == before), None)


def _evaluate(graph: GraphEditor, node: Node, opset: int) -> None:
    """Replaces a node that moves constants alone by what it gives."""
    operator = operators.find(node.domain, node.op)
    if operator is None or any(graph.constant(edge) is None for edge in node.reads):
        return
    call = Call(
        node.op, graph.attributes(node.id), tuple(graph.constant(e) for e in node.inputs),
        tuple(None if e is None else graph.type(e) for e in node.inputs),
        tuple(graph.type(e) for e in node.writes), opset,
    )  # fmt: skip
    graph.remove_node(node.id)
    for edge, value in zip(node.writes, evaluate(operator, call), strict=True):
        graph.constants[edge] = freeze(value)


def _hoist(graph: GraphEditor, node: Node) -> None:
    """QuantizeLinear(M(x)) as M(QuantizeLinear(x)), where all that M writes is quantized alike."""
    behind = {
        e: quantizer(graph, e) for e in node.writes if graph.consumers(e) or e in graph.outputs
    }
    first = next(iter(behind.values()), None)
    if first is None or not all(_worth(graph, node, edge) for edge in moved(node)):
        return
    scalar = replace(graph.type(first.writes[0]), shape=())
    if any(
        q is None or replace(graph.type(q.writes[0]), shape=()) != scalar for q in behind.values()
    ):
        return
    inputs: dict[EdgeId, EdgeId] = {}
    for edge in dict.fromkeys(moved(node)):
        real = _real(graph, edge)
        if real is not None:
            inputs[edge] = _constant(graph, edge, quantize(real, scalar), scalar)
            continue
        type_ = replace(scalar, shape=graph.type(edge).shape)
        inputs[edge] = graph.add_edge(graph.edge_name(edge), type_)
        arguments, attributes = [edge, *first.inputs[1:]], graph.attributes(first.id)
        graph.add_node(
            "QuantizeLinear", arguments, [inputs[edge]], first.name, attributes,
            short=first.short, beside=node.id,
        )  # fmt: skip
    outputs = {edge: q.writes[0] for edge, q in behind.items() if q is not None}
    for edge in node.writes:
        if edge in outputs:
            graph.remove_node(graph.consumers(edge)[0].id)
        elif graph.type(edge).dtype is DType.FLOAT32:  # nothing reads it
            type_ = replace(scalar, shape=graph.type(edge).shape)
            outputs[edge] = graph.add_edge(graph.edge_name(edge), type_)
    _replace(graph, node, inputs, outputs)


def _worth(graph: GraphEditor, node: Node, edge: EdgeId) -> bool:
    """Whether quantizing before the move costs nothing more, or lets an integer operator be."""
    if _real(graph, edge) is not None or dequantizer(graph, edge) is not None:
        return True
    if graph.sole_consumer(edge) is None:
        return False
    producer = graph.producer(edge)
    operator = None if producer is None else operators.find(producer.domain, producer.op)
    if operator is not None and (operator.quantized is not None or operator.moves is not None):
        return True
    return graph.type(edge).elements <= sum(graph.type(e).elements for e in node.writes)


def _constant(graph: GraphEditor, edge: EdgeId, value: Array, scalar: TensorType) -> EdgeId:
    return graph.add_constant(graph.edge_name(edge), value, replace(scalar, shape=value.shape))


def _replace(
    graph: GraphEditor,
    node: Node,
    inputs: Mapping[EdgeId, EdgeId],
    outputs: Mapping[EdgeId, EdgeId],
) -> None:
    """Lets a node move other edges; a Where's condition and a Pad's amounts stay."""
    places, read = operators.lookup(node.domain, node.op).moves, list(node.inputs)
    assert places is not None
    read[places] = [None if e is None else inputs[e] for e in read[places]]
    written = [None if e is None else outputs.get(e, e) for e in node.outputs]
    graph.put(replace(node, inputs=tuple(read), outputs=tuple(written)))
