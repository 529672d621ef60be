"""Fuses Relu and Clip into the operator before them, as a clamp of its result.

For quantized operators this is the model's own arithmetic: the clamp happens before the rounding
to the output's scale, so no value is rounded twice.
"""

from __future__ import annotations

import math

from mcu_deploy import operators
from mcu_deploy.ir import Graph, GraphEditor, Node, NodeId
from mcu_deploy.passes.gemm import feeds_quantize


def fuse(graph: Graph, everywhere: bool = True) -> Graph:
    """With everywhere=False only where the clamp's result is quantized."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        if node.op in ("Relu", "Clip") and not node.domain:
            _fuse_one(editor, node.id, everywhere)
    return editor.finish()


def _fuse_one(graph: GraphEditor, node: NodeId, everywhere: bool) -> None:
    clamp = graph.nodes[node]
    x, y = clamp.input(0), clamp.writes[0]
    producer = graph.producer(x)
    if producer is None:
        return
    operator = operators.find(producer.domain, producer.op)
    if operator is None or not operator.takes_clamp:
        return
    if graph.sole_consumer(x) is None or not graph.type(y).dtype.is_float:
        return
    if not (everywhere or feeds_quantize(graph, x)):
        return
    bounds = _bounds(graph, clamp)
    if bounds is None:
        return
    attributes = dict(graph.attributes(producer.id))
    low, high = attributes.get("activation", (-math.inf, math.inf))
    # clip(clip(v, a, b), c, d) is one clamp where the intervals meet.
    low, high = min(max(low, bounds[0]), bounds[1]), max(min(high, bounds[1]), bounds[0])
    attributes["activation"] = (low, high)
    graph.fuse(
        [producer.id, clamp.id], producer.op, producer.inputs, [y], attributes, producer.name
    )


def _bounds(graph: GraphEditor, clamp: Node) -> tuple[float, float] | None:
    if clamp.op == "Relu":
        return 0.0, math.inf
    attributes = graph.attributes(clamp.id)
    found = [float(attributes.get("min", -math.inf)), float(attributes.get("max", math.inf))]
    for index in (1, 2):
        if len(clamp.inputs) > index and clamp.inputs[index] is not None:
            value = graph.constant(clamp.inputs[index])
            if value is None:
                return None
            found[index - 1] = float(value.reshape(-1)[0])
    if math.isnan(found[0]) or math.isnan(found[1]) or found[0] > found[1]:
        return None
    return found[0], found[1]
