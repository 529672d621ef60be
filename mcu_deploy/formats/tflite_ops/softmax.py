"""SOFTMAX and LOG_SOFTMAX over the last axis."""

from __future__ import annotations

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import is_float
from mcu_deploy.ir import DType, Quantization

# Of which input which outputs are made.
_OUTPUTS = {
    (DType.INT8, DType.INT8): Quantization((1 / 256,), (-128,)),
    (DType.INT8, DType.INT16): Quantization((1 / 65536,), (-32768,)),
    (DType.UINT8, DType.UINT8): Quantization((1 / 256,), (0,)),
    (DType.INT16, DType.INT16): Quantization((1 / 32768,), (0,)),
}


def _softmax(operation: Operation, graph: GraphBuilder) -> None:
    beta = float(operation.options(tflite.SoftmaxOptions).Beta())
    x, y = operation.input(0), operation.output
    if not x.type.elements:
        raise operation.damaged("its input has no elements")
    edge = graph.read(x)
    if x.type.dtype is DType.FLOAT32 and is_float(operation, x, y):
        if beta != 1.0:
            factor = graph.constant(f"{y.name} beta", np.array(beta, np.float32))
            scaled = graph.edge(f"{y.name} times beta", x.type)
            graph.add(operation, "Mul", [edge, factor], scaled)
            edge = scaled
        graph.add(operation, "Softmax", [edge], y, {"axis": -1})
        return
    wanted, found = _OUTPUTS.get((x.type.dtype, y.type.dtype)), y.type.quantization
    if wanted is None:
        raise operation.unsupported(
            f"makes {y.type} of {x.type}",
            "It is computed on float32, int8, uint8 and int16; convert the model so.",
        )
    if not x.type.is_quantized or not x.type.scaling.per_tensor:
        raise operation.damaged("its input has not one scale")
    # Converters round the scale of int16 as they like.
    near = found is not None and found.zero_point == wanted.zero_point and abs(
        found.scale[0] - wanted.scale[0]
    ) <= 0.001 * wanted.scale[0]  # fmt: skip
    if found != wanted and not (near and y.type.dtype is DType.INT16):
        raise operation.damaged(
            f"its output has not the scale 1/{1 / wanted.scale[0]:.0f} and the zero point "
            f"{wanted.zero_point[0]}"
        )
    if not beta > 0:
        raise operation.damaged(f"its beta is {beta}")
    if x.type.dtype is DType.INT16 and any(x.type.scaling.zero_point):
        raise operation.damaged("its input of int16 does not lie around 0")
    op = "Softmax16" if x.type.dtype is DType.INT16 else "Softmax"
    graph.add(operation, op, [edge], y, {"beta": beta}, DOMAIN)


def _log_softmax(operation: Operation, graph: GraphBuilder) -> None:
    x, y = operation.input(0), operation.output
    if is_float(operation, x, y):
        graph.add(operation, "LogSoftmax", [graph.read(x)], y, {"axis": -1})
        return
    if x.type.dtype not in (DType.INT8, DType.UINT8) or y.type.dtype is not x.type.dtype:
        raise operation.unsupported(
            f"makes {y.type} of {x.type}",
            "It is computed on float32, int8 and uint8; convert the model so.",
        )
    if not x.type.scaling.per_tensor or not x.type.elements:
        raise operation.damaged("its input has no elements, or not one scale")
    if y.type.quantization != Quantization((1 / 16,), (y.type.dtype.range[1],)):
        raise operation.damaged("its output has not the scale 1/16 and the largest zero point")
    graph.add(operation, "LogSoftmax", [graph.read(x)], y, {}, DOMAIN)


CONVERTERS = {"LOG_SOFTMAX": _log_softmax, "SOFTMAX": _softmax}
