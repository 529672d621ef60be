"""C for arithmetic on integers that is defined for every value, as the oracle has it.

Sums and products are computed without sign, where C wraps around; what C leaves open of a division
(a divisor of 0, the lowest number over -1) is asked for before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.CpuRef.kernels.base import BYTES, helper
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, narrow
from mcu_deploy.backends.interface import YES, Layer, Support, no
from mcu_deploy.ir import DType


def unsigned(dtype: DType) -> str:
    """The type in which C computes integers of this type without overflow."""
    return "uint64_t" if dtype.bytes == 8 else "uint32_t"


def wrapped(dtype: DType, left: str, symbol: str, right: str) -> str:
    """A sum, a difference or a product that wraps around."""
    wide = unsigned(dtype)
    return f"({dtype.c_type})(({wide}){left} {symbol} ({wide}){right})"


def divide(dtype: DType) -> str:
    """a / b, rounded towards zero; 0 where b is 0."""
    quotient = "a / b"
    if _is_signed(dtype) and dtype.bytes >= 4:
        quotient = f"b == -1 ? {wrapped(dtype, '0', '-', 'a')} : {quotient}"
    return narrow(dtype, f"b == 0 ? 0 : {quotient}")


def remainder(dtype: DType, sign_of_dividend: bool) -> Expression:
    """a % b, with the sign of a (C's) or of b; a where b is 0."""
    if not _is_signed(dtype):
        return Expression(narrow(dtype, "b == 0 ? a : a % b"))
    rest = narrow(dtype, "b == 0 ? a : b == -1 ? 0 : a % b")
    if sign_of_dividend:
        return Expression(rest)
    return Expression(
        narrow(dtype, "b != 0 && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest"),
        (f"const {dtype.c_type} rest = {rest};",),
    )


def without_zero(layer: Layer, index: int, element: str, place: str) -> str:
    """An integer of an input without its zero point, which is the input two behind that: one, or
    one at each place."""
    zero = layer.optional(index + 2)
    if zero is None:
        return element
    return f"({element} - x{index + 2}[{place if zero.type.elements > 1 else 0}])"


def check_zero_points(layer: Layer, counts: Sequence[int], clause: str) -> Support:
    """Whether the first inputs are of 8 bits and have one zero point, or so many. clause: what is
    wrong where they have another number."""
    for index, count in enumerate(counts):
        if layer.input(index).type.dtype not in BYTES:
            return no(f"it multiplies 8-bit integers, not {layer.input(index).type}")
        zero = layer.optional(index + 2)
        if zero is not None and zero.type.elements not in (1, count):
            return no(clause)
    return YES


def power(base: DType, exponent: DType) -> Expression:
    """base ** exponent by squaring, wrapping around."""
    function = helper(
        "power.c.j2", name=f"power_{base.value}_{exponent.value}", ctype=base.c_type,
        wide=unsigned(base), signed_base=_is_signed(base), signed_exponent=_is_signed(exponent),
        exponent=exponent.c_type,
    )  # fmt: skip
    return Expression(f"${function.stem}(a, b)", helpers=(function,))


def unary(op: str, dtype: DType) -> str:
    """Abs, Neg, Relu and Sign of an integer `a`."""
    ctype = dtype.c_type
    if op == "Relu":
        return narrow(dtype, "a < 0 ? 0 : a") if _is_signed(dtype) else "a"
    negated = wrapped(dtype, "0", "-", "a")
    if op == "Neg":
        return negated
    if not _is_signed(dtype):
        return "a" if op == "Abs" else f"({ctype})(a > 0)"
    if op == "Abs":
        return narrow(dtype, f"a < 0 ? {negated} : a")
    return f"({ctype})((a > 0) - (a < 0))"


def _is_signed(dtype: DType) -> bool:
    return dtype.value.startswith("int")
