"""TFLite's functions of one element of 8 bits: RELU, RELU6, LEAKY_RELU, LOGISTIC, TANH,
HARD_SWISH, RSQRT, and what LiteRT alone computes: ABS, ELU, EXP, GELU, LOG, SQRT; `AddZeroPoint`,
which is a step of SVDF; and `Rescale`, which is one of CONCATENATION of uint8.

Each is a table of 256 entries that is made with TFLite-Micro's integer arithmetic at compile time,
so the device only looks up; with LiteRT's float32 what TFLite-Micro has not: LOGISTIC, TANH and
Rescale of uint8, ELU, EXP, GELU, LOG and SQRT. LEAKY_RELU, LOGISTIC and TANH are computed on int16
as well, element by element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.gemmlowp import inverse_root, logistic, tanh
from mcu_deploy.arithmetic.tflite import (
    Integers,
    NoMultiplier,
    activation_bounds,
    multiply,
    quantize_multiplier,
    round_half_away,
    rounding_shift,
    scalar,
)
from mcu_deploy.ir import DType
from mcu_deploy.operators import tflite_lstm
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.elementwise import apply_table
from mcu_deploy.operators.tflite_lstm import sigmoid

# An inverse square root has so many fractional bits.
_ROOT_BITS = 20
# Logistic and Tanh read their input with 4 integer bits.
_INTEGER_BITS = 4


def _relu(call: Call, x: Integers) -> Integers:
    """A rescale and a clamp; the ratio of the scales is rounded to float32."""
    (sx, _), (sy, zero_point) = scalar(call.type(0)), scalar(call.results[0])
    factor = quantize_multiplier(float(np.float32(sx) / np.float32(sy)))
    low, high = call.attributes["bounds"]
    bounds = activation_bounds((float(low), float(high)), call.results[0])
    return np.clip(multiply(x, *factor) + zero_point, *bounds)


@dataclass(frozen=True)
class LeakyRelu:
    """The factors of LEAKY_RELU, each a multiplier and its shift: of what is not negative, and of
    the rest, whose sign changes where the slope is negative."""

    identity: tuple[int, int]
    slope: tuple[int, int]
    negates: bool

    @classmethod
    def of(cls, call: Call) -> LeakyRelu:
        sx, sy = (np.float32(scalar(t)[0]) for t in (call.type(0), call.results[0]))
        alpha = np.float32(call.attributes["alpha"])
        slope = quantize_multiplier(float(sx * abs(alpha) / sy))
        return cls(quantize_multiplier(float(sx / sy)), slope, bool(alpha < 0))


def _leaky_relu(call: Call, x: Integers) -> Integers:
    factors, zero_point = LeakyRelu.of(call), scalar(call.results[0])[1]
    below = multiply(x, *factors.slope) * (-1 if factors.negates else 1)
    return np.where(x >= 0, multiply(x, *factors.identity), below) + zero_point


def _rescaled(call: Call, x: Integers) -> tuple[Integers, Integers]:
    """The input with 4 integer bits, and -1, 0 or 1 where it lies below, inside or above."""
    real = scalar(call.type(0))[0] * 2 ** (31 - _INTEGER_BITS)
    multiplier, shift = quantize_multiplier(real, most_shift=None)
    radius = ((1 << _INTEGER_BITS) - 1) * 2 ** (31 - _INTEGER_BITS) // 2**shift
    side = (x >= radius).astype(np.int64) - (x <= -radius)
    return multiply(np.where(side == 0, x, 0), multiplier, shift), side


def sixteen_bit_factor(call: Call) -> tuple[int, int]:
    """What an int16 input of Sigmoid or Tanh is multiplied by and shifted to the right, to steps of
    1 / (3 * 2**12) (LogisticPrepare, TanhPrepare). Raises NoMultiplier for too large a scale."""
    scale = scalar(call.type(0))[0]
    power = math.log2(scale)
    left = 12 + round(power)
    if abs(power - round(power)) < 1e-3 and left in ((0,) if call.op == "Sigmoid" else (0, 1)):
        return 3 << left, 0
    multiplier, shift = scale * 4096.0 * 3.0, 0
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        multiplier, shift = multiplier * 2.0, shift + 1
    if multiplier >= 32768:
        raise NoMultiplier(
            f"has an input of int16 whose scale is {scale:.4g}, and TFLite-Micro takes less than "
            "2.67 there"
        )
    return int(multiplier), shift


def _of_reals(call: Call, x: Integers, function: Callable[[Array], Array]) -> Integers:
    """A function of float32 in the output's steps, as LiteRT makes tables (PopulateLookupTable)."""
    (sx, _), (sy, zero_point) = scalar(call.type(0)), scalar(call.results[0])
    result = function(np.float32(sx) * x.astype(np.float32)) * (np.float32(1) / np.float32(sy))
    return round_half_away(np.clip(result, -(2.0**30), 2.0**30)) + zero_point


