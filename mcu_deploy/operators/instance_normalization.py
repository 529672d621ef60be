"""InstanceNormalization-6 and LRN-13, in float32."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def _instance(call: Call) -> list[Array]:
    """Each plane by its own mean and deviation; in float64, rounded once."""
    x = call.value(0).astype(np.float64)
    axes, column = tuple(range(2, x.ndim)), (1, -1) + (1,) * (x.ndim - 2)
    scale, bias = (call.value(k).astype(np.float64).reshape(column) for k in (1, 2))
    centred = x - x.mean(axis=axes, keepdims=True)
    variance = (centred * centred).mean(axis=axes, keepdims=True)
    epsilon = float(np.float32(call.attributes.get("epsilon", 1e-5)))
    return [(centred / np.sqrt(variance + epsilon) * scale + bias).astype(np.float32)]


def response_window(call: Call) -> tuple[int, int]:
    """How many channels before and behind its own LRN sums the squares of."""
    size = int(call.attributes["size"])
    return (size - 1) // 2, size // 2


def _local_response(call: Call) -> list[Array]:
    """In float64, rounded once."""
    x = call.value(0).astype(np.float64)
    before, behind = response_window(call)
    squares = np.zeros_like(x)
    for c in range(x.shape[1]):
        part = x[:, max(0, c - before) : c + behind + 1]
        squares[:, c] = (part * part).sum(axis=1)
    alpha, beta, bias = (
        float(np.float32(call.attributes.get(name, default)))
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    divisor = (bias + alpha / int(call.attributes["size"]) * squares) ** beta
    return [(x / divisor).astype(np.float32)]


OPERATORS = (Operator("InstanceNormalization", _instance), Operator("LRN", _local_response))
