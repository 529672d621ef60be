"""Static shapes for Loop: what it carries keeps its shape, and a counted loop runs that often.

ONNX's inference leaves these shapes open, since a Loop may change them with each iteration. Here it
cannot: `onnx_control` checks that the body gives back the shapes that it was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import numpy_helper

from mcu_deploy.formats.onnx_subgraphs import (
    live_nodes,
    put,
    reads,
    state_shape,
    static_shapes,
    subgraphs_of,
)

# A damaged count must not make a huge tensor of a small one; the reader checks the bytes.
_MOST_TRIPS = 1 << 24
# Of a loop whose condition is computed here.
_MOST_ROUNDS = 255


def complete_loops(
    graph: onnx.GraphProto,
    opset: int,
    outer_constants: Mapping[str, onnx.TensorProto] | None = None,
    outer_shapes: Mapping[str, list[int]] | None = None,
) -> bool:
    """States shapes that are missing in and behind the loops of a graph; whether it did any."""
    constants = {**(outer_constants or {}), **{t.name: t for t in graph.initializer}}
    shapes = {**(outer_shapes or {}), **static_shapes(graph)}
    values = {v.name: v for v in (*graph.value_info, *graph.output)}
    changed = False
    for node in graph.node:
        bodies = subgraphs_of(node)
        for inner in bodies.values():
            changed = complete_loops(inner, opset, constants, shapes) or changed
        if node.op_type == "Loop" and node.domain in ("", "ai.onnx") and "body" in bodies:
            body = bodies["body"]
            behind = _behind(node, body, shapes, trips(node, body, constants, opset))
            found = [(values[name], shape) for name, shape in behind.items() if name in values]
            for value_info, shape in (*_inside(node, body, shapes), *found):
                changed = state_shape(value_info, shape) or changed
    return changed


def _inside(
    node: onnx.NodeProto, body: onnx.GraphProto, shapes: Mapping[str, list[int]]
) -> list[tuple[onnx.ValueInfoProto, list[int]]]:
    """The inputs of the body, with the shapes of what the loop is given."""
    given = zip(body.input[2:], node.input[2:], strict=False)
    scalars = [(value, list[int]()) for value in body.input[:2]]
    return scalars + [(inner, shapes[outer]) for inner, outer in given if outer in shapes]


def _behind(
    node: onnx.NodeProto,
    body: onnx.GraphProto,
    shapes: Mapping[str, list[int]],
    trips: int | None,
) -> dict[str, list[int]]:
    """The outputs of the loop: states like those it is given, and one element a trip."""
    states = max(0, len(node.input) - 2)
    found = {
        output: shapes[given]
        for output, given in zip(node.output, node.input[2:], strict=False)
        if given in shapes
    }
    inner = static_shapes(body)
    if trips is not None:
        elements = zip(node.output[states:], body.output[1 + states :], strict=False)
        found |= {o: [trips, *inner[e.name]] for o, e in elements if e.name in inner}
    return found


def trips(
    node: onnx.NodeProto,
    body: onnx.GraphProto,
    constants: Mapping[str, onnx.TensorProto],
    opset: int,
) -> int | None:
    """How often a loop runs whose condition stays true, or that has no count and a condition which
    is made of constants; None where that is not known."""
    if not 2 <= len(body.input) <= len(body.output) + 1:
        return None  # damaged
    if len(node.input) > 1 and not node.input[0]:
        return _rounds(node, body, constants, opset)
    count = _constant(node, 0, constants)
    condition = _constant(node, 1, constants)
    starts = len(node.input) < 2 or not node.input[1] or condition == 1
    if count is None or not starts:
        return None
    again = body.output[0].name
    copies = {n.output[0]: n.input[0] for n in body.node if n.op_type == "Identity" and n.input}
    while again in copies:
        again = copies.pop(again)
    inner = {t.name: t for t in body.initializer}
    if again != body.input[1].name and (again not in inner or _number(inner[again]) != 1):
        return None
    return count if 0 <= count <= _MOST_TRIPS else None


def cuts_by_round(body: onnx.GraphProto, constants: Mapping[str, onnx.TensorProto]) -> bool:
    """Whether a body has a Slice whose size is made of the counter and constants alone, and is not
    the same in all rounds as far as is known."""
    shapes = static_shapes(body)
    cuts = [n for n in body.node if n.op_type == "Slice" and n.output[0] not in shapes]
    part = onnx.GraphProto(node=body.node)
    bounds = {name for cut in cuts for name in cut.input[1:3]}
    put(part.output, [onnx.ValueInfoProto(name=name) for name in bounds])
    live = [part.node[index] for index in live_nodes(part)]
    read = bounds.union(*map(reads, live)).difference(*(node.output for node in live))
    return bool(cuts) and read <= {
        *constants,
        *(t.name for t in body.initializer),
        body.input[0].name,
    }


def _rounds(
    node: onnx.NodeProto,
    body: onnx.GraphProto,
    constants: Mapping[str, onnx.TensorProto],
    opset: int,
) -> int | None:
    """How many rounds there are until the condition is false; None where it is made of more than
    constants and states that are themselves made of such, or after `_MOST_ROUNDS`."""
    part = onnx.GraphProto()
    part.CopyFrom(body)
    carried: list[int] = []  # states that the condition depends on
    while True:
        put(part.output, [body.output[0], *(body.output[1 + k] for k in carried)])
        live = live_nodes(part)
        nodes = [inner for index, inner in enumerate(body.node) if index in live]
        read = {name for inner in nodes for name in reads(inner)} | {o.name for o in part.output}
        needed = [k for k, state in enumerate(body.input[2:]) if state.name in read]
        if needed == carried:
            break
        carried = needed
    put(part.node, nodes)
    put(part.input, [body.input[2 + k] for k in carried])
    from onnx.reference import ReferenceEvaluator  # slow to import, and few models need it

    try:
        outer = [t for name, t in constants.items() if name in read]
        put(part.initializer, [*body.initializer, *outer])
        evaluator = ReferenceEvaluator(part, {"": opset})
        names = [value.name for value in part.input]
        goes_on = numpy_helper.to_array(constants[node.input[1]]) if node.input[1] else True
        states = [numpy_helper.to_array(constants[node.input[2 + k]]) for k in carried]
        values: list[Any] = [goes_on, *states]
        for count in range(_MOST_ROUNDS + 1):
            if not values[0]:
                return count
            values = list(evaluator.run(None, dict(zip(names, values[1:], strict=True))))
    except Exception:  # what is computed or what the evaluator lacks
        return None
    return None


def _constant(
    node: onnx.NodeProto, index: int, constants: Mapping[str, onnx.TensorProto]
) -> int | None:
    name = node.input[index] if index < len(node.input) else ""
    return _number(constants[name]) if name in constants else None


def _number(tensor: onnx.TensorProto) -> int | None:
    value = numpy_helper.to_array(tensor)
    return int(value.reshape(-1)[0]) if value.size == 1 else None
