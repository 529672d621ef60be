"""EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL.

Bytes are compared as TFLite does: each in steps of 1/256 (reference/comparisons.h, a left shift of
8), by a table of its own. Where both have one scale, and neighbours are steps apart, that is what
they are as they stand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mcu_deploy.arithmetic.tflite import multiply, quantize_multiplier
from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.ir import DType, EdgeId, TensorType

_BITS = 8
_BYTES = (DType.INT8, DType.UINT8)


def _comparison(op: str, negated: bool = False) -> Any:
    """negated: the opposite of the operator's result is wanted."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        a, b, y = operation.input(0), operation.input(1), operation.output
        if _are_in_steps(a.type, b.type):
            inputs = [_in_steps(operation, graph, tensor) for tensor in (a, b)]
        else:
            operation.require_alike(a, b, compared=True)
            inputs = [graph.read(a), graph.read(b)]
        if not negated:
            graph.add(operation, op, inputs, y)
            return
        result = graph.edge(f"{y.name} negated", y.type)
        graph.add(operation, op, inputs, result)
        graph.add(operation, "Not", [result], y)

    return convert


def _are_in_steps(a: TensorType, b: TensorType) -> bool:
    """Whether bytes that have scales are not compared as they stand."""
    if a.dtype is not b.dtype or a.dtype not in _BYTES or not (a.is_quantized and b.is_quantized):
        return False
    return a.quantization != b.quantization or min(a.scaling.scale) * (1 << _BITS) < 1


def _in_steps(operation: Operation, graph: GraphBuilder, tensor: TfliteTensor) -> EdgeId:
    """A tensor in steps of 1/256, int32."""
    type_ = tensor.type
    if not type_.scaling.per_tensor or type_.scaling.scale[0] >= 1:
        raise operation.unsupported(
            f"compares {tensor.name!r}, which has several scales, or one of 1 or more",
            "TFLite-Micro has no steps for it either; convert the model without quantization.",
        )
    # A negative place is counted from the end.
    values = np.arange(1 << _BITS).astype(np.uint8).view(type_.dtype.numpy).astype(np.int64)
    factor = quantize_multiplier(type_.scaling.scale[0])
    steps = multiply((values - type_.scaling.zero_point[0]) << _BITS, *factor).astype(np.int32)
    place, found = (
        graph.edge(f"{tensor.name} {name}", TensorType(DType.INT32, type_.shape))
        for name in ("place", "steps")
    )
    graph.add(operation, "Cast", [graph.read(tensor)], place)
    graph.add(
        operation, "Gather", [graph.constant(f"{tensor.name} table", steps), place], found,
        {"axis": 0},
    )  # fmt: skip
    return found


CONVERTERS = {
    "EQUAL": _comparison("Equal"),
    "NOT_EQUAL": _comparison("Equal", negated=True),
    "LESS": _comparison("Less"),
    "LESS_EQUAL": _comparison("LessOrEqual"),
    "GREATER": _comparison("Greater"),
    "GREATER_EQUAL": _comparison("GreaterOrEqual"),
}
