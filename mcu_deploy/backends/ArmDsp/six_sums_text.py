"""Rounding six sums, of two filters and three pixels, where a pair of integers does not round a
filter exactly: see filter_pairs.py."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmDsp.filter_pairs import UNSOLVED
from mcu_deploy.backends.isa import Assembly

EVEN, ODD = ("r0", "r1", "r2"), ("r3", "r4", "r5")


def to_next(
    code: Assembly, lanes: tuple[int, int], late: float, end: Sequence[str], unsolved: str = ""
) -> None:
    """Late sums become the next, of which the accumulators are `lanes` more, by the words at lr. r7
    has the even filter's addend then, r10 and r11 are lost.

    late: how many there are, on average. end: how it goes on. unsolved: the label where it does for
    two filters that no integers round; empty if there are none.
    """
    again, odd, checked, is_late = (code.label() for _ in range(4))

    def check(sums: Sequence[str]) -> None:
        first, *others = (f"r10, {acc}" for acc in sums)
        code(f"cmp {first}", "itt ne", *(f"cmpne {other}" for other in others))

    def advance(sums: Sequence[str], by: int) -> None:
        for acc in sums:
            code(f"cmp r10, {acc}", "it eq", f"addeq {acc}, {acc}, #{by}")
        code(f"b {checked}b")

    code.note("Sums that are rounded too late, which r10 names, become the next.")
    with code.times(late):
        code.place(again)
        code("ldmia lr!, {r7, r10, r11}", f"cbnz r7, {odd}f")
        check(EVEN)
        code(f"beq {is_late}f")
        code.place(checked)
        code("movs r7, r11", f"beq {again}b", *end)
    with code.rarely():
        code.place(odd)
        if unsolved:
            code(f"cmp r7, #{UNSOLVED}", f"beq {unsolved}f")
        check(ODD)
        code(f"bne {checked}b")
        advance(ODD, lanes[1])
        code.place(is_late)
        advance(EVEN, lanes[0])


def round_in_float(code: Assembly, saturate: str, free: int = 0) -> None:
    """Six sums to elements as ONNX does: r7 and r8 are even and odd filters' float32 factors, r9 is
    the zero point. The two d registers from `free` on are lost."""
    first = 2 * free
    for sums, factor in ((EVEN, "r7"), (ODD, "r8")):
        code(f"vmov d{free}, {sums[0]}, {sums[1]}", f"vmov d{free + 1}, {sums[2]}, {factor}")
        code(*(f"vcvt.f32.s32 s{n}, s{n}" for n in range(first, first + 3)))
        code(*(f"vmul.f32 s{n}, s{n}, s{first + 3}" for n in range(first, first + 3)))
        code(*(f"vcvtr.s32.f32 s{n}, s{n}" for n in range(first, first + 3)))
        code(f"vmov {sums[0]}, {sums[1]}, d{free}", f"vmov {sums[2]}, s{first + 2}")
    for acc in (*EVEN, *ODD):
        code(f"qadd {acc}, {acc}, r9", f"{saturate} {acc}, #8, {acc}")


def round_twice(code: Assembly, saturate: str, lanes_log2: tuple[int, int]) -> None:
    """Six sums to elements as TFLite does: r7 and r8 are multipliers; r9 has their shifts in its
    lower bytes, and the zero point in its upper half. The high word of twice the sum times the
    multiplier is rounded with ties up, the shift with ties away from zero: that is with ties up of
    one less where it is negative. The last bit that a shift drops is the carry. A shift of 0 leaves
    the carry, which CMP has cleared then, and all else as it is.

    lanes_log2: of what even and odd filters' accumulators are a multiple.
    """
    code("asr r10, r9, #16")
    for sums, by, scale in zip((EVEN, ODD), lanes_log2, ("r7", "r8"), strict=True):
        twice = "lsl #1" if by == 0 else f"asr #{by - 1}"
        code("uxtb r6, r9" if sums is EVEN else "ubfx r6, r9, #8, #8")
        for acc in sums:
            code("cmp r6, #1", f"mov r11, {acc}, {twice}", f"smmulr r11, r11, {scale}")
            code("it hs", f"addhs r11, r11, {acc}, asr #31", f"asrs {acc}, r11, r6")
            code(f"adc {acc}, {acc}, r10", f"{saturate} {acc}, #8, {acc}")
