"""Sums of a tile to elements: in one multiplication, in float32, or as TFLite rounds twice; and
late sums, of which a pair of integers does not round a filter exactly: see filter_pairs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp.tile import Sums, pairs
from mcu_deploy.backends.quantized.filter_pairs import UNSOLVED


def round_once(
    code: Assembly,
    saturate: str,
    sums: Sequence[Register],
    scales: Sequence[Sequence[Register]],
    shifts: Sequence[int],
) -> None:
    """By scale, addend and shift of each."""
    for acc, (scale, addend) in zip(sums, scales, strict=True):
        code.smmla(acc, acc, scale, addend)
    for acc, shift in zip(sums, shifts, strict=True):
        getattr(code, saturate)(acc, 8, acc.asr(shift) if shift else acc)


def round_filters(
    code: Assembly, saturate: str, sums: Sums, scales: Sequence[Register], shifts: tuple[int, int]
) -> None:
    """Those of two filters, by scale and addend of the even and of the odd one."""
    for of, scale, shift in zip(sums, pairs(scales), shifts, strict=True):
        round_once(code, saturate, of, [scale] * len(of), [shift] * len(of))


def scale_in_float(
    code: Assembly, groups: Sequence[tuple[Sequence[Register], Sequence[Register]]]
) -> None:
    """Sums to the nearest integers of their products with a factor. groups: sums, and the factor of
    all of these, or one for each, float32."""
    for sums, factors in groups:
        values = [*sums, *factors]
        names = "pair last" if len(values) == 4 else " ".join(f"pair{n}" for n in range(4))
        doubles = code.registers(names, kind=Kind.DOUBLE)[: (len(values) + 1) // 2]
        singles = [half for double in doubles for half in double.halves]
        _move(code, doubles, values)
        products = singles[: len(sums)]
        of = singles[len(sums) : len(values)] * (len(sums) // len(factors))
        for product in products:
            code.vcvt_f32_s32(product, product)
        for product, factor in zip(products, of, strict=True):
            code.vmul_f32(product, product, factor)
        for product in products:
            code.vcvtr_s32_f32(product, product)
        _move(code, doubles, sums, is_back=True)


def round_in_float(
    code: Assembly,
    saturate: str,
    groups: Sequence[tuple[Sequence[Register], Sequence[Register]]],
    zero: Register | int,
) -> None:
    """As ONNX does. groups: as `scale_in_float` has them; zero: the zero point."""
    scale_in_float(code, groups)
    for acc in (acc for sums, _ in groups for acc in sums):
        if isinstance(zero, int):
            add_number(code, acc, zero)
        else:
            code.qadd(acc, acc, zero)
        getattr(code, saturate)(acc, 8, acc)


def round_otherwise(
    code: Assembly, saturate: str, sums: Sums, words: Sequence[Register], lanes: tuple[int, int],
    is_fixed: bool,
) -> None:  # fmt: skip
    """Two filters that no integers round: see `Pair`. words: the even filter's factor, or of
    TFLite's layers multiplier, none, the odd one's, the rest. lanes: of what the filters' sums are
    multiples."""
    even, _, odd, rest = words
    if is_fixed:
        filters = zip(sums, (even, odd), lanes, strict=True)
        round_each_twice(code, saturate, [*filters], rest)
    else:
        round_in_float(code, saturate, [(sums.even, [even]), (sums.odd, [odd])], rest)


def _move(
    code: Assembly, doubles: Sequence[Register], values: Sequence[Register], is_back: bool = False
) -> None:
    """Values to D registers, two in each, or back."""
    for n, double in enumerate(doubles[: (len(values) + 1) // 2]):
        two = values[2 * n : 2 * n + 2]
        held = double if len(two) == 2 else double.halves[0]
        code.vmov(*((*two, held) if is_back else (held, *two)))


# TFLite rounds twice: the upper word of twice the sum times a multiplier with ties up, then what it
# is shifted by with ties away from zero, which is with ties up of one less where it is negative.


def round_twice(
    code: Assembly, saturate: str, sums: Sequence[Register], lanes: int, multiplier: Register,
    addend: Register, shift: Register | int,
) -> None:  # fmt: skip
    """To elements by TFLite's two roundings. lanes: of what the odd sums are multiples."""
    for n, acc in enumerate(sums):
        _multiply_up(code, acc, lanes if n % 2 else 1, multiplier, addend)
        code.asr(acc, acc, shift)
        getattr(code, saturate)(acc, 8, acc)


def round_each_twice(
    code: Assembly,
    saturate: str,
    sums: Sequence[tuple[Sequence[Register], Register, int]],
    shifts: Register,
    zero: Register | None = None,
    may_be_0: bool = False,
) -> None:
    """The same where the last bit that a shift drops is the carry. sums: of each filter, with its
    multiplier, and of what they are multiples; shifts: has those of the filters in its bytes; zero:
    the zero point, which is in the upper half of these if there is none. may_be_0: so is a shift
    that leaves the carry, which CMP has cleared then, and all else as it is."""
    shift, high = code.registers("shift high")
    if zero is None:
        zero = code.register("zero")
        code.asr(zero, shifts, 16)
    for n, (of, multiplier, lanes) in enumerate(sums):
        if n:
            code.ubfx(shift, shifts, 8 * n, 8)
        else:
            code.uxtb(shift, shifts)
        for acc in of:
            if may_be_0:
                code.cmp(shift, 1)
                _double(code, high, acc, lanes)
                code.smmulr(high, high, multiplier)
                code.it("hs")
                code.addhs(high, high, acc.asr(31))
                code.asrs(acc, high, shift)
            else:
                _multiply_up(code, acc, lanes, multiplier)
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
    by = 1 + left - (lanes.bit_length() - 1)
    if by:
        (code.lsl if by > 0 else code.asr)(into, acc, abs(by))
    else:
        code.mov(into, acc)


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
        getattr(code, "i" + "t" * (len(of) - 1))("ne")
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
