"""The Cortex-M33's pipeline: what was measured on an RP2350 (single_pipeline.py has the source)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.framing import framing
from mcu_deploy.backends.isa.instruction import parsed
from mcu_deploy.backends.isa.single_pipeline import M33, cycles, issue_of
from mcu_deploy.backends.layer import Target

_LAB = Path(__file__).parents[3] / "shared" / "lab" / "m7"
TARGET = Target("cortex-m33", fpu=True, dsp=True)


def _cycles(text: str, is_loop: bool = False) -> int:
    return cycles([issue_of(parsed(line.strip())) for line in text.split(";")], is_loop)


@pytest.mark.parametrize(
    ("code", "taken"),
    [
        ("ldmia r6!, {r0, r1, r2, r3}", 4),
        ("ldrd r0, r1, [r6]", 2),
        ("stmia r6!, {r0, r1, r2}", 3),
        # What is loaded is there two cycles later, for an addend or a store one.
        ("ldr r0, [r6]; add r1, r0, r2", 3),
        ("ldr r0, [r6]; mov r4, r5; add r1, r0, r2", 3),
        ("ldr r0, [r6]; smlad r1, r2, r3, r0", 2),
        ("ldr r0, [r6]; smlad r1, r0, r3, r2", 3),
        ("ldr r0, [r6]; str r0, [r7]", 2),
        ("ldr r0, [r6], #4; ldr r1, [r6], #4", 2),
        # Sums of products follow each other; what reads one otherwise waits.
        ("smlad r1, r2, r3, r1; smlad r1, r4, r5, r1", 2),
        ("smlad r1, r2, r3, r1; add r0, r1, r2", 3),
        # A shifted operand takes a stage more.
        ("add r0, r1, r2, lsl #3; add r3, r0, r4", 3),
        ("add r0, r1, r2; add r3, r0, r4", 2),
        ("add r0, r1, r2, lsl #3; str r0, [r7]", 2),
        ("bfi r0, r1, #0, #8; add r3, r0, r4", 2),
        # No other float for two cycles.
        ("vfma.f32 s0, s1, s2; vadd.f32 s3, s4, s5", 4),
        ("vfma.f32 s0, s1, s2; mov r0, r1; mov r2, r3; vadd.f32 s3, s4, s5", 4),
        ("vadd.f32 s0, s1, s2; vadd.f32 s3, s4, s5", 2),
    ],
)
def test_a_piece_takes_what_was_measured(code: str, taken: int) -> None:
    assert _cycles(code) == taken


def test_a_branch_takes_its_cycles_where_it_is_taken() -> None:
    """ "subs; bne" of a loop: three cycles a round, one in the last."""
    code = Assembly()
    left = code.arguments("left")[0]
    with code.repeat(100):
        code.subs(left, left, 1)
    assert code.time(TARGET) == 100 * 3 - 2 + framing(code.items, M33, has_fpu=True)
    assert M33.left == 0


def test_kernels_stay_in_the_order_in_which_they_are_written() -> None:
    from mcu_deploy.backends.isa.schedule import scheduled

    items = tuple(parsed(line) for line in ("ldr r0, [r6]", "add r1, r0, r2", "add r3, r4, r5"))
    assert scheduled(items, M33) == items


@pytest.fixture
def laboratory() -> ModuleType:
    if not _LAB.exists():
        pytest.skip(f"{_LAB} is not there: it lies beside the repository in CI")
    found = {}
    for name in ("m7", "m33"):
        spec = importlib.util.spec_from_file_location(name, _LAB / f"{name}.py")
        assert spec is not None and spec.loader is not None
        found[name] = importlib.util.module_from_spec(spec)
        sys.modules[name] = found[name]
        spec.loader.exec_module(found[name])
    return found["m7"]


@pytest.mark.parametrize("is_loop", [False, True])
def test_the_model_is_the_laboratorys(laboratory: ModuleType, is_loop: bool) -> None:
    """Of an inner loop of ArmDsp's: two filters times three pixels."""
    lines = [
        "ldmia r1!, {r3, r4}", "ldmia r2!, {r5, r6, r7}", "sxtb16 r9, r3",
        "smlad r8, r3, r5, r8", "smlad r10, r3, r6, r10", "smlad r11, r3, r7, r11",
        "smlad r0, r9, r5, r0", "smlad r12, r9, r6, r12", "ldr r3, [r2], #4", "add r4, r3, r5",
        "ssat r4, #8, r4", "add r5, r4, r5, asr #8", "str r5, [r1, #4]",
    ]  # fmt: skip
    theirs = laboratory.block_cycles([laboratory.parse(line) for line in lines], is_loop)
    assert cycles([issue_of(parsed(line)) for line in lines], is_loop) == theirs
