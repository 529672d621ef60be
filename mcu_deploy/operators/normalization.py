"""Softmax-13 (and its older, flattening form), BatchNormalization-15 at inference, and
LayerNormalization-17."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array, activation_bounds, clip, requantized, softmax_quantized
from mcu_deploy.operators.base import Call, Operator


def softmax_extent(call: Call) -> tuple[int, int, int]:
    """(outer, axis, inner): Softmax and LogSoftmax run over the middle extent of the tensor.

    Before opset 13, they flatten to two dimensions at `axis` (default 1). The attribute `opset`
    is that of a QLinearSoftmax, which states it apart from the model's.
    """
    shape = call.type(0).shape
    if call.attributes.get("opset", call.opset) < 13:
        axis = int(call.attributes.get("axis", 1)) % max(len(shape), 1)
        return math.prod(shape[:axis]), math.prod(shape[axis:]), 1
    axis = int(call.attributes.get("axis", -1)) % len(shape)
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def _softmax(call: Call) -> list[Array]:
    x = call.value(0).reshape(softmax_extent(call))
    if call.is_quantized:
        y = softmax_quantized(x, call.type(0), call.results[0], 1)
        return [y.reshape(call.results[0].shape)]
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    total = exponentials.sum(axis=1, keepdims=True, dtype=np.float32)
    return [(exponentials / total).reshape(call.results[0].shape)]


def _batch_normalization(call: Call) -> list[Array]:
    x = call.value(0)
    column = (1, -1)[-x.ndim :] + (1,) * (x.ndim - 2)
    scale, bias, mean, variance = (call.value(i).reshape(column) for i in range(1, 5))
    factor = scale / np.sqrt(variance + np.float32(call.attributes.get("epsilon", 1e-5)))
    return [clip((x - mean) * factor + bias, call.activation)]


def normalized_axis(call: Call) -> int:
    """The first of the axes that are normalized together."""
    return call.axis(-1)


@dataclass(frozen=True)
class Steps:
    """What a layer normalization of integers reads, in float32: epsilon in steps of its input, as
    large as its sums; gain and bias, of one element or of the normalized shape, in steps of its
    output."""

    epsilon: float
    gain: Array
    bias: Array


# Of bytes, whose squares add up in 32 bits.
MOST_NORMALIZED = 1 << 15


def in_steps(call: Call) -> Steps:
    x, axis = call.type(0), normalized_axis(call)
    shape, size = x.shape[axis:], math.prod(x.shape[axis:])
    epsilon = float(np.float32(call.attributes.get("epsilon", 1e-5)))
    y_scale = float(call.results[0].scaling.scales[0])
    given = (call.value(1), np.zeros(()) if call.optional(2) is None else call.value(2))
    gain, bias = (np.broadcast_to(_held(g.astype(np.float64) / y_scale), shape) for g in given)
    gain, bias = (g.reshape(-1)[:1] if (g == g.reshape(-1)[:1]).all() else g for g in (gain, bias))
    return Steps(float(_held(epsilon * (size / float(x.scaling.scales[0])) ** 2)), gain, bias)


def _held(value: float | Array) -> Array:
    """In float32, the largest number instead of infinity."""
    most = np.finfo(np.float32).max
    return np.asarray(np.clip(value, -most, most), np.float32)


def _by_integers(call: Call) -> list[Array]:
    """Exact sums; each operation on what is made of them is rounded to float32."""
    x, y, steps = call.value(0).astype(np.int64), call.results[0], in_steps(call)
    axes = tuple(range(normalized_axis(call), x.ndim))
    size = math.prod(x.shape[axis] for axis in axes)
    total = x.sum(axis=axes, keepdims=True)
    spread = size * (x * x).sum(axis=axes, keepdims=True) - total * total
    inverse = np.float32(1) / np.sqrt(spread.astype(np.float32) + np.float32(steps.epsilon))
    scaled = (size * x - total).astype(np.float32) * inverse * steps.gain + steps.bias
    bounds = activation_bounds(call.activation, y)
    zero = y.scaling.zero_point[0]
    return [requantized(scaled, np.float32(1), zero, bounds)]


def _layer_normalization(call: Call) -> list[Array]:
    if call.is_quantized:
        return _by_integers(call)
    x = call.value(0)
    axes = tuple(range(normalized_axis(call), x.ndim))
    # In float64 and rounded once, like every function of the oracle that has no exact form.
    wide = x.astype(np.float64)
    mean = wide.mean(axis=axes, keepdims=True)
    centred = wide - mean
    variance = (centred * centred).mean(axis=axes, keepdims=True)
    epsilon = float(np.float32(call.attributes.get("epsilon", 1e-5)))
    inverse = 1.0 / np.sqrt(variance + epsilon)
    result = centred * inverse * call.value(1)
    bias = call.optional(2)
    if bias is not None:
        result = result + bias
    found = [clip(result.astype(np.float32), call.activation)]
    return [*found, *(v.astype(np.float32) for v in (mean, inverse))][: len(call.results)]


OPERATORS = (
    Operator("Softmax", _softmax, quantized="native"),
    Operator("BatchNormalization", _batch_normalization, takes_clamp=True),
    Operator("LayerNormalization", _layer_normalization, quantized="native", real_parameters=True),
)
