"""Numbers into classes, and classes into vectors: BUCKETIZE, ONE_HOT. ONNX's operators."""

from __future__ import annotations

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.ir import DType, TensorType


def _one_hot(operation: Operation, graph: GraphBuilder) -> None:
    """Places outside of the depth, negative ones too, which ONNX's OneHot counts from the end, give
    the value for off everywhere."""
    places, on, off = (operation.input(k) for k in (0, 2, 3))
    y, rank = operation.output, places.type.rank
    operation.require_alike(on, off, y)
    axis = int(operation.options(tflite.OneHotOptions).Axis())
    axis = rank if axis == -1 else axis
    shape = (*places.type.shape[:axis], operation.number(1), *places.type.shape[axis:])
    if not 0 <= axis <= rank or y.type.shape != shape:
        raise operation.damaged(f"it makes {list(y.type.shape)} of {list(places.type.shape)}")
    spread = (*places.type.shape[:axis], 1, *places.type.shape[axis:])
    given = graph.reshaped(operation, graph.read(places), spread)
    classes = np.arange(shape[axis], dtype=places.type.dtype.numpy)
    numbers = graph.constant(f"{y.name} classes", classes.reshape(-1, *(1,) * (rank - axis)))
    is_on = graph.edge(f"{y.name} on", TensorType(DType.BOOL, shape))
    graph.add(operation, "Equal", [given, numbers], is_on)
    graph.add(operation, "Where", [is_on, graph.read(on), graph.read(off)], y)


def _bucketize(operation: Operation, graph: GraphBuilder) -> None:
    """How many boundaries are not above a number: of NaN all are, as a binary search has it."""
    x, y = operation.input(0), operation.output
    kinds = (DType.FLOAT32, DType.INT32, DType.INT64)
    if x.type.dtype not in kinds or x.type.is_quantized or x.type.shape != y.type.shape:
        raise operation.damaged(f"it makes {y.type} of {x.type}")
    options = operation.options(tflite.BucketizeOptions)
    bounds = np.array([options.Boundaries(k) for k in range(options.BoundariesLength())], "f4")
    real, shape = graph.read(x), (*x.type.shape, 1)
    if x.type.dtype is not DType.FLOAT32:
        real = graph.edge(f"{y.name} real", TensorType(DType.FLOAT32, x.type.shape))
        graph.add(operation, "Cast", [graph.read(x)], real)
    inputs = [graph.reshaped(operation, real, shape), graph.constant(f"{y.name} bounds", bounds)]
    below, reached = (
        graph.edge(f"{y.name} {name}", TensorType(DType.BOOL, (*x.type.shape, len(bounds))))
        for name in ("below", "reached")
    )
    ones = graph.edge(f"{y.name} ones", TensorType(DType.INT32, graph.shape(reached)))
    graph.add(operation, "Less", inputs, below)
    graph.add(operation, "Not", [below], reached)
    graph.add(operation, "Cast", [reached], ones)
    axes = graph.integers(f"{y.name} axes", [x.type.rank])
    graph.add(operation, "ReduceSum", [ones, axes], y, {"keepdims": 0})


CONVERTERS = {"BUCKETIZE": _bucketize, "ONE_HOT": _one_hot}
