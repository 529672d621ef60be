"""TFLite's quantized AVERAGE_POOL_2D, MAX_POOL_2D with a clamp, MEAN and SUM.

Attributes are those of ONNX's AveragePool, MaxPool, ReduceMean and ReduceSum (`axes`).
"""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import (
    activation_bounds,
    mean_multiplier,
    multiply,
    quantize_multiplier,
    saturate,
    scalar,
    wrap,
)
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.pool import folded, largest, pool_window
from mcu_deploy.operators.reduction import reduced_axes
from mcu_deploy.operators.windows import count_taps


def _average(call: Call) -> list[Array]:
    """The integers themselves are averaged: input and output have one scale and zero point."""
    y, geometry = call.results[0], pool_window(call)
    sums = folded(call, call.value(0), np.add, np.int64(0))
    count = count_taps(geometry).astype(np.int64)
    # Rounded to nearest, ties away from zero.
    means = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
    return [saturate(means, 0, activation_bounds(call.activation, y), y.dtype)]


def _maximum(call: Call) -> list[Array]:
    y = call.results[0]
    return [saturate(largest(call), 0, activation_bounds(call.activation, y), y.dtype)]


def reduction_multiplier(call: Call) -> tuple[int, int, int]:
    """Multiplier and shift of a mean or sum, and over how many elements it runs."""
    x, y = call.type(0), call.results[0]
    count = math.prod(x.shape[axis] for axis in reduced_axes(call))
    if call.op == "ReduceMean":
        return *mean_multiplier(x, y, count), count
    return *quantize_multiplier(scalar(x)[0] / scalar(y)[0]), count


def _reduce(call: Call) -> list[Array]:
    y = call.results[0]
    multiplier, shift, count = reduction_multiplier(call)
    sums = call.value(0).astype(np.int64).sum(axis=reduced_axes(call))
    real = sums - count * scalar(call.type(0))[1]
    scaled = multiply(wrap(real), multiplier, shift).reshape(y.shape)
    return [saturate(scaled, scalar(y)[1], y.dtype.range, y.dtype)]


OPERATORS = (
    Operator("AveragePool", _average, domain="tflite", monotone=True),
    Operator("MaxPool", _maximum, domain="tflite", monotone=True),
    Operator("ReduceMean", _reduce, domain="tflite", monotone=True),
    Operator("ReduceSum", _reduce, domain="tflite"),
)
