"""LayerNormalization-17 in float32."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array, clip
from mcu_deploy.operators.base import Call, Operator


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


OPERATORS = (Operator("LayerNormalization", _layer_normalization),)
