"""Sums of rows times filters: activations widened to pairs of int16, the loop over taps, rounding.

All sums of a tile are in registers. Words of filters are of two forms. Of constant weights a word
is two taps of two filters, 256 odd + even: SMLAD of it sums 256 * odd + even, SMLAD of it through
SXTB16 sums even, and their difference is 256 times the odd one's sum (`multiply`). Of what is
computed a word is four bytes of one filter, which SXTB16 widens (`multiply_bytes`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.quantized.dense import IN_WORDS, LANES

_LANES_LOG2 = LANES.bit_length() - 1

Pairs = Sequence[tuple[Register, Register]]


def pairs(registers: Sequence[Register]) -> Pairs:
    """Even and odd ones, or scale and addend."""
    return tuple(zip(registers[::2], registers[1::2], strict=True))


class Row:
    """The registers that widen a row: where it is read, where it is written, where whole rounds of
    this end; so many words of four bytes as a round has; two halves of each, widened."""

    def __init__(self, code: Assembly, words: int) -> None:
        self.source, self.into, self.end = code.registers("source into into_end")
        self.words = code.registers("x0123 x4567")[:words]
        self.halves = code.registers("x02 x13 x46 x57")[: 2 * words]


def widen(code: Assembly, row: Row, taps: int, extend: str, is_aligned: bool = False) -> None:
    """A row of bytes to pairs of int16, in the order of `IN_WORDS`; both pointers end behind whole
    rounds, the source behind the rest too. Of words that the row does not fill the rest is any.

    extend: "sxtb16" or "uxtb16". is_aligned: rows begin at whole words, where LDM does not trap.
    """
    whole, rest = divmod(taps, 4 * len(row.words))
    if whole:
        with code.repeat(whole):
            if is_aligned:
                code.ldmia(row.source.moving, row.words)
            else:
                for word in row.words:
                    code.ldr(word, row.source.after(4))
            for word, (first, second) in zip(row.words, pairs(row.halves), strict=True):
                getattr(code, extend)(second, word.ror(8))
                getattr(code, extend)(first, word)
            code.stmia(row.into.moving, row.halves)
            code.cmp(row.into, row.end)
    for n in range(rest):
        (code.ldrsb if extend == "sxtb16" else code.ldrb)(row.words[0], row.source.after(1))
        code.strh(row.words[0], row.into[rest_offset(n)])


def rest_offset(tap: int) -> int:
    """Where a tap of the rest goes, in bytes behind the whole rounds."""
    return 8 * (tap // 4) + 2 * IN_WORDS[tap % 4]


def multiply(
    code: Assembly,
    taps: Register,
    stream: Register,
    sums: Sequence[Register],
    x: Sequence[Register],
    words: Sequence[Register],
) -> None:
    """A row times filters, two taps for each register of x, by words of two filters. sums: of an
    even filter, and 256 times that of an odd one with the even one's."""
    code.ldmia_w(taps.moving, x)
    products = [(of, pixel) for of in pairs(sums) for pixel in x]
    for at in range(0, len(products), len(words)):
        code.ldmia_w(stream.moving, words)
        now = [(word, *of) for word, of in zip(words, products[at : at + len(words)], strict=True)]
        for word, (_, odd), pixel in now:
            code.smlad(odd, word, pixel, odd)
        for word in words:
            code.sxtb16(word, word)
        for word, (even, _), pixel in now:
            code.smlad(even, word, pixel, even)


def take_apart(code: Assembly, sums: Sequence[Register]) -> None:
    """Leaves 256 times the odd ones' sums."""
    for even, odd in pairs(sums):
        code.sub(odd, odd, even)


def multiply_bytes(
    code: Assembly,
    taps: Register,
    sums: Sequence[Sequence[Register]],
    x: Sequence[Register],
    words: Sequence[Register],
    pair: Register,
    extend: str,
) -> None:
    """Rows times filters, four taps, by words of four bytes of a filter. sums: of each filter those
    of all rows. At `taps` lie the first and third tap of all rows, then the second and fourth."""
    for by in (0, 8):
        code.ldmia(taps.moving, x)
        for of, word in zip(sums, words, strict=True):
            getattr(code, extend)(pair, word.ror(by) if by else word)
            for acc, row in zip(of, x, strict=True):
                code.smlad(acc, pair, row, acc)


def round_once(
    code: Assembly, saturate: str, sums: Sequence[Register], scales: Pairs, shifts: Sequence[int]
) -> None:
    """To elements by scale, addend and shift of each."""
    for acc, (scale, addend) in zip(sums, scales, strict=True):
        code.smmla(acc, acc, scale, addend)
    for acc, shift in zip(sums, shifts, strict=True):
        getattr(code, saturate)(acc, 8, acc.asr(shift) if shift else acc)


