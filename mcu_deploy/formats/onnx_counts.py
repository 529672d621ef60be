"""Tensors of which the values decide the size: planned for the most there can be.

NonZero, Compress, Unique and NonMaxSuppression get one output more: how many elements there are. It
is an output of the model, behind its own ones. What lies behind these elements is zero. The bound
goes on through operators that take each of the elements alone; where one computes with all of them,
as a sum does, nothing is bound, and the node stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy.formats.onnx_operators import counts_values, domain_of, text_of
from mcu_deploy.formats.onnx_subgraphs import free_names, put, static_shapes, subgraphs_of
from mcu_deploy.operators import find

# Of the nodes that have a bound, so that onnx's inference passes them by.
DOMAIN = "mcu.counts"
# A size's name until its bound stands in its place; no exporter gives it.
_NAME = "mcu count "
# Beside what is computed element by element: they move all that belongs to one of the elements.
_MOVES = {"Gather", "Identity", "Slice", "Squeeze", "Transpose", "Unsqueeze"}

_Place = tuple[str, int]


def bound_counts(model: onnx.ModelProto) -> bool:
    """Rewrites nodes whose outputs have a bound; whether there were any.

    Shapes are inferred already, and are to be inferred anew where something was rewritten.
    """
    graph = model.graph
    if not any(map(counts_values, graph.node)):
        return False
    if _choose(graph):
        return True
    named = onnx.ModelProto()
    named.CopyFrom(model)
    _forget_behind(named.graph)
    bounds = _name(named.graph)
    named = onnx.shape_inference.infer_shapes(named, data_prop=True)
    places = _places(named.graph)
    told = _told(named.graph, places)
    _take_types(graph, named.graph, places, {name: bounds[name] for name in told})
    for node in graph.node:
        name = places.get(next(iter(node.output), ""), ("", 0))[0]
        if counts_values(node) and name in told:
            _count(graph, node, *told[name])
    if told:
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return bool(told)


def _choose(graph: onnx.GraphProto) -> bool:
    """Makes a Gather of each Compress whose condition is constant: it counts nothing. Whether there
    was one."""
    constants = {t.name: t for t in graph.initializer}
    nodes, changed = [], False
    for node in graph.node:
        condition = constants.get(node.input[1]) if node.op_type == "Compress" else None
        if condition is None or not counts_values(node):
            nodes.append(node)
            continue
        changed = True
        (y,), data, axis = node.output, node.input[0], _attribute(node, "axis")
        if axis is None:
            graph.initializer.append(numpy_helper.from_array(np.array([-1]), f"{y} all"))
            nodes.append(helper.make_node("Reshape", [data, f"{y} all"], [f"{y} flat"]))
            data = f"{y} flat"
        chosen = np.flatnonzero(numpy_helper.to_array(condition))
        graph.initializer.append(numpy_helper.from_array(chosen, f"{y} chosen"))
        gather = helper.make_node("Gather", [data, f"{y} chosen"], [y], node.name, axis=axis or 0)
        nodes.append(gather)
    if changed:
        put(graph.node, nodes)
    return changed


def _attribute(node: onnx.NodeProto, name: str) -> int | None:
    return next((int(a.i) for a in node.attribute if a.name == name), None)


def _forget_behind(graph: onnx.GraphProto) -> None:
    """Removes the extents of what depends on a size that values decide, whatever an exporter has
    said of them."""
    behind: set[str] = set()
    for node in graph.node:
        if counts_values(node) or any(name in behind for name in node.input):
            behind.update(node.output)
    for name, type_ in _types(graph).items():
        if name in behind:
            for dim in type_.shape.dim:
                dim.Clear()


def _name(graph: onnx.GraphProto) -> dict[str, int]:
    """Gives a name to the size that each counting node decides; the most that these sizes are."""
    shapes = static_shapes(graph)
    constants = {t.name: t for t in graph.initializer}
    types = _types(graph)
    bounds: dict[str, int] = {}
    for node in graph.node:
        bound = _bound(node, shapes, constants) if counts_values(node) else 0
        if not bound or any(o and o not in types for o in node.output):
            continue
        name = f"{_NAME}{len(bounds)}"
        bounds[name] = bound
        for place, output in enumerate(node.output):
            if output:
                _shape(
                    types[output].shape, _extents(node, place, shapes[node.input[0]], name, bound)
                )
    return bounds


def _extents(
    node: onnx.NodeProto, place: int, x: Sequence[int], name: str, bound: int
) -> list[int | str]:
    """The extents of an output of a counting node, the name among them."""
    axis = _attribute(node, "axis")
    if node.op_type == "NonZero":
        return [len(x), name]
    if node.op_type == "NonMaxSuppression":
        return [name, 3]
    if place:  # of Unique; the third one says of each element where it is in the first
        return [bound if place == 2 else name]
    if axis is None:
        return [name]
    return [name if a == axis % len(x) else extent for a, extent in enumerate(x)]


def _shape(shape: onnx.TensorShapeProto, extents: Sequence[int | str]) -> None:
    del shape.dim[:]
    for extent in extents:
        if isinstance(extent, str):
            shape.dim.add().dim_param = extent
        else:
            shape.dim.add().dim_value = extent


def _types(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto.Tensor]:
    return {v.name: v.type.tensor_type for v in (*graph.value_info, *graph.output)}


def _bound(
    node: onnx.NodeProto,
    shapes: Mapping[str, Sequence[int]],
    constants: Mapping[str, onnx.TensorProto],
) -> int:
    """The most elements there can be; 0 where that is not known, or there is none."""
    known = [shapes.get(name) for name in node.input]
    x = known[0] if known else None
    if not x:  # a scalar has no places
        return 0
    axis = _attribute(node, "axis")
    most = math.prod(x) if axis is None or node.op_type == "NonZero" else x[axis]
    if node.op_type == "Compress":
        condition = known[1]
        return min(most, condition[0]) if condition else 0
    if node.op_type != "NonMaxSuppression":
        return most
    scores, given = known[1], node.input[2] if len(node.input) > 2 else ""
    if not scores or not given:  # without a number it takes none
        return 0
    boxes = scores[2]
    if given in constants:
        boxes = min(boxes, int(numpy_helper.to_array(constants[given]).reshape(-1)[0]))
    return scores[0] * scores[1] * max(boxes, 0)


def _places(graph: onnx.GraphProto) -> dict[str, _Place]:
    """The named size of each tensor that has one, and its axis."""
    places = {}
    for name, type_ in _types(graph).items():
        found = [(d.dim_param, a) for a, d in enumerate(type_.shape.dim)
                 if d.dim_param.startswith(_NAME)]  # fmt: skip
        if len(found) == 1:
            places[name] = found[0]
    return places


def _told(graph: onnx.GraphProto, places: Mapping[str, _Place]) -> dict[str, _Place]:
    """Of each size that no node computes with: the first output of the model that has it."""
    lost: set[str] = set()
    for node in graph.node:
        free = [n for inner in subgraphs_of(node).values() for n in free_names(inner)]
        read = {places[n][0] for n in (*node.input, *free) if n in places}
        if read and not (_is_alone(node) and not free and _keeps(node.output, read, places)):
            lost |= read
    told = {
        places[output.name][0]: (output.name, places[output.name][1])
        for output in reversed(graph.output)
        if output.name in places
    }
    return {name: place for name, place in told.items() if name not in lost}


def _is_alone(node: onnx.NodeProto) -> bool:
    """Whether a node makes each element, or all that belongs to one of the counted, of such."""
    op, domain = text_of(node.op_type), domain_of(node.domain)
    operator = find(domain, op)
    by_element = operator is not None and (operator.elementwise or operator.broadcasts)
    return not domain and (op in _MOVES or by_element)


def _keeps(written: Iterable[str], read: set[str], places: Mapping[str, _Place]) -> bool:
    """Whether all outputs have the one named size that was read."""
    return len(read) == 1 and all(places.get(o, ("", 0))[0] in read for o in written if o)


def _take_types(
    graph: onnx.GraphProto,
    named: onnx.GraphProto,
    places: Mapping[str, _Place],
    bounds: Mapping[str, int],
) -> None:
    """The types of tensors with a named size, the bound in its place."""
    found = _types(named)
    rewritten = {n for n, (size, _) in places.items() if size in bounds}
    for node in named.node:
        if any(output in rewritten for output in node.output):
            rewritten.update(output for output in node.output if output)
    for name in rewritten:
        if name in places:
            size, axis = places[name]
            found[name].shape.dim[axis].dim_value = bounds[size]
    kept = [v for v in graph.value_info if v.name not in rewritten]
    outputs = {output.name for output in graph.output}
    kept += [v for v in named.value_info if v.name in rewritten - outputs]
    put(graph.value_info, kept)
    for output in graph.output:
        if output.name in rewritten:
            output.type.tensor_type.CopyFrom(found[output.name])


def _count(graph: onnx.GraphProto, node: onnx.NodeProto, output: str, axis: int) -> None:
    """Adds the count to a node, and to the outputs of the model.

    given: the places of the outputs that the node has in ONNX. counted: of which output of the
    model it is the extent along which axis.
    """
    taken = {o.name for o in graph.output} | {n for other in graph.node for n in other.output}
    count = f"{output}_count"
    while count in taken:
        count += "_"
    node.domain = DOMAIN
    given = [place for place, name in enumerate(node.output) if name]
    node.output.append(count)
    node.attribute.extend([
        helper.make_attribute("given", given),
        helper.make_attribute("counted", output),
        helper.make_attribute("counted_axis", axis),
    ])  # fmt: skip
    graph.output.append(helper.make_tensor_value_info(count, TensorProto.INT64, []))
