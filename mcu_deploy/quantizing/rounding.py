"""Scales of weights, moved by some ulps to where integers round a layer's sums as float32 does.

Of the factors that a model happens to have some leave single sums that no multiplication by an
integer rounds like float32's; kernels look for these, which takes them time
(`backends/quantized/requantization.py`). The next factor mostly leaves none, and is as good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

from mcu_deploy.backends.quantized.requantization import accumulations, reach, shift_of
from mcu_deploy.backends.quantized.staircases import Channel, Staircases
from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing.preparing import output_axis

_ULPS = [sign * n for n in range(1, 49) for sign in (1, -1)]


@dataclass(frozen=True)
class _Layer:
    """A Conv, Gemm or MatMul between quantized tensors. names: of the constants that hold the
    scales of its weights and of its bias ("" without one)."""

    names: tuple[str, str]
    weight_scale: Array
    x_scale: np.float32
    y_scale: np.float32
    zero_point: int
    bounds: tuple[int, int]
    ends: tuple[Array, Array]

    def unsolved(self, scales: Array, which: Array) -> Array:
        """Of which channels the sums are not all rounded by integers; scales: of each of these."""
        factors = np.float32(self.x_scale) * scales.astype(np.float32) / np.float32(self.y_scale)
        shift = shift_of(factors)
        if shift < 0 or not np.isfinite(factors).all():
            return np.zeros(len(which), bool)  # what no kernel rounds in integers anyway
        channels = [
            Channel(factor, self.zero_point, self.bounds,
                    (int(self.ends[0][n]), int(self.ends[1][n])))
            for factor, n in zip(factors, which.tolist(), strict=True)
        ]  # fmt: skip
        found = accumulations(Staircases.of(channels), 1, shift)
        return np.array([one is None for one in found])


def settled(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with such scales, in a copy."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    constants = {t.name: t for t in made.graph.initializer}
    readers: dict[str, int] = {}
    for node in made.graph.node:
        for name in node.input:
            readers[name] = readers.get(name, 0) + 1
    for layer in layers(made, constants):
        if readers[layer.names[0]] > 1:
            continue
        scales = _settled(layer)
        if np.array_equal(scales, layer.weight_scale):
            continue
        for name, value in (
            (layer.names[0], scales), (layer.names[1], np.float32(layer.x_scale) * scales)
        ):  # fmt: skip
            if name:
                shape = tuple(constants[name].dims)
                stored = numpy_helper.from_array(value.astype(np.float32).reshape(shape), name)
                constants[name].CopyFrom(stored)
    return made


def _settled(layer: _Layer) -> Array:
    count = len(layer.ends[0])
    scales = layer.weight_scale.copy()
    if scales.size == 1:
        return _of_all(layer, scales, count)
    left = np.flatnonzero(layer.unsolved(scales, np.arange(count)))
    for ulps in _ULPS:
        if not left.size:
            break
        tried = _moved(layer.weight_scale[left], ulps)
        still = layer.unsolved(tried, left)
        scales[left[~still]] = tried[~still]
        left = left[still]
    return scales


def _of_all(layer: _Layer, scale: Array, count: int) -> Array:
    """One scale for all channels: that which leaves the fewest."""
    every = np.arange(count)

    def fewest(ulps: int) -> int:
        return int(layer.unsolved(np.repeat(_moved(scale, ulps), count), every).sum())

    best, least = 0, fewest(0)
    for ulps in _ULPS:
        if not least:
            break
        if (found := fewest(ulps)) < least:
            best, least = ulps, found
    return _moved(scale, best)


def _moved(scales: Array, ulps: int) -> Array:
    """Some steps of float32 further, which are positive numbers."""
    bits = scales.astype(np.float32).view(np.int32) + np.int32(ulps)
    return np.asarray(bits.astype(np.int32).view(np.float32))


def layers(model: onnx.ModelProto, constants: dict[str, onnx.TensorProto]) -> Iterator[_Layer]:
    """The layers between quantized tensors, each with the names of its scales and what its sums
    reach."""
    nodes = list(model.graph.node)
    writers = {name: node for node in nodes for name in node.output}
    consumers: dict[str, list[onnx.NodeProto]] = {}
    for node in nodes:
        for name in node.input:
            consumers.setdefault(name, []).append(node)

    def value(name: str) -> Array:
        return numpy_helper.to_array(constants[name])

    def dequantizer(name: str) -> onnx.NodeProto | None:
        found = writers.get(name)
        return found if found is not None and found.op_type == "DequantizeLinear" else None

    for node in nodes:
        if node.op_type not in ("Conv", "Gemm", "MatMul"):
            continue
        x, weights, *biases = (dequantizer(name) for name in node.input)
        after = consumers.get(node.output[0], [])
        if len(after) == 1 and after[0].op_type in ("Relu", "Clip"):
            after = consumers.get(after[0].output[0], [])
        if x is None or weights is None or [n.op_type for n in after] != ["QuantizeLinear"]:
            continue
        if weights.input[0] not in constants or (biases and biases[0] is None):
            continue
        integers = value(weights.input[0]).astype(np.int64)
        stacked = node.op_type == "MatMul" and integers.ndim > 2
        if stacked or integers.ndim < 2 or value(weights.input[2]).any():
            continue
        taps = np.moveaxis(integers, output_axis(node) if node.op_type != "MatMul" else -1, 0)
        bias = np.zeros(len(taps), np.int64)
        name = ""
        if biases and biases[0] is not None:
            bias, name = value(biases[0].input[0]).astype(np.int64), biases[0].input[1]
        zero = int(value(x.input[2]))
        limits = np.iinfo(value(x.input[2]).dtype)
        out = value(after[0].input[2])
        if max(out.dtype.itemsize, limits.bits // 8) > 1:
            continue  # kernels multiply sums of int16 by float32
        yield _Layer(
            (weights.input[1], name), value(weights.input[1]).reshape(-1),
            np.float32(value(x.input[1])), np.float32(value(after[0].input[1])), int(out),
            (int(np.iinfo(out.dtype).min), int(np.iinfo(out.dtype).max)),
            reach(taps, bias, int(limits.min) - zero, int(limits.max) - zero),
        )  # fmt: skip
