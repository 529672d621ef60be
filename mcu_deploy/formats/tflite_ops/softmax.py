"""SOFTMAX over the last axis."""

from __future__ import annotations

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import is_float
from mcu_deploy.ir import DType, Quantization

_OUTPUT = Quantization((1 / 256,), (-128,))


def _softmax(operation: Operation, graph: GraphBuilder) -> None:
    beta = float(operation.options(tflite.SoftmaxOptions).Beta())
    x, y = operation.input(0), operation.output
    if not x.type.elements:
        raise operation.damaged("its input has no elements")
    edge = graph.read(x)
    if is_float(operation, x, y):
        if beta != 1.0:
            factor = graph.constant(f"{y.name} beta", np.array(beta, np.float32))
            scaled = graph.edge(f"{y.name} times beta", x.type)
            graph.add(operation, "Mul", [edge, factor], scaled)
            edge = scaled
        graph.add(operation, "Softmax", [edge], y, {"axis": -1})
        return
    if x.type.dtype is not DType.INT8 or y.type.dtype is not DType.INT8:
        raise operation.unsupported(
            f"makes {y.type} of {x.type}", "TFLite-Micro computes it on int8; convert the model so."
        )
    if y.type.quantization != _OUTPUT:
        raise operation.damaged("its output has not the scale 1/256 and the zero point -128")
    if not beta > 0:
        raise operation.damaged(f"its beta is {beta}")
    graph.add(operation, "Softmax", [edge], y, {"beta": beta}, DOMAIN)


CONVERTERS = {"SOFTMAX": _softmax}