def _logistic_of_real(x: Array) -> Array:
    one = np.float32(1)
    return np.asarray(one / (one + np.exp(-x.astype(np.float64)).astype(np.float32)))


def _tanh_of_real(x: Array) -> Array:
    return _rounded(np.tanh, x)


def _logistic(call: Call, x: Integers) -> Integers:
    if call.type(0).dtype is DType.UINT8:
        return _of_reals(call, x, _logistic_of_real)
    if call.type(0).dtype is DType.INT16:
        return sigmoid(x, sixteen_bit_factor(call))
    value, side = _rescaled(call, x)
    inside = rounding_shift(logistic(value, _INTEGER_BITS), 31 - 8) - 128
    return np.where(side == 0, inside, np.where(side > 0, 127, -128))


def _tanh(call: Call, x: Integers) -> Integers:
    if call.type(0).dtype is DType.UINT8:
        return _of_reals(call, x, _tanh_of_real)
    if call.type(0).dtype is DType.INT16:
        return tflite_lstm.tanh(x, sixteen_bit_factor(call))
    value, side = _rescaled(call, x)
    inside = rounding_shift(tanh(value, _INTEGER_BITS), 31 - 7)
    return np.where(side == 0, inside, np.where(side > 0, 127, -128))


def _hard_swish(call: Call, x: Integers) -> Integers:
    """x * relu6(x + 3) / 6 in 16 bits (reference/hard_swish.h)."""
    (sx, _), (sy, zero_point) = scalar(call.type(0)), scalar(call.results[0])
    fine = np.float32(1.0 / 128.0) * np.float32(sx)
    output, output_exponent = _narrow(float(fine / np.float32(sy)))
    ramp, ramp_exponent = _narrow(float(fine / np.float32(3.0 / 32768.0)))
    value = x << 7
    # The ramp from -3 to 3 as -1 to 1, with 15 fractional bits.
    share = _saturate16(value << max(ramp_exponent - 1, 0))
    share = _high_product16(share, ramp)
    right = max(-ramp_exponent, 0)
    share = _saturate16(share << 1) if ramp_exponent > 0 else rounding_shift(share, right)
    share = (share + (1 << 15)) >> 1
    product = share * _high_product16(value, output)
    # Truncated towards zero, as C divides.
    product = np.sign(product) * (np.abs(product) >> 15)
    return rounding_shift(product, -output_exponent) + zero_point


def _rsqrt(call: Call, x: Integers) -> Integers:
    """The largest output of 0, and of less, for which TFLite-Micro ends the run."""
    (sx, _), (sy, zero_point) = scalar(call.type(0)), scalar(call.results[0])
    multiplier, shift = quantize_multiplier(1 / float(np.sqrt(np.float32(sx)) * np.float32(sy)))
    one, found = np.array(1), np.full(x.shape, call.results[0].dtype.range[1], np.int64)
    for at in np.flatnonzero(x > 0):
        root, places = inverse_root(int(x[at]))
        fine = multiply(one, root, places + _ROOT_BITS)
        found[at] = multiply(fine, multiplier, shift - _ROOT_BITS) + zero_point
    return found


def _abs(call: Call, x: Integers) -> Integers:
    (sx, _), (sy, zero_point) = scalar(call.type(0)), scalar(call.results[0])
    factor = quantize_multiplier(float(np.float32(sx) / np.float32(sy)))
    return multiply(np.abs(x), *factor) + zero_point


def _elu(call: Call, x: Integers) -> Integers:
    return _of_reals(call, x, lambda r: np.where(r < 0, _rounded(np.expm1, r), r))


def _exp(call: Call, x: Integers) -> Integers:
    return _of_reals(call, x, lambda r: _rounded(np.exp, r))


def _gelu(call: Call, x: Integers) -> Integers:
    """In float32, in the order of reference/gelu.h."""
    half, one = np.float32(0.5), np.float32(1)

    def by_erfc(r: Array) -> Array:
        return half * r * _rounded(np.vectorize(math.erfc), r * np.float32(-math.sqrt(0.5)))

    def by_tanh(r: Array) -> Array:
        inner = np.float32(math.sqrt(2 / math.pi)) * (r + np.float32(0.044715) * r * r * r)
        return half * r * (one + _rounded(np.tanh, inner))

    return _of_reals(call, x, by_tanh if "approximate" in call.attributes else by_erfc)


