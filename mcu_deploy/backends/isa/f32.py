"""float32 on the bits of its numbers, as FPv4 computes it: round to nearest, no flush to zero.

NaNs as the Armv7-M pseudocode has them (FPProcessNaNs): the first that is signalling, quiet, else
the first quiet one; the default NaN for what is invalid.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

_DEFAULT_NAN, _INFINITY, _QUIET, _SIGN = 0x7FC0_0000, 0x7F80_0000, 0x0040_0000, 0x8000_0000


_WORD, _SINGLE, _DOUBLE = struct.Struct("<I"), struct.Struct("<f"), struct.Struct("<d")
_WORDS, _SINGLES = struct.Struct("<3I"), struct.Struct("<3f")


def number(bits: int) -> float:
    """The value of a float32, exactly."""
    value: float = _SINGLE.unpack(_WORD.pack(bits))[0]
    return value


def bits(value: float) -> int:
    """A number rounded to float32. Sums, products and quotients of two float32 in float64 are
    rounded once by this: 53 bits are more than 2 * 24 + 2."""
    if value != value:
        return _DEFAULT_NAN
    try:
        word: int = _WORD.unpack(_SINGLE.pack(value))[0]
        return word
    except OverflowError:
        return _INFINITY | (_SIGN if value < 0 else 0)


def _is_nan(word: int) -> bool:
    return word & ~_SIGN > _INFINITY


def _nan(*words: int) -> int | None:
    """The NaN that an operation on these gives; None where none of them is one."""
    found = [word for word in words if word & ~_SIGN > _INFINITY]
    if not found:
        return None
    signalling = [word for word in found if not word & _QUIET]
    for word in (*signalling, *found):
        return word | _QUIET
    return None


def _rounded(value: float, *words: int) -> int:
    """What an operation on these gives."""
    if value == value:
        return bits(value)
    found = _nan(*words)
    return _DEFAULT_NAN if found is None else found


def add(a: int, b: int) -> int:
    return _rounded(number(a) + number(b), a, b)


def subtract(a: int, b: int) -> int:
    return _rounded(number(a) - number(b), a, b)


def multiply(a: int, b: int) -> int:
    return _rounded(number(a) * number(b), a, b)


def divide(a: int, b: int) -> int:
    found = _nan(a, b)
    if found is not None:
        return found
    x, y = number(a), number(b)
    if y == 0:
        if x == 0:
            return _DEFAULT_NAN
        return _INFINITY | (a ^ b) & _SIGN
    return bits(x / y)


def root(a: int) -> int:
    found = _nan(a)
    if found is not None:
        return found
    x = number(a)
    if x < 0:
        return _DEFAULT_NAN
    return bits(math.sqrt(x))


def fused(addend: int, a: int, b: int) -> int:
    """addend + a * b, rounded once."""
    x, y, z = _SINGLES.unpack(_WORDS.pack(a, b, addend))
    product = x * y  # exact: 48 bits
    near = product + z
    if near - near != 0.0:  # something is no finite number
        found = _nan(addend, a, b)
        if found is None:
            return bits(near)
        is_invalid = {abs(x), abs(y)} == {0.0, math.inf}
        return _DEFAULT_NAN if is_invalid and _is_nan(addend) and addend & _QUIET else found
    # What the sum has lost, exactly (Knuth's two-sum). Made odd where it has, so that bits() rounds
    # once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    other = near - product
    lost = (product - (near - other)) + (z - other)
    if lost and not _DOUBLE.pack(near)[0] & 1:
        near = math.nextafter(near, math.inf if lost > 0 else -math.inf)
    return bits(near)


def is_below_normal(addend: int, a: int, b: int) -> bool:
    """Whether addend + a * b, of finite numbers, is smaller than all that are normal."""
    exact = Fraction(number(a)) * Fraction(number(b)) + Fraction(number(addend))
    return abs(exact) < Fraction(2) ** -126


def of(integer: int) -> int:
    """An integer of 32 bits, signed or not."""
    return bits(float(integer))


def nearest(a: int, low: int, high: int) -> int:
    """To an integer, ties to even, within bounds; 0 of what is no number."""
    value = number(a)
    if math.isnan(value):
        return 0
    return int(min(max(value if math.isinf(value) else round(value), low), high))


def nearest_away(a: int, low: int, high: int) -> int:
    """As `nearest`, ties away from zero."""
    value = number(a)
    if math.isnan(value) or math.isinf(value):
        return nearest(a, low, high)
    rounded = math.floor(abs(value) + 0.5)  # exact, in more bits than a float32 has
    return min(max(rounded if value >= 0 else -rounded, low), high)


def down(a: int, fraction: int, low: int, high: int) -> int:
    """To a fixed-point number with so many bits behind the point, towards zero, within bounds."""
    value = number(a)
    if math.isnan(value):
        return 0
    scaled = value * 2.0**fraction
    return int(min(max(scaled if math.isinf(scaled) else math.trunc(scaled), low), high))


def compare(a: int, b: int) -> tuple[int, int, int, int]:
    """The flags n, z, c, v."""
    x, y = number(a), number(b)
    if math.isnan(x) or math.isnan(y):
        return 0, 0, 1, 1
    return (1, 0, 0, 0) if x < y else (0, 1, 1, 0) if x == y else (0, 0, 1, 0)
