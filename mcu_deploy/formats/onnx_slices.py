"""Shapes for Slices whose bounds are computed at run time, and lie a constant apart: windows.

ONNX's inference leaves their size open. `x[i : i + 3]` has three elements wherever it begins; that
it does not begin too late is checked when it is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

import onnx
from onnx import numpy_helper

from mcu_deploy.formats.onnx_operators import domain_of
from mcu_deploy.formats.onnx_subgraphs import state_shape, static_shapes, subgraphs_of

# Of one element, its value.
_COPIES = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"}


@dataclass(frozen=True)
class _Sum:
    """One element: a computed one ("" for none) and what is added to it."""

    computed: str
    added: int


def size_windows(
    graph: onnx.GraphProto,
    outer_shapes: Mapping[str, list[int]] | None = None,
    outer_sums: Mapping[str, _Sum] | None = None,
) -> bool:
    """States the shapes of such Slices along one axis, in a graph and in those inside of it;
    whether it did any."""
    shapes = {**(outer_shapes or {}), **static_shapes(graph)}
    sums = {**(outer_sums or {}), **_constants(graph)}
    values = {v.name: v for v in (*graph.value_info, *graph.output)}
    changed = False
    for node in graph.node:
        for inner in subgraphs_of(node).values():
            changed = size_windows(inner, shapes, sums) or changed
        if domain_of(node.domain):
            continue
        if node.op_type == "Slice" and node.output[0] in values:
            shape = _shape(node, sums, shapes)
            changed = (bool(shape) and state_shape(values[node.output[0]], shape)) or changed
        elif (sum_ := _sum(node, sums)) is not None:
            sums[node.output[0]] = sum_
    return changed


def _constants(graph: onnx.GraphProto) -> dict[str, _Sum]:
    values = {t.name: numpy_helper.to_array(t) for t in graph.initializer if t.dims in ([], [1])}
    return {n: _Sum("", int(v.item())) for n, v in values.items() if v.dtype.kind == "i"}


def _sum(node: onnx.NodeProto, sums: Mapping[str, _Sum]) -> _Sum | None:
    """What a node computes, where it is such an element."""
    given = [sums.get(name, _Sum(name, 0)) for name in node.input]
    if node.op_type in _COPIES or (node.op_type == "Concat" and len(given) == 1):
        return given[0]
    if node.op_type == "Sub" and not given[1].computed:
        return _Sum(given[0].computed, given[0].added - given[1].added)
    if node.op_type == "Add" and not (given[0].computed and given[1].computed):
        return _Sum(given[0].computed or given[1].computed, given[0].added + given[1].added)
    return None


def _shape(
    node: onnx.NodeProto, sums: Mapping[str, _Sum], shapes: Mapping[str, list[int]]
) -> list[int]:
    """Of a Slice that is such a window; [] of others."""
    shape = list(shapes.get(node.input[0], []))
    if len(node.input) < 3 or any(shapes.get(name) != [1] for name in node.input[1:3]):
        return []
    given = [sums.get(name, _Sum(name, 0)) if name else None for name in node.input[1:5]]
    start, end, axis, step = (
        sum_ or _Sum("", default) for sum_, default in zip_longest(given, (0, 0, 0, 1))
    )
    is_window = start.computed and start.computed == end.computed
    if not is_window or axis.computed or step.computed or not step.added:
        return []
    count = -((start.added - end.added) // step.added)
    if not -len(shape) <= axis.added < len(shape) or not 0 <= count <= shape[axis.added]:
        return []
    shape[axis.added] = count
    return shape
