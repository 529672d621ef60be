"""MEAN, SUM, REDUCE_MAX and REDUCE_MIN over axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import is_float


def _reduce(op: str) -> Any:
    def convert(operation: Operation, graph: GraphBuilder) -> None:
        keep = int(operation.options(tflite.ReducerOptions).KeepDims())
        x, y = operation.input(0), operation.output
        rank = x.type.rank
        given = [int(a) for a in operation.constant(1).reshape(-1)]
        if not given or any(not -rank <= a < rank for a in given) or not x.type.elements:
            raise operation.damaged(f"its axes are {given}, and its input has {rank}")
        axes = tuple(sorted({a % rank for a in given}))
        edge = graph.read(x)
        if not is_float(operation, x, y) and op in ("Mean", "Sum"):
            attributes = {"axes": axes, "keepdims": keep}
            graph.add(operation, f"Reduce{op}", [edge], y, attributes, DOMAIN)
            return
        operation.require_alike(x, y)
        inputs, attributes = [edge], {"keepdims": keep}
        # Of ONNX's reductions in opset 17 only ReduceSum has its axes as an input.
        if op == "Sum":
            inputs.append(graph.constant(f"{y.name} axes", np.array(axes, np.int64)))
        else:
            attributes["axes"] = axes
        graph.add(operation, f"Reduce{op}", inputs, y, attributes)

    return convert


CONVERTERS = {
    "MEAN": _reduce("Mean"),
    "SUM": _reduce("Sum"),
    "REDUCE_MAX": _reduce("Max"),
    "REDUCE_MIN": _reduce("Min"),
}
