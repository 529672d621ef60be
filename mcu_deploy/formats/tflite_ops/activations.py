"""Fused activations, and the operators that are one."""

from __future__ import annotations

import math
from typing import Any

import tflite

from mcu_deploy.formats.tflite_file import Operation
from mcu_deploy.formats.tflite_graph import GraphBuilder

_BOUNDS = {
    tflite.ActivationFunctionType.NONE: (-math.inf, math.inf),
    tflite.ActivationFunctionType.RELU: (0.0, math.inf),
    tflite.ActivationFunctionType.RELU_N1_TO_1: (-1.0, 1.0),
    tflite.ActivationFunctionType.RELU6: (0.0, 6.0),
}


def activation(operation: Operation, function: int) -> dict[str, Any]:
    """The attribute that a fused activation becomes: bounds as real numbers; none for no clamp."""
    if function not in _BOUNDS:
        raise operation.unsupported(
            f"has the fused activation number {function}, which is no clamp",
            "Convert the model with RELU, RELU6 or a separate activation.",
        )
    bounds = _BOUNDS[function]
    return {} if bounds == (-math.inf, math.inf) else {"activation": bounds}


def _relu(operation: Operation, graph: GraphBuilder) -> None:
    graph.add(operation, "Relu", [graph.read(operation.input(0))], operation.output)


CONVERTERS = {"RELU": _relu}
