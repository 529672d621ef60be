"""Six sums, of two filters and three pixels, and how they are rounded where a pair of integers does
not round a filter exactly: see filter_pairs.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.quantized.filter_pairs import UNSOLVED


class Sums(NamedTuple):
    """Of three pixels each, those of the even and of the odd filter."""

    even: tuple[Register, ...]
    odd: tuple[Register, ...]

    @property
    def all(self) -> tuple[Register, ...]:
        return (*self.even, *self.odd)

    @staticmethod
    def of(code: Assembly) -> Sums:
        return Sums(
            tuple(code.registers("even0 even1 even2")), tuple(code.registers("odd0 odd1 odd2"))
        )


def to_next(
    code: Assembly,
    sums: Sums,
    stream: Register,
    addend: Register,
    lanes: tuple[int, int],
    late: float,
    end: Callable[[], None],
    unsolved: Label | None = None,
) -> None:
    """Late sums become the next, of which the accumulators are `lanes` more, by the words of the
    stream. addend: has the even filter's afterwards.

    late: how many there are, on average. end: how it goes on. unsolved: the label where it does for
    two filters that no integers round; None if there are none.
    """
    again, odd, checked, is_late = (code.label() for _ in range(4))
    is_odd, named, next_addend = addend, *code.registers("late next_addend")

    def check(of: Sequence[Register]) -> None:
        code.cmp(named, of[0])
        code.itt("ne")
        for acc in of[1:]:
            code.cmpne(named, acc)

    def advance(of: Sequence[Register], by: int) -> None:
        for acc in of:
            code.cmp(named, acc)
            code.it("eq")
            code.addeq(acc, acc, by)
        code.b(checked)

    code.note("Sums that are rounded too late, which a word names, become the next.")
    with code.times(late):
        code.place(again)
        code.ldmia(stream.moving, [is_odd, named, next_addend])
        code.cbnz(is_odd, odd)
        check(sums.even)
        code.beq(is_late)
        code.place(checked)
        code.movs(addend, next_addend)
        code.beq(again)
        end()
    with code.rarely():
        code.place(odd)
        if unsolved is not None:
            code.cmp(is_odd, UNSOLVED)
            code.beq(unsolved)
        check(sums.odd)
        code.bne(checked)
        advance(sums.odd, lanes[1])
        code.place(is_late)
        advance(sums.even, lanes[0])


def round_in_float(
    code: Assembly, sums: Sums, factors: Sequence[Register], zero: Register, saturate: str
) -> None:
    """Six sums to elements as ONNX does. factors: the even and the odd filters', float32; zero: the
    zero point."""
    for of, factor in zip(sums, factors, strict=True):
        pair, last = code.registers("pair last", kind=Kind.DOUBLE)
        products = (*pair.halves, last.halves[0])
        code.vmov(pair, of[0], of[1])
        code.vmov(last, of[2], factor)
        for product in products:
            code.vcvt_f32_s32(product, product)
        for product in products:
            code.vmul_f32(product, product, last.halves[1])
        for product in products:
            code.vcvtr_s32_f32(product, product)
        code.vmov(of[0], of[1], pair)
        code.vmov(of[2], products[2])
    for acc in sums.all:
        code.qadd(acc, acc, zero)
        getattr(code, saturate)(acc, 8, acc)


def round_twice(
    code: Assembly,
    sums: Sums,
    scales: Sequence[Register],
    shifts: Register,
    saturate: str,
    lanes_log2: tuple[int, int],
) -> None:
    """Six sums to elements as TFLite does. scales: multipliers; shifts: has their shifts in its
    lower bytes, and the zero point in its upper half. The high word of twice the sum times the
    multiplier is rounded with ties up, the shift with ties away from zero: that is with ties up of
    one less where it is negative. The last bit that a shift drops is the carry. A shift of 0 leaves
    the carry, which CMP has cleared then, and all else as it is.

    lanes_log2: of what even and odd filters' accumulators are a multiple.
    """
    by, zero, high = code.registers("shift zero high")
    code.asr(zero, shifts, 16)
    for of, lanes, scale in zip(sums, lanes_log2, scales, strict=True):
        if of is sums.even:
            code.uxtb(by, shifts)
        else:
            code.ubfx(by, shifts, 8, 8)
        for acc in of:
            code.cmp(by, 1)
            code.mov(high, acc.lsl(1) if lanes == 0 else acc.asr(lanes - 1))
            code.smmulr(high, high, scale)
            code.it("hs")
            code.addhs(high, high, acc.asr(31))
            code.asrs(acc, high, by)
            code.adc(acc, acc, zero)
            getattr(code, saturate)(acc, 8, acc)
