"""Arithmetic on integers, as docs/arithmetic.md says it: everything is defined for every value.

Results wrap around at the width of the type. A quotient is rounded towards zero; division by zero
gives 0, and leaves the dividend as the remainder.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array


def divide(a: Array, b: Array) -> Array:
    """a / b, rounded towards zero; 0 where b is 0. The lowest number over -1 is itself."""
    floor, rest = _floored(a, b)
    # numpy rounds down; where the signs differ and something is left, that is one too few.
    away = (rest != 0) & ((rest < 0) != (a < 0)) if a.dtype.kind == "i" else np.False_
    quotient = np.where(away, floor + floor.dtype.type(1), floor)
    return np.asarray(np.where(b == 0, 0, quotient), dtype=a.dtype)


def remainder(a: Array, b: Array, sign_of_dividend: bool) -> Array:
    """The rest of a / b, with the sign of a (as C has it) or of b; a where b is 0."""
    divisor = np.where(b == 0, b.dtype.type(1), b)
    with np.errstate(all="ignore"):
        rest = np.fmod(a, divisor) if sign_of_dividend else np.mod(a, divisor)
    return np.asarray(np.where(b == 0, a, rest), dtype=a.dtype)


def power(base: Array, exponent: Array) -> Array:
    """base ** exponent, wrapping around.

    Below zero the exponent gives the reciprocal rounded towards zero: 0, or that of 1 and -1.
    """
    base, exponent = np.broadcast_arrays(base, exponent)
    bits = 8 * base.dtype.itemsize
    found = np.zeros(base.shape, base.dtype)
    for at in np.ndindex(base.shape):
        b, e = int(base[at]), int(exponent[at])
        if e < 0:
            value = b if b in (1, -1) and e % 2 else int(b in (1, -1))
        else:
            value = pow(b, e, 1 << bits)
        found[at] = np.array(value % (1 << bits), f"u{bits // 8}").astype(base.dtype)
    return found


def from_real(real: Array, dtype: np.dtype[Any]) -> Array:
    """Floats as integers: rounded towards zero, saturated at the type's bounds, NaN as 0."""
    info = np.iinfo(dtype)
    # The first number above the range is a power of two, which a float holds.
    beyond = real.dtype.type(2.0 ** (info.bits - (info.min < 0)))
    inside = (real < beyond) & (real >= info.min)
    found = np.where(inside, real, 0).astype(dtype)
    found = np.where(real >= beyond, dtype.type(info.max), found)
    return np.where(real < info.min, dtype.type(info.min), found)


def _floored(a: Array, b: Array) -> tuple[Array, Array]:
    divisor = np.where(b == 0, b.dtype.type(1), b)
    with np.errstate(all="ignore"):
        return np.floor_divide(a, divisor), np.mod(a, divisor)
