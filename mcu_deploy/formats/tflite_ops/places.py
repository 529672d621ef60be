"""What finds places or is told them when it runs: TOPK_V2, SCATTER_ND."""

from __future__ import annotations

import numpy as np

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.ir import DType, TensorType


def _top_k(operation: Operation, graph: GraphBuilder) -> None:
    """The largest along the last axis, and where they were, as int32."""
    if len(operation.outputs) != 2:
        raise operation.damaged(f"it has {len(operation.outputs)} outputs, not two")
    x, (values, places) = operation.input(0), operation.outputs
    operation.require_alike(x, values)
    count = int(operation.constant(1).reshape(-1)[0])
    if not x.type.rank or not 0 < count <= x.type.shape[-1]:
        raise operation.damaged(f"it takes {count} elements of {list(x.type.shape)}")
    found = graph.edge(f"{places.name} wide", TensorType(DType.INT64, places.type.shape))
    k = graph.constant(f"{operation.name} count", np.array([count], np.int64))
    inputs = [graph.read(x), k]
    graph.add(operation, "TopK", inputs, (values, found), {"axis": x.type.rank - 1})
    graph.add(operation, "Cast", [found], places)


def _scatter_nd(operation: Operation, graph: GraphBuilder) -> None:
    """Into zeros; what falls on one place is added."""
    indices, updates, y = operation.input(0), operation.input(1), operation.output
    if y.type.is_quantized or updates.type.dtype is not y.type.dtype:
        raise operation.unsupported(
            "scatters quantized integers", "mcu-deploy does so with float32, int32 and int64."
        )
    zeros = graph.constant(f"{operation.name} zeros", np.zeros(y.type.shape, y.type.dtype.numpy))
    wide = graph.edge(f"{operation.name} indices", TensorType(DType.INT64, indices.type.shape))
    graph.add(operation, "Cast", [graph.read(indices)], wide)
    inputs = [zeros, wide, graph.read(updates)]
    graph.add(operation, "ScatterND", inputs, y, {"reduction": "add"})


CONVERTERS = {"SCATTER_ND": _scatter_nd, "TOPK_V2": _top_k}
