"""Folds BatchNormalization into the convolution or Gemm before it (constant parameters, float32).

The folded weights are computed in float64 and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir import DType, Graph, GraphEditor, Node, TensorType


def fold(graph: Graph) -> Graph:
    """The graph without the batch normalizations that a convolution can take in."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        if node.op == "BatchNormalization" and not node.domain:
            _fold_one(editor, editor.nodes[node.id])
    return editor.finish()


def _fold_one(editor: GraphEditor, norm: Node) -> None:
    data = norm.input(0)
    conv = editor.producer(data)
    parameters = [editor.constant(e) for e in norm.inputs[1:5]]
    if (
        conv is None
        or conv.op != "Conv"
        or editor.sole_consumer(data) is None
        or any(p is None for p in parameters)
        or editor.type(data).dtype is not DType.FLOAT32
    ):
        return
    weights = editor.constant(conv.inputs[1])
    bias = editor.constant(conv.inputs[2]) if len(conv.inputs) > 2 else None
    if weights is None or (len(conv.inputs) > 2 and conv.inputs[2] is not None and bias is None):
        return
    scale, shift, mean, variance = (np.asarray(p, dtype=np.float64) for p in parameters)
    epsilon = float(np.float32(editor.attributes(norm.id).get("epsilon", 1e-5)))
    factor = scale / np.sqrt(variance + epsilon)
    column = factor.reshape((-1,) + (1,) * (weights.ndim - 1))
    old_bias = np.zeros_like(factor) if bias is None else bias.astype(np.float64)
    w = _constant(editor, f"{conv.name}.weight", weights.astype(np.float64) * column)
    b = _constant(editor, f"{conv.name}.bias", (old_bias - mean) * factor + shift)
    editor.fuse(
        [conv.id, norm.id], "Conv", [conv.inputs[0], w, b], norm.writes,
        editor.attributes(conv.id), conv.name,
    )  # fmt: skip


def _constant(editor: GraphEditor, name: str, value: npt.NDArray[Any]) -> int:
    rounded = value.astype(np.float32)
    return editor.add_constant(name, rounded, TensorType(DType.FLOAT32, rounded.shape))
