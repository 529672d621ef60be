"""FULLY_CONNECTED: rows of the input times the transposed weights, plus a bias."""

from __future__ import annotations

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import (
    Bounds,
    add_clamp,
    clamp_attribute,
    fused_activation,
    is_float,
)
from mcu_deploy.formats.tflite_ops.windows import add_hybrid, read_bias
from mcu_deploy.ir import DType, TensorType


def _fully_connected(operation: Operation, graph: GraphBuilder) -> None:
    """The input's elements are seen as rows as long as the weights are deep."""
    options = operation.options(tflite.FullyConnectedOptions)
    x, weights, bias, y = (
        operation.input(0), operation.weights(1), operation.optional(2), operation.output
    )  # fmt: skip
    if options.WeightsFormat() != tflite.FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise operation.unsupported(
            "has its weights in a shuffled format", "Convert the model for any processor."
        )
    if weights.type.rank != 2 or not weights.type.elements:
        raise operation.damaged(f"its weights have the shape {list(weights.type.shape)}")
    columns, depth = weights.type.shape
    rows = x.type.elements // depth
    if rows * depth != x.type.elements or rows * columns != y.type.elements:
        raise operation.damaged(
            f"its input {list(x.type.shape)} times its weights {list(weights.type.shape)} gives "
            f"no {list(y.type.shape)}"
        )
    bounds = fused_activation(operation, options.FusedActivationFunction())
    if x.type.dtype is DType.FLOAT32 and weights.type.is_quantized:
        _hybrid(operation, graph, rows, bounds)
        return
    given = graph.reshaped(operation, graph.read(x), (rows, depth))
    inputs = [given, graph.read(weights), graph.read_optional(bias)]
    flat = y.type.shape == (rows, columns)
    shape = TensorType(y.type.dtype, (rows, columns), y.type.quantization)
    if is_float(operation, x, weights, y, wide=True):
        product = graph.edge(f"{y.name} before the activation", shape)
        graph.add(operation, "Gemm", inputs, product, {"transB": 1})
        if bounds == (-np.inf, np.inf):
            graph.add_reshape(operation, product, y)
        else:
            add_clamp(operation, graph, graph.reshaped(operation, product, y.type.shape), bounds)
        return
    narrow = options.QuantizedBiasType() == tflite.TensorType.INT32
    inputs[2] = read_bias(operation, graph, bias, narrow)
    attributes = clamp_attribute(bounds)
    if flat:
        graph.add(operation, "FullyConnected", inputs, y, attributes, DOMAIN)
        return
    product = graph.edge(y.name, shape)
    graph.add(operation, "FullyConnected", inputs, product, attributes, DOMAIN)
    graph.add_reshape(operation, product, y)


def _hybrid(operation: Operation, graph: GraphBuilder, rows: int, bounds: Bounds) -> None:
    """Each row is an image of one position, quantized by itself."""
    options = operation.options(tflite.FullyConnectedOptions)
    x, weights, y = operation.input(0), operation.input(1), operation.output
    columns, depth = weights.type.shape
    inputs = [
        graph.reshaped(operation, graph.read(x), (rows, depth, 1, 1)),
        graph.reshaped(operation, graph.read(weights), (columns, depth, 1, 1)),
        graph.read_optional(operation.optional(2)),
    ]
    product = graph.edge(y.name, TensorType(y.type.dtype, (rows, columns, 1, 1)))
    attributes = {"kernel_shape": (1, 1), "asymmetric": int(options.AsymmetricQuantizeInputs())}
    add_hybrid(operation, graph, inputs, product, attributes | clamp_attribute(bounds))
    graph.add_reshape(operation, product, y)


CONVERTERS = {"FULLY_CONNECTED": _fully_connected}
