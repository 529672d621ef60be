"""Weights of 8 bits and everything else in float32: a quarter of the flash, for cores with an FPU.

What builds keep as bytes: Conv, Gemm and MatMul with constant weights. Each scale is of one output
channel, without a zero point.
"""

from __future__ import annotations

import numpy as np
import onnx

from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing.net import Net, attributes_of

_LARGEST = 127


def weights_only(net: Net) -> onnx.ModelProto:
    """The model with a DequantizeLinear before each such layer's weights."""
    made = net.copy()
    for node in list(made.nodes):
        axis = _axis(made, node)
        if axis is None:
            continue
        integers, scale = _rounded(made.constants[node.input[1]], axis)
        names = [
            made.add_constant(node.input[1], integers),
            made.add_constant(f"{node.input[1]}.scale", scale),
            made.add_constant(f"{node.input[1]}.zero", np.zeros(len(scale), np.int8)),
        ]
        real = made.fresh(node.input[1])
        copied = onnx.NodeProto()
        copied.CopyFrom(node)
        copied.input[1] = real
        before = made.node("DequantizeLinear", names, [real], made.fresh(node.name), axis=axis)
        made.replace([node], [before, copied])
    return made.model()


def _axis(net: Net, node: onnx.NodeProto) -> int | None:
    """The axis of the weights that is the output's channels; None for what is left as it is."""
    weights = net.constant(node.input[1]) if len(node.input) > 1 else None
    if node.op_type not in ("Conv", "Gemm", "MatMul") or weights is None:
        return None
    if node.op_type == "MatMul" and weights.ndim != 2:
        return None
    first = node.op_type == "Conv" or attributes_of(node).get("transB", 0)
    return 0 if first else weights.ndim - 1


def _rounded(weights: Array, axis: int) -> tuple[Array, Array]:
    others = tuple(a for a in range(weights.ndim) if a != axis)
    largest = np.abs(weights).max(axis=others).astype(np.float64)
    scale = np.where(largest > 0, largest / _LARGEST, 1.0).astype(np.float32)
    column = [-1 if a == axis else 1 for a in range(weights.ndim)]
    steps = np.rint(weights / scale.reshape(column))
    return np.clip(steps, -_LARGEST, _LARGEST).astype(np.int8), scale
