"""TFLite's SOFTMAX of int16, Softmax16, over the last axis: exp and a reciprocal by tables.

Attribute `beta`: the factor of the input. Input and output lie around 0; the output's scale is
1/32768. Source: SoftmaxInt16 of tensorflow/lite/kernels/internal/reference/softmax.h, and
LUTPopulateInt16 and LUTLookup of internal/common.h.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import (
    Integers,
    multiply,
    quantize_multiplier,
    round_half_away,
    scalar,
)
from mcu_deploy.operators.base import Call, Operator

# The inputs of a table are 0 to 2**16 - 1, of which the upper 9 bits say where in it, and the lower
# 7 how far it is to the next entry.
RANGE, STEP_BITS = (1 << 16) - 1, 7
# exp is 0 from here on.
_FAR = 10.0
# A distance of 16 bits that is shifted to the left by more leaves 32.
_MOST_SHIFT = 14


def factor(call: Call) -> tuple[int, int]:
    """What a distance from the maximum is multiplied by, to steps of 10 / (2**16 - 1). Raises
    NoMultiplier for a scale that is too large."""
    beta = float(np.float32(call.attributes.get("beta", 1.0)))
    return quantize_multiplier(scalar(call.type(0))[0] * beta / (_FAR / RANGE), _MOST_SHIFT)


def exponentials() -> Integers:
    """exp from -10 to 0, in 15 fractional bits: 512 entries and the one behind the last."""
    return _table(_FAR / RANGE, RANGE, lambda x: np.exp(x.astype(np.float64)).astype(np.float32))


def reciprocals() -> Integers:
    """1 / (1 + x) from 0 to 1, likewise."""
    return _table(1.0 / RANGE, 0, lambda x: np.float32(1) / (np.float32(1) + x))


def _table(scale: float, zero: int, function: Callable[[Array], Array]) -> Integers:
    """A function of float32 at 512 steps, each moved by half the error in the middle of it."""
    steps = 512
    low, high = (np.float32(scale) * np.float32(end - zero) for end in (0, RANGE))
    step = (high - low) / np.float32(steps)
    at = np.arange(steps, dtype=np.float32)
    most, least = (np.float32(2.0 / RANGE) * np.float32(end) for end in ((1 << 15) - 1, -(1 << 15)))
    unit = np.float32(1 << 16) / (most - least)
    here, middle, following = (
        function(x) * unit
        for x in (low + at * step, low + at * step + step / 2, low + (at + 1) * step)
    )
    interpolated = round_half_away((following + round_half_away(here).astype(np.float32)) / 2)
    error = (interpolated - round_half_away(middle)).astype(np.float32)
    entries = round_half_away(here) - round_half_away(error / 2)
    last = round_half_away(function(np.array([high])) * unit)
    return np.clip(np.append(entries, last), -(1 << 15), (1 << 15) - 1)


def _looked_up(table: Integers, value: Integers) -> Integers:
    """Between two entries, rounded to nearest, ties up."""
    place, rest = value >> STEP_BITS, value & ((1 << STEP_BITS) - 1)
    here, following = np.take(table, place), np.take(table, place + 1)
    between: Integers = ((following - here) * rest + (1 << STEP_BITS - 1)) >> STEP_BITS
    return here + between


def _softmax(call: Call) -> list[Array]:
    x = call.value(0).astype(np.int64)
    distance = multiply(x - x.max(axis=-1, keepdims=True), *factor(call))
    terms = _looked_up(exponentials(), np.maximum(distance + RANGE, 0))
    total = terms.sum(axis=-1, keepdims=True)
    bits = np.floor(np.log2(total)).astype(np.int64)
    # total = (1 + fraction) * 2**bits, with 16 bits of the fraction.
    fraction = (((total << (30 - bits)) + (1 << 13)) >> 14) - (1 << 16)
    scale = _looked_up(reciprocals(), np.minimum(fraction, RANGE))
    share = (terms * scale + (1 << (bits - 1))) >> bits
    return [np.minimum(share, (1 << 15) - 1).astype(np.int16)]


OPERATORS = (Operator("Softmax16", _softmax, domain="tflite"),)
