"""Fixed-point functions of gemmlowp (fixedpoint/fixedpoint.h) in integers: exp, logistic, tanh; and
the inverse square root that TFLite makes of its operations.

A number with i integer bits is an int32 that counts steps of 2**(i - 31). TFLite-Micro computes
Softmax, Logistic and Tanh of 8-bit tensors with them; their constants are gemmlowp's.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import Integers, high_product, rounding_shift

ONE = 2**31 - 1

# exp(-2**k) in 31 fractional bits, for k from -2 to 4.
_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_EXP_MINUS_EIGHTH = 1895147668
_ONE_THIRD = 715827883
_ROOT_OF_HALF = 1518500250
# The line that the search of a reciprocal begins at, 48/17 - 32/17 d, with 2 integer bits.
RECIPROCAL_AT_0, RECIPROCAL_SLOPE = 1515870810, -1010580540


def saturating_shift(x: Array, bits: int) -> Integers:
    """x * 2**bits, clamped to int32 (SaturatingRoundingMultiplyByPOT with a positive exponent)."""
    shifted: Integers = np.clip(x.astype(np.int64) << bits, -(2**31), 2**31 - 1)
    return shifted


def exp_of_negative(a: Array, integer_bits: int) -> Integers:
    """exp(a) for a <= 0 with `integer_bits` (at most 5), in 31 fractional bits."""
    fraction_bits = 31 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    value = a.astype(np.int64)
    offset = (value & (quarter - 1)) - quarter
    result = _exp_between_minus_quarter_and_0(saturating_shift(offset, integer_bits))
    remainder = offset - value
    for exponent, factor in enumerate(_POWERS, start=-2):
        if integer_bits > exponent:
            chosen = (remainder & (1 << (fraction_bits + exponent))) != 0
            result = np.where(chosen, high_product(result, factor), result)
    return np.where(value == 0, ONE, result)


def _exp_between_minus_quarter_and_0(a: Integers) -> Integers:
    """Taylor's series of degree 4 around -1/8."""
    x = a + (1 << 28)
    x2 = high_product(x, x)
    x3 = high_product(x2, x)
    x4_over_4 = rounding_shift(high_product(x2, x2), 2)
    cubic = high_product(x4_over_4 + x3, _ONE_THIRD)
    rest = rounding_shift(cubic + x2, 1)
    return _EXP_MINUS_EIGHTH + high_product(_EXP_MINUS_EIGHTH, x + rest)


def _half_reciprocal(a: Integers) -> Integers:
    """1 / (1 + a) with 2 integer bits, halved, for 0 <= a < 1: three of Newton's steps."""
    total = a.astype(np.int64) + ONE
    half = (total + 1) >> 1
    x = RECIPROCAL_AT_0 + high_product(half, RECIPROCAL_SLOPE)
    for _ in range(3):
        error = (1 << 29) - high_product(half, x)
        x = x + saturating_shift(high_product(x, error), 2)
    return x


def reciprocal(a: Array) -> Integers:
    """1 / (1 + a) for 0 <= a < 1, both with 31 fractional bits."""
    return saturating_shift(_half_reciprocal(a.astype(np.int64)), 1)


def inverse_root(value: int) -> tuple[int, int]:
    """A multiplier and its shift, as of `quantize_multiplier`, for 1 / sqrt of an integer below
    2**29, by five of Newton's steps with 3 integer bits from 1 (GetInvSqrtQuantizedMultiplierExp of
    TFLite). Of 0 and of less than that as of 1."""
    if value <= 1:
        return ONE, 0
    pairs = (31 - value.bit_length()) // 2 - 1
    scaled = np.array(value << 2 * pairs) >> 1
    half, x = rounding_shift(scaled, 1), np.array(1 << 28)
    for _ in range(5):
        cube = saturating_shift(high_product(high_product(x, x), x), 6)
        three_halves = (1 << 28) + (1 << 27)
        x = saturating_shift(high_product(three_halves, x) - high_product(half, cube), 3)
    return int(high_product(x, _ROOT_OF_HALF)), pairs - 11


def logistic(a: Array, integer_bits: int) -> Integers:
    """1 / (1 + exp(-a)) with 31 fractional bits."""
    value = a.astype(np.int64)
    positive = reciprocal(exp_of_negative(-np.abs(value), integer_bits))
    result = np.where(value > 0, positive, ONE - positive)
    return np.where(value == 0, 1 << 30, result)


def tanh(a: Array, integer_bits: int) -> Integers:
    """The hyperbolic tangent with 31 fractional bits: (1 - exp(-2a)) / (1 + exp(-2a))."""
    value = a.astype(np.int64)
    # exp(-2|a|): the same bits with one integer bit more.
    positive = _one_minus_x_over_one_plus_x(exp_of_negative(-np.abs(value), integer_bits + 1))
    return np.where(value == 0, 0, np.where(value > 0, positive, -positive))


def _one_minus_x_over_one_plus_x(a: Integers) -> Integers:
    return saturating_shift(_half_reciprocal(a) - (1 << 29), 2)
