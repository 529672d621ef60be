"""MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL and REDUCE_ANY over axes."""

from __future__ import annotations

from typing import Any

import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import is_float
from mcu_deploy.ir import DType, TensorType


def _reduce(op: str) -> Any:
    def convert(operation: Operation, graph: GraphBuilder) -> None:
        keep = int(operation.options(tflite.ReducerOptions).KeepDims())
        x, y = operation.input(0), operation.output
        axes, edge = _axes(operation), graph.read(x)
        if not is_float(operation, x, y, wide=op in ("Mean", "Sum")) and op in ("Mean", "Sum"):
            attributes = {"axes": axes, "keepdims": keep}
            graph.add(operation, f"Reduce{op}", [edge], y, attributes, DOMAIN)
            return
        operation.require_alike(x, y)
        inputs, attributes = [edge], {"keepdims": keep}
        # Of ONNX's reductions in opset 17 only ReduceSum has its axes as an input.
        if op == "Sum":
            inputs.append(graph.integers(f"{y.name} axes", axes))
        else:
            attributes["axes"] = axes
        graph.add(operation, f"Reduce{op}", inputs, y, attributes)

    return convert


def _truths(extreme: str) -> Any:
    """The least or the greatest of truth values as integers."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        keep = int(operation.options(tflite.ReducerOptions).KeepDims())
        x, y = operation.input(0), operation.output
        if x.type.dtype is not DType.BOOL or y.type.dtype is not DType.BOOL:
            raise operation.damaged(f"it makes {y.type} of {x.type}")
        attributes = {"axes": _axes(operation), "keepdims": keep}
        numbers = graph.edge(f"{y.name} numbers", TensorType(DType.INT32, x.type.shape))
        found = graph.edge(f"{y.name} {extreme.lower()}", TensorType(DType.INT32, y.type.shape))
        graph.add(operation, "Cast", [graph.read(x)], numbers)
        graph.add(operation, f"Reduce{extreme}", [numbers], found, attributes)
        graph.add(operation, "Cast", [found], y)

    return convert


def _axes(operation: Operation) -> tuple[int, ...]:
    """The axes that are reduced, from the first one on."""
    x = operation.input(0)
    rank, given = x.type.rank, [int(a) for a in operation.constant(1).reshape(-1)]
    if not given or any(not -rank <= a < rank for a in given) or not x.type.elements:
        raise operation.damaged(f"its axes are {given}, and its input has {rank}")
    return tuple(sorted({a % rank for a in given}))


CONVERTERS = {
    "REDUCE_ALL": _truths("Min"),
    "REDUCE_ANY": _truths("Max"),
    "MEAN": _reduce("Mean"),
    "SUM": _reduce("Sum"),
    "REDUCE_MAX": _reduce("Max"),
    "REDUCE_MIN": _reduce("Min"),
}
