"""QUANTIZE and DEQUANTIZE: between float32 and integers, and between two scales."""

from __future__ import annotations

import numpy as np

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops import DOMAIN


def _quantize(operation: Operation, graph: GraphBuilder) -> None:
    x, y = operation.input(0), operation.output
    if not y.type.is_quantized:
        raise operation.damaged(f"its output is {y.type}, which has no scale")
    real = x.type.dtype.is_float
    if not real and not x.type.is_quantized:
        raise operation.unsupported(f"quantizes {x.type}", "Convert the model from float32.")
    op = "Quantize" if real else "Requantize"
    graph.add_function(operation, op, domain=DOMAIN)


def _dequantize(operation: Operation, graph: GraphBuilder) -> None:
    """ONNX's DequantizeLinear is the same: one product of float32, which is rounded once."""
    x, y = operation.input(0), operation.output
    quantization = x.type.quantization
    if not x.type.is_quantized or quantization is None or not y.type.dtype.is_float:
        raise operation.unsupported(
            f"makes {y.type} of {x.type}", "Convert the model with quantized integers."
        )
    shape = () if quantization.per_tensor else (-1,)
    scale = np.array(quantization.scale, np.float32).reshape(shape)
    points = np.array(quantization.zero_point, x.type.dtype.numpy).reshape(shape)
    inputs = [
        graph.read(x),
        graph.constant(f"{x.name} scale", scale),
        graph.constant(f"{x.name} zero point", points),
    ]
    attributes = {} if quantization.axis is None else {"axis": quantization.axis}
    graph.add(operation, "DequantizeLinear", inputs, y, attributes)


CONVERTERS = {"QUANTIZE": _quantize, "DEQUANTIZE": _dequantize}
