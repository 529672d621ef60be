"""ADD, SUB, MUL, DIV: two tensors, element by element, with broadcasting; of plain integers too,
which wrap around, and whose quotients have no fraction."""

from __future__ import annotations

from typing import Any

import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import (
    UNBOUNDED,
    add_clamped,
    clamp_attribute,
    fused_activation,
    is_float,
)
from mcu_deploy.ir import DType

_BYTES = (DType.INT8, DType.UINT8)


def _binary(op: str, options: type[Any]) -> Any:
    def convert(operation: Operation, graph: GraphBuilder) -> None:
        read = operation.options(options)
        bounds = fused_activation(operation, read.FusedActivationFunction())
        a, b, y = operation.input(0), operation.input(1), operation.output
        order = graph.common_order(a, b)
        inputs = [graph.read(a, order), graph.read(b, order)]
        integers = {(t.type.dtype, t.type.is_quantized) for t in (a, b, y)}
        plain = integers in ({(DType.INT32, False)}, {(DType.INT64, False)})
        if plain and bounds == UNBOUNDED:
            graph.add(operation, op, inputs, y, order=order)
            return
        if is_float(operation, a, b, y, wide=True):
            add_clamped(operation, graph, op, inputs, {}, bounds, order)
            return
        for tensor in (a, b):
            if tensor.type.quantization and not tensor.type.quantization.per_tensor:
                raise operation.damaged(f"its input {tensor.name!r} has a scale per axis")
        if op == "Div" and any(t.type.dtype not in _BYTES for t in (a, b, y)):
            raise operation.unsupported(
                "divides quantized tensors that are not of 8 bits, which LiteRT does not either",
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
