"""The arithmetic of TFLite models in numpy: that of TensorFlow Lite Micro's reference kernels.

A real factor becomes a 31-bit multiplier and a shift; a product is rounded twice, once by the
multiplication and once by the shift. Sources: tensorflow/lite/kernels/internal/common.cc,
quantization_util.cc and reference/ of tflite-micro; fixedpoint.h of gemmlowp. Values are int64
arrays that hold int32 values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import DType, Quantization, TensorType

Integers = npt.NDArray[np.int64]


# TFLite's kernels multiply int32 by `1 << shift`.
_MOST_SHIFT = 30


class NoMultiplier(ValueError):
    """A factor that TFLite's arithmetic cannot multiply by; the text is a clause that says so."""


def quantize_multiplier(real: float, most_shift: int | None = _MOST_SHIFT) -> tuple[int, int]:
    """(multiplier, shift): real = multiplier * 2**(shift - 31), QuantizeMultiplier of TFLite.

    The multiplier has 31 significant bits, or is 0 where the factor is below 2**-31. most_shift:
    None where only 0 is ever multiplied by a larger factor. Raises NoMultiplier for what is above
    it, and for no number.
    """
    if real == 0:
        return 0, 0
    if not math.isfinite(real):
        raise _beyond(real)
    fraction, shift = math.frexp(real)
    fixed = math.floor(abs(fraction) * 2**31 + 0.5) * (1 if fraction > 0 else -1)
    if fixed == 2**31:
        fixed //= 2
        shift += 1
    if most_shift is not None and shift > most_shift:
        raise _beyond(real, most_shift)
    return (0, 0) if shift < -31 else (fixed, shift)


def _beyond(real: float, most_shift: int = _MOST_SHIFT) -> NoMultiplier:
    return NoMultiplier(
        f"multiplies integers by {real:.4g}, which its scales make, and TensorFlow Lite's "
        f"arithmetic of 32 bits by less than 2**{most_shift} only"
    )


def wrap(value: Array) -> Integers:
    """The int32 that the low 32 bits of each integer are."""
    return value.astype(np.int64).astype(np.int32).astype(np.int64)


def high_product(a: Array | int, b: Array | int) -> Integers:
    """a * b / 2**31, rounded to nearest, ties up (SaturatingRoundingDoublingHighMul).

    Of two fixed-point numbers of i and j integer bits it is the product with i + j.
    """
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    return np.asarray(np.minimum((product + (1 << 30)) >> 31, 2**31 - 1))


def rounding_shift(x: Array, bits: Array | int) -> Integers:
    """x / 2**bits, rounded to nearest, ties away from zero (RoundingDivideByPOT)."""
    value, mask = x.astype(np.int64), (np.int64(1) << np.asarray(bits, np.int64)) - 1
    threshold = (mask >> 1) + (value < 0)
    return (value >> bits) + ((value & mask) > threshold)


def multiply(x: Array, multiplier: Array | int, shift: Array | int) -> Integers:
    """x * multiplier * 2**(shift - 31), rounded twice (MultiplyByQuantizedMultiplier).

    A positive shift is done first, in 32 bits.
    """
    shifts = np.asarray(shift, np.int64)
    shifted = wrap(x.astype(np.int64) << np.maximum(shifts, 0))
    return rounding_shift(high_product(shifted, multiplier), np.maximum(-shifts, 0))


# The shifts that sums of 64 bits may have; TFLite's kernels assert them.
_MOST_WIDE_SHIFT = 7


def wide_factor(multiplier: Array, shift: Array) -> tuple[Integers, Integers]:
    """A factor for sums of 64 bits: (multiplier, shift), the multiplier with 15 bits and the shift
    to the right, 8 to 46. Raises NoMultiplier for a factor of 2**7 or more."""
    if (shift > _MOST_WIDE_SHIFT).any():
        raise NoMultiplier(
            f"multiplies sums of 64 bits by 2**{_MOST_WIDE_SHIFT} or more, and TensorFlow Lite's "
            "arithmetic by less only"
        )
    reduced = np.where(multiplier < 0x7FFF0000, (multiplier + (1 << 15)) >> 16, 0x7FFF)
    return reduced.astype(np.int64), np.asarray(15 - shift, np.int64)


def multiply_wide(x: Array, multiplier: Array | int, shift: Array | int) -> Integers:
    """x * multiplier / 2**shift of a `wide_factor`, rounded once, ties up: the form of
    MultiplyByQuantizedMultiplier for int64."""
    product = x.astype(np.int64) * np.asarray(multiplier, np.int64)
    return wrap((product + (np.int64(1) << (np.asarray(shift, np.int64) - 1))) >> shift)


