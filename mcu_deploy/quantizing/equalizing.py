"""Channels of one tensor brought to like ranges, by factors that the layers around it take in.

A channel that is a hundredth of the largest has two steps of 256. Where a Relu or nothing, and
pools, are between two layers, the first may give each channel times any positive factor if the
second divides by it (Nagel, van Baalen, Blankevoort, Welling: Data-free quantization through weight
equalization and bias correction, ICCV 2019). With scales for each output channel it costs the first
layer nothing, and a depthwise one behind it neither; in any other the weights of one output become
less alike, so that the factor there is between both (Xiao et al.: SmoothQuant, ICML 2023).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import onnx

from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing.net import Net, attributes_of
from mcu_deploy.quantizing.preparing import output_axis
from mcu_deploy.quantizing.statistics import Summary

NONE = "none"
KINDS = (NONE, "half, depthwise", "whole, depthwise", "half, all")

# Computes each channel by itself, times what it was given times.
_BETWEEN = ("Relu", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
# A channel that the samples hardly wake may be loud in others.
_LEAST = 1 / 32


@dataclass(frozen=True)
class _Pair:
    """Two layers and the tensors between them, which have channels alike."""

    first: onnx.NodeProto
    second: onnx.NodeProto
    tensors: tuple[str, ...]
    depthwise: bool


def has_pairs(net: Net) -> bool:
    """Whether there is anything to equalise."""
    return next(_pairs(net), None) is not None


def equalised(
    net: Net, summaries: Mapping[str, Summary], kind: str
) -> tuple[Net, dict[str, Array]]:
    """The net with channels equalised, in a copy; and of each tensor whose values that changes the
    factors, one a channel (its second axis), by which they become again what they were.

    summaries: of its float tensors.
    """
    made = net.copy()
    factors: dict[str, Array] = {}
    for pair in list(_pairs(made)):
        if kind != NONE and (pair.depthwise or kind.endswith("all")):
            power = 1.0 if kind.startswith("whole") else 0.5
            factor = _equalise(made, pair, summaries[pair.tensors[-1]], power)
            if factor is not None:
                factors |= dict.fromkeys(pair.tensors, factor)
    return made, factors


def _pairs(net: Net) -> Iterator[_Pair]:
    for first in net.nodes:
        if first.op_type not in ("Conv", "Gemm") or not _has_constants(net, first):
            continue
        name = first.output[0]
        tensors = [name]
        second = net.sole_consumer(name)
        while second is not None and second.op_type in _BETWEEN:
            name = second.output[0]
            tensors.append(name)
            second = net.sole_consumer(name)
        if second is None or second.op_type != first.op_type or second.input[0] != name:
            continue
        weights = net.constant(second.input[1])
        if weights is None or second.input[1] in second.input[2:]:
            continue
        groups = attributes_of(second).get("group", 1)
        depthwise = second.op_type == "Conv" and groups > 1 and weights.shape[1] == 1
        if groups == 1 or (depthwise and weights.shape[0] % groups == 0):
            yield _Pair(first, second, tuple(tensors), depthwise)


def _has_constants(net: Net, layer: onnx.NodeProto) -> bool:
    return all(name in net.constants for name in layer.input[1:])


def _equalise(net: Net, pair: _Pair, summary: Summary, power: float) -> Array | None:
    """By what each channel is divided; None where the samples tell nothing of them."""
    reach = np.maximum(np.abs(summary.lows), np.abs(summary.highs)).astype(np.float64)
    if not reach.max() > 0:
        return None
    axis = _input_axis(pair.second, pair.depthwise)
    weights = net.constants[pair.second.input[1]].astype(np.float64)
    factor = np.maximum(reach / reach.max(), _LEAST)
    if not pair.depthwise:
        # As far as the weights that read a channel are large its values need not become so.
        loud = np.abs(weights).max(axis=tuple(a for a in range(weights.ndim) if a != axis))
        loud = np.maximum(loud / max(float(loud.max()), 1e-30), _LEAST)
        factor = np.clip(factor / loud, _LEAST, 1 / _LEAST)
    factor = factor**power
    # A power of two rounds no weight of either layer.
    factor = 2.0 ** np.rint(np.log2(factor))
    copies = weights.shape[0] // len(factor) if pair.depthwise else 1
    column = [-1 if a == axis else 1 for a in range(weights.ndim)]
    _put(net, pair.second, 1, weights * np.repeat(factor, copies).reshape(column))
    own = net.constants[pair.first.input[1]].astype(np.float64)
    column = [-1 if a == output_axis(pair.first) else 1 for a in range(own.ndim)]
    _put(net, pair.first, 1, own / factor.reshape(column))
    if len(pair.first.input) > 2:
        _put(net, pair.first, 2, net.constants[pair.first.input[2]].astype(np.float64) / factor)
    return np.asarray(factor)


def _input_axis(layer: onnx.NodeProto, depthwise: bool) -> int:
    if layer.op_type == "Conv":
        return 0 if depthwise else 1
    return 1 if attributes_of(layer).get("transB", 0) else 0


def _put(net: Net, node: onnx.NodeProto, index: int, value: Array) -> None:
    node.input[index] = net.add_constant(node.input[index], value.astype(np.float32))