def round_in_float(
    code: Assembly, saturate: str, sums: Sequence[Register], factors: Pairs,
    add_zero: Callable[[Register], None],
) -> None:  # fmt: skip
    """To elements as ONNX does. factors: float32, of each two sums; add_zero: adds y's zero."""
    held = {of: code.register(f"factors{n}", kind=Kind.DOUBLE) for n, of in enumerate(factors)}
    products = [code.register(f"products{n}", kind=Kind.DOUBLE) for n in range(len(factors))]
    for of, double in (*held.items(), *zip(pairs(sums), products, strict=True)):
        code.vmov(double, *of)
    singles = [half for product in products for half in product.halves]
    for product in singles:
        code.vcvt_f32_s32(product, product)
    by = [half for of in factors for half in held[of].halves]
    for product, factor in zip(singles, by, strict=True):
        code.vmul_f32(product, product, factor)
    for product in singles:
        code.vcvtr_s32_f32(product, product)
    for of, product in zip(pairs(sums), products, strict=True):
        code.vmov(*of, product)
    for acc in sums:
        add_zero(acc)
        getattr(code, saturate)(acc, 8, acc)


# TFLite rounds twice: the upper word of twice the sum times a multiplier with ties up, then what it
# is shifted by with ties away from zero, which is with ties up of one less where it is negative.


def round_twice(
    code: Assembly, saturate: str, sums: Sequence[Register], lanes: int, words: Sequence[Register]
) -> None:
    """To elements by TFLite's two roundings. lanes: of what the odd sums are multiples; words: the
    multiplier, the addend and the shift."""
    multiplier, addend, shift = words
    for n, acc in enumerate(sums):
        _multiply_up(code, acc, lanes if n % 2 else 1, multiplier, addend)
        code.asr(acc, acc, shift)
        getattr(code, saturate)(acc, 8, acc)


def round_each_twice(
    code: Assembly, saturate: str, sums: Sequence[Register], lanes: int, words: Sequence[Register]
) -> None:
    """The same where the last bit that a shift drops is the carry. words: four multipliers, their
    shifts in the bytes of a word, the zero point."""
    *multipliers, shifts, zero = words
    shift = code.register("shift")
    for n, (acc, multiplier) in enumerate(zip(sums, multipliers, strict=True)):
        code.ubfx(shift, shifts, 8 * n, 8)
        _multiply_up(code, acc, lanes if n % 2 else 1, multiplier)
        code.asrs(acc, acc, shift)
        code.adc(acc, acc, zero)
        getattr(code, saturate)(acc, 8, acc)


def round_by_numbers(
    code: Assembly,
    acc: Register,
    factor: tuple[int, int],
    lanes: int = 1,
    bits: int = 16,
    zero_point: int = 0,
) -> None:
    """The same by numbers in the code, a multiplier and a shift, which is to the left where it is
    above 0: a sum to so many bits."""
    number, shift = factor
    by = max(-shift, 0)
    multiplier, half = code.registers("multiplier half")
    code.number(multiplier, number)
    if by:
        code.mov(half, 1 << by - 1)
        _multiply_up(code, acc, lanes, multiplier, half)
    else:
        _double(code, acc, acc, lanes, shift)
        code.smmulr(acc, acc, multiplier)
    if zero_point:
        if by:
            code.asr(acc, acc, by)
        add_number(code, acc, zero_point)
    code.ssat(acc, bits, acc.asr(by) if by and not zero_point else acc)


def add_number(code: Assembly, acc: Register, number: int) -> None:
    """A zero point, say."""
    (code.sub if number < 0 else code.add)(acc, acc, abs(number))


def _multiply_up(
    code: Assembly, acc: Register, lanes: int, multiplier: Register, addend: Register | None = None
) -> None:
    """The upper word of twice a sum times the multiplier, with an addend, and one less for a sum
    below 0."""
    high = code.register("high")
    _double(code, high, acc, lanes)
    if addend is None:
        code.smmulr(high, high, multiplier)
    else:
        code.smmlar(high, high, multiplier, addend)
    code.add(acc, high, acc.asr(31))


def _double(code: Assembly, into: Register, acc: Register, lanes: int, left: int = 0) -> None:
    """Twice a sum, of which the accumulator is a multiple, and that shifted to the left."""
    by = 1 + left - (0 if lanes == 1 else _LANES_LOG2)
    if by:
        (code.lsl if by > 0 else code.asr)(into, acc, abs(by))
    else:
        code.mov(into, acc)