def activation_bounds(activation: tuple[float, float], type_: TensorType) -> tuple[int, int]:
    """The quantized bounds of a fused activation (CalculateActivationRangeQuantized).

    A bound is divided by the scale in float32 and rounded, ties away from zero.
    """
    scale, zero_point = scalar(type_)
    low, high = type_.dtype.range
    if math.isfinite(activation[0]):
        low = max(low, zero_point + _round(np.float32(activation[0]) / np.float32(scale)))
    if math.isfinite(activation[1]):
        high = min(high, zero_point + _round(np.float32(activation[1]) / np.float32(scale)))
    return low, high


def _round(value: np.float32) -> int:
    """To nearest, ties away from zero; far outside of every type where the quotient is infinite."""
    bounded = min(max(float(value), -(2.0**31)), 2.0**31)
    return int(math.copysign(math.floor(abs(bounded) + 0.5), bounded))


def scalar(type_: TensorType) -> tuple[float, int]:
    """Scale and zero point of a tensor that is quantized per tensor."""
    quantization = type_.quantization
    assert quantization is not None and quantization.per_tensor
    return quantization.scale[0], quantization.zero_point[0]


def saturate(value: Array, zero_point: int, bounds: tuple[int, int], dtype: DType) -> Array:
    """Adds the output's zero point and clamps."""
    return np.asarray(np.clip(value + zero_point, *bounds), dtype=dtype.numpy)


def convolution_multipliers(
    x: Quantization, w: Quantization, y: Quantization
) -> tuple[Integers, Integers]:
    """Multipliers and shifts of sx * sw / sy, in float64: one, or one a filter."""
    reals = [x.scale[0] * scale / y.scale[0] for scale in w.scale]
    return _arrays(reals)


def fully_connected_multipliers(
    x: Quantization, w: Quantization, y: Quantization
) -> tuple[Integers, Integers]:
    """As for convolutions, but of a single scale the product sx * sw is rounded to float32."""
    if len(w.scale) > 1:
        return convolution_multipliers(x, w, y)
    product = np.float32(x.scale[0]) * np.float32(w.scale[0])
    return _arrays([float(product) / y.scale[0]])


def _arrays(reals: list[float]) -> tuple[Integers, Integers]:
    pairs = [quantize_multiplier(real) for real in reals]
    return np.array([m for m, _ in pairs], np.int64), np.array([s for _, s in pairs], np.int64)


@dataclass(frozen=True)
class Sum:
    """How Add and Sub bring two tensors to one scale, and their sum to the output's; and how
    SquaredDifference does so with the square of their difference.

    Each pair is a multiplier and its shift. before: what comes in front, a shift to the left; the
    bits that 8-bit inputs have room for, or `WIDE` for int16.
    """

    left: tuple[int, int]
    right: tuple[int, int]
    result: tuple[int, int]
    before: int = 20

    SHIFT, WIDE, SQUARED = 20, 15, 7

    @classmethod
    def of(cls, a: TensorType, b: TensorType, y: TensorType) -> Sum:
        scales = scalar(a)[0], scalar(b)[0]
        twice = 2 * max(scales)
        before = cls.WIDE if y.dtype is DType.INT16 else cls.SHIFT
        return cls(
            quantize_multiplier(scales[0] / twice),
            quantize_multiplier(scales[1] / twice),
            quantize_multiplier(twice / (2**before * scalar(y)[0])),
            before,
        )

    @classmethod
    def squared(cls, a: TensorType, b: TensorType, y: TensorType) -> Sum:
        """Of SquaredDifference: fewer bits in front, so that 32 hold the square."""
        twice = 2 * max(scalar(a)[0], scalar(b)[0])
        scaled = quantize_multiplier(twice**2 / (2 ** (2 * cls.SQUARED) * scalar(y)[0]))
        return replace(cls.of(a, b, y), result=scaled, before=cls.SQUARED)


def product_multiplier(a: TensorType, b: TensorType, y: TensorType) -> tuple[int, int]:
    """The factor of Mul: sa * sb / sy."""
    return quantize_multiplier(scalar(a)[0] * scalar(b)[0] / scalar(y)[0])


# What is at least left of 32 bits in front of a difference of two bytes.
_HEADROOM = 23


def quotient_multiplier(a: TensorType, b: TensorType, y: TensorType) -> tuple[int, int]:
    """The factor of Div, sa / (sb * sy), in float32 as LiteRT has it."""
    sa, sb, sy = (np.float32(scalar(t)[0]) for t in (a, b, y))
    return quantize_multiplier(float(sa / (sb * sy)), _HEADROOM)


def mean_multiplier(x: TensorType, y: TensorType, count: int) -> tuple[int, int]:
    """The factor of a mean over `count` elements, whose division is in the multiplier."""
    multiplier, shift = quantize_multiplier(scalar(x)[0] / scalar(y)[0])
    bits = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << bits) // count, shift - bits


def round_half_away(value: Array) -> Integers:
    """float32 to the nearest integer, ties away from zero."""
    whole = np.trunc(value)
    rest = (value - whole).astype(np.float32)
    return (whole + (rest >= 0.5) - (rest <= -0.5)).astype(np.int64)
