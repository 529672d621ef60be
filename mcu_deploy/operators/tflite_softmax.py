"""TFLite's SOFTMAX on int8 and uint8, in gemmlowp's fixed point, over the last axis.

Attribute `beta`: the factor of the input, 1 in most models. Output: scale 1/256 and the least
number as its zero point; of int8 also int16 of scale 1/65536, zero point -32768. And LOG_SOFTMAX,
LogSoftmax, in float32; output: scale 1/16 and the largest number as its zero point.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.gemmlowp import exp_of_negative, reciprocal
from mcu_deploy.arithmetic.tflite import (
    Integers,
    NoMultiplier,
    high_product,
    multiply,
    quantize_multiplier,
    rounding_shift,
    scalar,
)
from mcu_deploy.operators.base import Call, Operator

_DIFFERENCE_BITS = 5
# exp is summed with so many integer bits, so that 4,095 terms of 1 fit.
SUM_BITS = 12


def exponentials(call: Call) -> Integers:
    """exp(-d * scale * beta) in 31 fractional bits, for the distances d from the maximum.

    There are as many as distances that count: the result is 0 for every longer one. Raises
    NoMultiplier for scales that are too small.
    """
    real = float(np.float32(call.attributes.get("beta", 1.0))) * scalar(call.type(0))[0]
    real = min(real * 2 ** (31 - _DIFFERENCE_BITS), 2**31 - 1.0)
    if not real > 1:
        raise NoMultiplier(
            f"has an input whose scale times beta is not above 2**-{31 - _DIFFERENCE_BITS}, which "
            "TFLite-Micro refuses as well"
        )
    multiplier, shift = quantize_multiplier(real, most_shift=None)
    # The longest distance whose rescaled value has 5 integer bits (CalculateInputRadius).
    radius = ((1 << _DIFFERENCE_BITS) - 1) << (31 - _DIFFERENCE_BITS) >> shift
    distances = np.arange(min(radius, 255) + 1, dtype=np.int64)
    return exp_of_negative(multiply(-distances, multiplier, shift), _DIFFERENCE_BITS)


def terms(call: Call) -> Integers:
    """`exponentials` without those at the end that change nothing: less than half a unit of the
    sum, they are even less of an element."""
    table = exponentials(call)
    counts = np.flatnonzero(rounding_shift(table, SUM_BITS))
    return table[: counts[-1] + 1]


def _softmax(call: Call) -> list[Array]:
    y = call.results[0]
    x = call.value(0).astype(np.int64)
    table = exponentials(call)
    distance = x.max(axis=-1, keepdims=True) - x
    counts = distance < len(table)
    terms = np.where(counts, table[np.minimum(distance, len(table) - 1)], 0)
    total = rounding_shift(terms, SUM_BITS).sum(axis=-1, keepdims=True)
    leading = np.array([32 - int(t).bit_length() for t in total.reshape(-1)]).reshape(total.shape)
    scale = reciprocal(((total << leading) & 0xFFFFFFFF) - (1 << 31))
    bits, (low, high) = 8 * y.dtype.bytes, y.dtype.range
    share = rounding_shift(high_product(scale, terms), SUM_BITS - leading + 31 - bits)
    return [np.where(counts, np.minimum(share + low, high), low).astype(y.dtype.numpy)]


def real_exponentials(call: Call) -> Array:
    """exp(-d * scale) in float32, for the distances d from the maximum."""
    step = np.float32(scalar(call.type(0))[0])
    distances = -step * np.arange(256, dtype=np.float32)
    return np.exp(distances.astype(np.float64)).astype(np.float32)


def _log_softmax(call: Call) -> list[Array]:
    """In float32, but for the logarithm, which is rounded once (LogSoftmax of optimized_ops.h)."""
    y, x = call.results[0], call.value(0).astype(np.int64)
    (sx, _), (sy, zero) = scalar(call.type(0)), scalar(y)
    step, scale = np.float32(sx), np.float32(sy)
    largest = x.max(axis=-1, keepdims=True)
    # One after the other.
    total = np.add.accumulate(real_exponentials(call)[largest - x], axis=-1)[..., -1:]
    logarithm = np.log(total.astype(np.float64)).astype(np.float32)
    below = (step * largest.astype(np.float32) + logarithm) / scale
    steps = np.rint((step / scale) * x.astype(np.float32) - below) + zero
    return [np.clip(steps, *y.dtype.range).astype(y.dtype.numpy)]


OPERATORS = (
    Operator("Softmax", _softmax, domain="tflite"),
    Operator("LogSoftmax", _log_softmax, domain="tflite"),
)
