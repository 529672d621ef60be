"""Weights of 8 or 4 bits and everything else in float32: less flash, for cores with an FPU.

What builds keep as bytes: Conv, Gemm and MatMul with constant weights, and both matrices of LSTM,
GRU and RNN. Each scale is of one output channel, or of one gate of one unit, without a zero point.
Gemm and MatMul alone may have 4 bits, two of them in a byte: then each scale is of a block along
the depth, as one for 4 bits of a whole row would lose too much.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import onnx

from mcu_deploy.files.arrays import Array
from mcu_deploy.ir import DType
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import GATES
from mcu_deploy.quantizing import recurrent_moments
from mcu_deploy.quantizing.net import Net, attributes_of

_LARGEST = 127
_DENSE = ("Conv", "Gemm", "MatMul")
# The elements of a block, as many as fit; and of the scale that holds the largest of them, the
# parts that are tried.
_BLOCKS = (32, 16, 8)
_PARTS = np.linspace(0.7, 1.15, 19)


def weights_only(
    net: Net, moments: Mapping[str, Array], bits: int = 8
) -> tuple[onnx.ModelProto, int]:
    """The model with a DequantizeLinear before each such layer's weights, and the number of layers
    whose weights have 4 bits. moments: `second_moments`. bits: 4, of a net whose opset has int4,
    for those that can."""
    made = net.copy()
    count = _with_halves(made) if bits == 4 else 0
    return _with_bytes(made, (*_DENSE, *GATES), moments), count


def recurrent_weights(
    model: onnx.ModelProto, moments: Mapping[str, Array], besides: Collection[str] = ()
) -> onnx.ModelProto:
    """A quantized model with those before the weights of its recurrent layers, which compute in
    float32. moments: `second_moments`; besides: names of nodes that keep theirs in float32."""
    if not any(node.op_type in GATES for node in model.graph.node):
        return model
    return _with_bytes(Net(model), tuple(GATES), moments, besides)


def recurrent_layers(net: Net) -> list[onnx.NodeProto]:
    """Those whose weights become bytes."""
    return [node for node in net.nodes if node.op_type in GATES and _axes(net, node)]


def _with_bytes(
    made: Net, ops: Collection[str], moments: Mapping[str, Array], besides: Collection[str] = ()
) -> onnx.ModelProto:
    for node in list(made.nodes):
        axes = _axes(made, node)
        if not axes or node.op_type not in ops or node.name in besides:
            continue
        copied = onnx.NodeProto()
        copied.CopyFrom(node)
        before = []
        found = [_rounded(made.constants[node.input[place]], axis) for place, axis in axes.items()]
        if node.name in moments:
            w, r = (made.constants[node.input[place]] for place in axes)
            scales = found[0][1], found[1][1]
            steps = recurrent_moments.rounded((w, r), scales, moments[node.name], node)
            found = list(zip(steps, scales, strict=True))
        for (place, axis), (integers, scale) in zip(axes.items(), found, strict=True):
            name = node.input[place]
            given = [
                made.add_constant(name, integers),
                made.add_constant(f"{name}.scale", scale),
                made.add_constant(f"{name}.zero", np.zeros(len(scale), np.int8)),
            ]
            copied.input[place] = made.fresh(name)
            before.append(
                made.node("DequantizeLinear", given, [copied.input[place]],
                          made.fresh(node.name), axis=axis)
            )  # fmt: skip
        made.replace([node], [*before, copied])
    return made.model()


def _with_halves(made: Net) -> int:
    """Puts the DequantizeLinear of blocks before dense layers; how many have one."""
    count = 0
    for node in list(made.nodes):
        if node.op_type not in ("Gemm", "MatMul") or attributes_of(node).get("transA", 0):
            continue
        for place, axis in _axes(made, node).items():
            name = node.input[place]
            weights, depth = made.constants[name], 1 - axis
            block = next((b for b in _BLOCKS if weights.shape[depth] % b == 0), 0)
            if not block:
                continue
            integers, scale = _rounded_blocks(weights, depth, block)
            given = [
                made.add_constant(name, integers), made.add_constant(f"{name}.scale", scale)
            ]  # fmt: skip
            node.input[place] = made.fresh(name)
            before = made.node(
                "DequantizeLinear", given, [node.input[place]], made.fresh(node.name),
                axis=depth, block_size=block,
            )  # fmt: skip
            made.replace([node], [before, node])
            count += 1
    return count


def _rounded_blocks(weights: Array, depth: int, block: int) -> tuple[Array, Array]:
    """Of int4, and the scale of each block: that with the least squared error."""
    turned = np.moveaxis(weights, depth, 1).astype(np.float64)
    apart = turned.reshape(len(turned), -1, block, 1)
    largest = np.abs(apart).max(axis=2, keepdims=True)
    tried = np.where(largest > 0, largest / 7, 1.0) * _PARTS
    tried = tried.astype(np.float32).astype(np.float64)
    steps = np.clip(np.rint(apart / tried), -8, 7)
    best = ((steps * tried - apart) ** 2).sum(axis=2, keepdims=True).argmin(axis=3, keepdims=True)
    scale = np.take_along_axis(tried, best, axis=3)[..., 0, 0]
    chosen = np.take_along_axis(steps, best, axis=3)[..., 0].reshape(turned.shape)
    back = (np.moveaxis(each, 1, depth) for each in (chosen, scale))
    integers, scales = (np.ascontiguousarray(each) for each in back)
    return integers.astype(DType.INT4.numpy), scales.astype(np.float32)


def _axes(net: Net, node: onnx.NodeProto) -> Mapping[int, int]:
    """The axis of the output's channels, by the places of the weights among a node's inputs; none
    of what is left as it is."""
    if node.op_type in GATES:
        # W and R are [directions, rows, ...]; what else is computed a build would pack in float32.
        places = (recurrent.W, recurrent.R, recurrent.BIAS)
        given = [node.input[p] for p in places if len(node.input) > p and node.input[p]]
        known = len(given) > 1 and all(net.constant(name) is not None for name in given)
        return {recurrent.W: 1, recurrent.R: 1} if known else {}
    weights = net.constant(node.input[1]) if len(node.input) > 1 else None
    if node.op_type not in _DENSE or weights is None:
        return {}
    if node.op_type == "MatMul" and weights.ndim != 2:
        return {}
    first = node.op_type == "Conv" or attributes_of(node).get("transB", 0)
    return {1: 0 if first else weights.ndim - 1}


def _rounded(weights: Array, axis: int) -> tuple[Array, Array]:
    """Of int8, and the scale of each channel of the axis: that with the least squared error."""
    turned = np.moveaxis(weights, axis, 0).astype(np.float64)
    rows = turned.reshape(len(turned), -1)
    largest = np.abs(rows).max(axis=1)
    best, least = largest, np.full(len(rows), np.inf)
    integers = np.zeros(rows.shape, np.int8)
    for part in _PARTS:
        scale = np.where(largest > 0, largest / _LARGEST * part, 1.0).astype(np.float32)
        real = scale.astype(np.float64)[:, None]
        steps = np.clip(np.rint(rows / real), -_LARGEST, _LARGEST)
        error = ((steps * real - rows) ** 2).sum(axis=1)
        better = error < least
        integers[better] = steps[better]
        best, least = np.where(better, scale, best), np.minimum(error, least)
    back = np.moveaxis(integers.reshape(turned.shape), 0, axis)
    return np.ascontiguousarray(back), best.astype(np.float32)
