"""ADD, SUB, MUL: two tensors, element by element, with broadcasting. DIV of float32."""

from __future__ import annotations

from typing import Any

import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import (
    add_clamped,
    clamp_attribute,
    fused_activation,
    is_float,
)


def _binary(op: str, options: type[Any]) -> Any:
    def convert(operation: Operation, graph: GraphBuilder) -> None:
        read = operation.options(options)
        bounds = fused_activation(operation, read.FusedActivationFunction())
        a, b, y = operation.input(0), operation.input(1), operation.output
        order = graph.common_order(a, b)
        inputs = [graph.read(a, order), graph.read(b, order)]
        if is_float(operation, a, b, y, wide=True):
            add_clamped(operation, graph, op, inputs, {}, bounds, order)
            return
        for tensor in (a, b):
            if tensor.type.quantization and not tensor.type.quantization.per_tensor:
                raise operation.damaged(f"its input {tensor.name!r} has a scale per axis")
        if op == "Div":
            raise operation.unsupported(
                "divides quantized tensors, which TFLite-Micro does not either",
                "Multiply with the reciprocal in the model.",
            )
        graph.add(operation, op, inputs, y, clamp_attribute(bounds), DOMAIN, order)

    return convert


CONVERTERS = {
    "ADD": _binary("Add", tflite.AddOptions),
    "SUB": _binary("Sub", tflite.SubOptions),
    "MUL": _binary("Mul", tflite.MulOptions),
    "DIV": _binary("Div", tflite.DivOptions),
}