def _log(call: Call, x: Integers) -> Integers:
    """The lowest output of what is not positive."""
    result = _of_reals(call, np.maximum(x, 1), lambda r: _rounded(np.log, r))
    result[x <= 0] = call.results[0].dtype.range[0]
    return result


def _sqrt(call: Call, x: Integers) -> Integers:
    """Truncated; of less than 0, for which LiteRT ends the run, what it is of 0."""
    (sx, _), (sy, zero_point) = scalar(call.type(0)), scalar(call.results[0])
    root = np.sqrt(np.float32(sx) * np.maximum(x, 0).astype(np.float32))
    whole: Integers = np.trunc(root / np.float32(sy)).astype(np.int64)
    return whole + zero_point


def _rounded(function: Callable[[Array], Array], x: Array) -> Array:
    """A function of float32, computed in float64 and rounded once."""
    with np.errstate(over="ignore"):
        return np.asarray(function(x.astype(np.float64))).astype(np.float32)


def _add_zero_point(call: Call, x: Integers) -> Integers:
    """An integer around 0 plus the output's zero point, of which the low 8 bits are kept."""
    return (x + scalar(call.results[0])[1]).astype(np.int8).astype(np.int64)


def _rescale(call: Call, x: Integers) -> Integers:
    """The same real number in the output's steps (reference_ops::ConcatenationWithScaling)."""
    (sx, zero), (sy, zero_point) = scalar(call.type(0)), scalar(call.results[0])
    factor = np.float32(sx) * (np.float32(1) / np.float32(sy))
    real = (x + zero).astype(np.float32) * factor + np.float32(-zero) * factor
    return round_half_away(real) + zero_point


def _narrow(real: float) -> tuple[int, int]:
    """A multiplier of 15 bits and its exponent (DownScaleInt32ToInt16Multiplier)."""
    multiplier, exponent = quantize_multiplier(real)
    half = 1 << 15
    return (32767 if multiplier >= 2**31 - 1 - half else (multiplier + half) >> 16), exponent


def _saturate16(value: Integers) -> Integers:
    return np.clip(value, -(2**15), 2**15 - 1)


def _high_product16(a: Integers, b: int) -> Integers:
    """SaturatingRoundingDoublingHighMul of 16 bits: rounded to nearest, ties up."""
    return np.asarray(np.minimum((a * b + (1 << 14)) >> 15, 2**15 - 1))


FUNCTIONS: Mapping[str, Callable[[Call, Integers], Integers]] = {
    "Relu": _relu,
    "LeakyRelu": _leaky_relu,
    "Sigmoid": _logistic,
    "Tanh": _tanh,
    "HardSwish": _hard_swish,
    "Rsqrt": _rsqrt,
    "Abs": _abs,
    "Elu": _elu,
    "Exp": _exp,
    "Gelu": _gelu,
    "Log": _log,
    "Sqrt": _sqrt,
    "AddZeroPoint": _add_zero_point,
    "Rescale": _rescale,
}


def function_table(call: Call) -> Array:
    """The output for each of the 256 inputs, indexed by the input's byte."""
    x_type, y_type = call.type(0), call.results[0]
    inputs = np.arange(x_type.dtype.range[0], x_type.dtype.range[1] + 1)
    results = FUNCTIONS[call.op](call, inputs.astype(np.int64) - scalar(x_type)[1])
    table = np.zeros(256, dtype=y_type.dtype.numpy)
    table[inputs & 0xFF] = np.clip(results, *y_type.dtype.range)
    return table


def function_factors(call: Call) -> object:
    """What a function makes of its scales: a table, or the factors alone. Raises NoMultiplier."""
    if call.op == "LeakyRelu":
        return LeakyRelu.of(call)
    if call.type(0).dtype is DType.INT16:
        return sixteen_bit_factor(call)
    return function_table(call)


def _evaluate(call: Call) -> list[Array]:
    x, y = call.type(0), call.results[0]
    if x.dtype is DType.INT16:
        results = FUNCTIONS[call.op](call, call.value(0).astype(np.int64) - scalar(x)[1])
        return [np.clip(results, *y.dtype.range).astype(y.dtype.numpy)]
    return [apply_table(call.value(0), function_table(call))]


OPERATORS = tuple(Operator(op, _evaluate, domain="tflite", elementwise=True) for op in FUNCTIONS)
