"""Sums of products of int16 to elements of the output, for the kernels of int16."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.dsp.rounding import add_number, scale_in_float
from mcu_deploy.backends.quantized.int16 import Int16Products

# Sums, and the words that round all of these, or one for each.
Groups = Sequence[tuple[Sequence[Register], Sequence[Register]]]


def formula(products: Int16Products) -> str:
    """What becomes of a sum, for the head of a kernel."""
    low, high = products.bounds
    zero = f" + {products.zero_point}" if products.zero_point else ""
    how = "(sum * factor[f] + 2^31 >> 32)" if products.is_fixed else "round(sum * factor[f])"
    return f"min(max({how}{zero}, {low}), {high})"


def finish(code: Assembly, products: Int16Products, groups: Groups) -> None:
    """Rounds, adds the zero point and clamps, in the registers of the sums."""
    sums = [acc for of, _ in groups for acc in of]
    if products.is_fixed:
        for of, words in groups:
            for acc, word in zip(of, [*words] * (len(of) // len(words)), strict=True):
                code.smmulr(acc, acc, word)
    else:
        scale_in_float(code, groups)
    if products.zero_point:
        for acc in sums:
            add_number(code, acc, products.zero_point)
    low, high = products.bounds
    bits = high.bit_length()
    if high == (1 << bits) - 1 and low in (0, -high - 1):
        for acc in sums:
            if low:
                code.ssat(acc, bits + 1, acc)
            else:
                code.usat(acc, bits, acc)
        return
    for bound, mnemonic, condition in ((low, code.movlt, "lt"), (high, code.movgt, "gt")):
        limit = code.register("limit")
        code.number(limit, bound & 0xFFFFFFFF)
        for acc in sums:
            code.cmp(acc, limit)
            code.it(condition)
            mnemonic(acc, limit)


def store_pair(
    code: Assembly, size: int, even: Register, odd: Register, to: Register, at: int
) -> None:
    """Two neighbours of so many bytes each."""
    if size == 1:
        code.bfi(even, odd, 8, 8)
        code.strh(even, to[at])
    else:
        code.pkhbt(even, even, odd.lsl(16))
        code.str(even, to[at])
