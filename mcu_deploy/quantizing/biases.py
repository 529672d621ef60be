"""What rounding the weights adds to a layer's output on average, taken from its bias.

By the mean of each input channel over the samples, and the share of the outputs for which a tap of
the kernel is not in the padding (Nagel et al., ICCV 2019, section 4.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing.net import Net, attributes_of
from mcu_deploy.quantizing.preparing import output_axis
from mcu_deploy.quantizing.statistics import Summary

_LAYERS = ("Conv", "ConvTranspose", "Gemm")


def corrected(net: Net, model: onnx.ModelProto, summaries: Mapping[str, Summary]) -> Net:
    """The float net with other biases, in a copy. model: what was made of it, in int8."""
    made = net.copy()
    rounded = _real_weights(model)
    for node in made.nodes:
        weights = made.constant(node.input[1]) if len(node.input) > 1 else None
        summary = summaries.get(node.input[0]) if node.input else None
        if node.op_type not in _LAYERS or node.name not in rounded:
            continue
        if weights is None or summary is None or weights.shape != rounded[node.name].shape:
            continue
        lost = weights.astype(np.float64) - rounded[node.name]
        shape, result = made.shape(node.input[0]), made.shape(node.output[0])
        if node.op_type != "Gemm" and shape is not None and result is not None:
            lost = lost * _shares(node, lost.shape[2:], shape[2:], result[2:])
        shift = _mean_of(node, lost, summary.means)
        if shift is None:
            continue
        if len(node.input) > 2:
            bias = made.constant(node.input[2])
            if bias is not None:
                total = bias.astype(np.float64) + shift
                node.input[2] = made.add_constant(node.input[2], total.astype(np.float32))
        else:
            node.input.append(made.add_constant(f"{node.name}.bias", shift.astype(np.float32)))
    return made


def _shares(
    node: onnx.NodeProto, kernel: Sequence[int], shape: Sequence[int], result: Sequence[int]
) -> Array:
    """Of each tap of a kernel, the share of the outputs for which it is in the input; of a
    ConvTranspose, for which it has an input."""
    given, rank = attributes_of(node), len(kernel)
    strides, dilations = (list(given.get(n, [1] * rank)) for n in ("strides", "dilations"))
    pads = list(given.get("pads", [0] * (2 * rank)))
    automatic = given.get("auto_pad", b"NOTSET")
    shares = np.ones(tuple(kernel))
    for axis in range(rank):
        size, s, d, count = shape[axis], strides[axis], dilations[axis], result[axis]
        before = pads[axis]
        if automatic in (b"SAME_UPPER", b"SAME_LOWER"):
            total = max(0, (count - 1) * s + (kernel[axis] - 1) * d + 1 - size)
            before = (total + (automatic == b"SAME_LOWER")) // 2
        taps = np.arange(kernel[axis])[:, None] * d - before
        if node.op_type == "ConvTranspose":
            at = np.arange(count)[None, :] - taps
            at = np.where(at % s == 0, at // s, -1)
        else:
            at = np.arange(count)[None, :] * s + taps
        share = ((at >= 0) & (at < size)).mean(axis=1)
        shares = shares * share.reshape([-1 if a == axis else 1 for a in range(rank)])
    return shares


def _mean_of(node: onnx.NodeProto, weights: Array, means: Array) -> Array | None:
    """The layer's output, for an input whose channels are everywhere at their mean."""
    if node.op_type == "Gemm":
        matrix = weights.T if output_axis(node) == 1 else weights
        return matrix @ means if matrix.shape[1] == len(means) else None
    groups = int(attributes_of(node).get("group", 1))
    taps = weights.reshape(*weights.shape[:2], -1).sum(axis=2)
    apart = taps.reshape(groups, -1, taps.shape[1])
    if node.op_type == "ConvTranspose":
        apart = apart.transpose(0, 2, 1)
    if apart.shape[2] * groups != len(means):
        return None
    return np.asarray(np.einsum("goc,gc->go", apart, means.reshape(groups, -1)).reshape(-1))


def _real_weights(model: onnx.ModelProto) -> dict[str, Array]:
    """The weights that the convolutions and dense layers of a quantized model compute with, as real
    numbers."""
    constants = {t.name: t for t in model.graph.initializer}
    writers = {n.output[0]: n for n in model.graph.node if n.op_type == "DequantizeLinear"}
    found = {}
    for node in model.graph.node:
        source = writers.get(node.input[1]) if len(node.input) > 1 else None
        if node.op_type not in _LAYERS or source is None or source.input[0] not in constants:
            continue
        integers, scale, zero = (
            numpy_helper.to_array(constants[name]).astype(np.float64) for name in source.input
        )
        axis = next((a.i for a in source.attribute if a.name == "axis"), 1) % integers.ndim
        column = [-1 if a == axis and scale.size > 1 else 1 for a in range(integers.ndim)]
        found[node.name] = (integers - zero.reshape(column)) * scale.reshape(column)
    return found
