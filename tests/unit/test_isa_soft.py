"""Statements for cores without an FPU: its registers are words of the stack."""

from __future__ import annotations

import pytest
from isa_statements import written

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.instruction import printed
from mcu_deploy.backends.isa.soft import soft


def of(*statements: str) -> list[str]:
    """The statements that some become."""
    code = Assembly()
    written(code, *statements)
    return printed(soft(code.items))


def test_moves_are_loads_and_stores_between_a_frame() -> None:
    moves = (
        "vmov s5, r0",
        "vmov r1, s4",
        "vmov d4, r2, r3",
        "vmov r4, r5, d4",
        "vmov s6, s7, r6, r7",
    )
    assert of("mov r4, r0", *moves) == [
        "sub sp, sp, #24", "mov r4, r0", "str r0, [sp, #4]", "ldr r1, [sp]",
        "strd r2, r3, [sp, #16]", "ldrd r4, r5, [sp, #16]", "strd r6, r7, [sp, #8]",
        "add sp, sp, #24",
    ]  # fmt: skip


def test_what_needs_no_fpu_stays() -> None:
    assert of("mov r4, r0", "adds r4, r4, #1") == ["mov r4, r0", "adds r4, r4, #1"]


def test_a_rounded_product_is_a_call_of_one_subroutine() -> None:
    computed = [
        line
        for n in (0, 1)
        for line in (
            f"vcvt.f32.s32 s{n}, s{n}",
            f"vmul.f32 s{n}, s{n}, s2",
            f"vcvtr.s32.f32 s{n}, s{n}",
        )
    ]
    found = of("vmov s2, r0", "vmov s0, s1, r1, r2", *computed, "vmov r1, r2, d0")
    assert found.count("bl 90f") == 2
    assert found.count("90:") == found.count("bx lr") == 1


def test_other_floats_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"`vadd.f32 s0, s1, s2` has no form for cores without"):
        of("vadd.f32 s0, s1, s2")
