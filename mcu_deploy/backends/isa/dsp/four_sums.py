"""Sums of four outputs, the even and the odd ones of two pairs, to elements.

An odd output's accumulator is 256 times its sum, but of long rows: see dense.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.quantized.dense import Dense

Pairs = Sequence[tuple[Register, Register]]


def pairs(registers: Sequence[Register]) -> Pairs:
    """Even and odd ones, or scale and addend."""
    return tuple(zip(registers[::2], registers[1::2], strict=True))


def round_once(
    code: Assembly, layer: Dense, sums: Sequence[Register], scales: Pairs, shift: int
) -> None:
    """By scale and addend of each."""
    limit, by = getattr(code, layer.saturate), layer.lanes.bit_length() - 1
    for acc, (scale, addend) in zip(sums, scales, strict=True):
        code.smmla(acc, acc, scale, addend)
    for n, acc in enumerate(sums):
        limit(acc, 8, acc.asr(shift + n % 2 * by))


def round_in_float(
    code: Assembly, layer: Dense, sums: Sequence[Register], factors: Sequence[Register]
) -> None:
    """As ONNX does. factors: float32."""
    held = code.registers("factor01 factor23", kind=Kind.DOUBLE)
    products = code.registers("product01 product23", kind=Kind.DOUBLE)
    for both, words in ((held, factors), (products, sums)):
        code.vmov(both[0], *words[:2])
        code.vmov(both[1], *words[2:])
    singles = [half for both in products for half in both.halves]
    for product in singles:
        code.vcvt_f32_s32(product, product)
    for product, factor in zip(singles, (h for both in held for h in both.halves), strict=True):
        code.vmul_f32(product, product, factor)
    for product in singles:
        code.vcvtr_s32_f32(product, product)
    code.vmov(*sums[:2], products[0])
    code.vmov(*sums[2:], products[1])
    zero, limit = layer.zero_points[1], getattr(code, layer.saturate)
    for acc in sums:
        (code.sub if zero < 0 else code.add)(acc, acc, abs(zero))
        limit(acc, 8, acc)


def round_twice(
    code: Assembly, layer: Dense, sums: Sequence[Register], words: Sequence[Register]
) -> None:
    """As TFLite does: the upper word of twice the sum times a multiplier is rounded with ties up,
    then shifted with ties away from zero, which is with ties up of one less where it is negative.
    words: the multiplier, the addend and the shift."""
    multiplier, addend, shift = words
    high, limit = code.register("high"), getattr(code, layer.saturate)
    for n, acc in enumerate(sums):
        _double(code, high, acc, layer.lanes if n % 2 else 1)
        code.smmlar(high, high, multiplier, addend)
        code.add(acc, high, acc.asr(31))
        code.asr(acc, acc, shift)
        limit(acc, 8, acc)


def round_each_twice(
    code: Assembly, layer: Dense, sums: Sequence[Register], words: Sequence[Register]
) -> None:
    """The same where the last bit that a shift drops is the carry. words: four multipliers, their
    shifts in the bytes of a word, the zero point."""
    *multipliers, shifts, zero = words
    shift, high = code.registers("shift high")
    limit = getattr(code, layer.saturate)
    for n, (acc, multiplier) in enumerate(zip(sums, multipliers, strict=True)):
        code.ubfx(shift, shifts, 8 * n, 8)
        _double(code, high, acc, layer.lanes if n % 2 else 1)
        code.smmulr(high, high, multiplier)
        code.add(acc, high, acc.asr(31))
        code.asrs(acc, acc, shift)
        code.adc(acc, acc, zero)
        limit(acc, 8, acc)


def _double(code: Assembly, into: Register, acc: Register, lanes: int) -> None:
    """Twice a sum, of which the accumulator is a multiple."""
    if lanes == 1:
        code.lsl(into, acc, 1)
    else:
        code.asr(into, acc, lanes.bit_length() - 2)
