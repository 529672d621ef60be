"""Softmax-13 (and its older, flattening form), BatchNormalization-15 at inference, and
LayerNormalization-17 in float32."""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.arithmetic import Array, clip, softmax_quantized
from mcu_deploy.operators.base import Call, Operator


def softmax_extent(call: Call) -> tuple[int, int, int]:
    """(outer, axis, inner): Softmax runs over the middle extent of the tensor seen like this.

    Before opset 13, Softmax flattens to two dimensions at `axis` (default 1). The attribute `opset`
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
    column = (1, -1) + (1,) * (x.ndim - 2)
    scale, bias, mean, variance = (call.value(i).reshape(column) for i in range(1, 5))
    factor = scale / np.sqrt(variance + np.float32(call.attributes.get("epsilon", 1e-5)))
    return [clip((x - mean) * factor + bias, call.activation)]


def normalized_axis(call: Call) -> int:
    """The first of the axes that are normalized together."""
    return int(call.attributes.get("axis", -1)) % call.type(0).rank


def _layer_normalization(call: Call) -> list[Array]:
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
    Operator("LayerNormalization", _layer_normalization),
)
