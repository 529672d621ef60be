"""The Cortex-M85's pipeline: the units and latencies that SLOTHY has (split_pipeline.py)."""

from __future__ import annotations

import pytest

from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.instruction import Instruction, parsed
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.schedule import scheduled
from mcu_deploy.backends.isa.split_pipeline import M85
from mcu_deploy.backends.isa.vector_pipeline import M55


@pytest.mark.parametrize(
    ("code", "m85", "m55"),
    [
        # Loads and stores have a unit each, and a third of both at once waits a cycle.
        ("vldrw.u32 q0, [r0]; vstrw.32 q1, [r1]", 3, 5),
        ("vldrw.u32 q0, [r0]; vldrw.u32 q1, [r1]", 4, 4),
        # A adds, B multiplies, both at once; what works on bits goes to either.
        ("vadd.i32 q0, q1, q2; vmul.i32 q3, q1, q2", 2, 2),
        ("vadd.i32 q0, q1, q2; vsub.i32 q3, q1, q2", 4, 4),
        ("vand q0, q1, q2; veor q3, q1, q2", 2, 4),
        # VFMA takes A and B.
        ("vfma.f32 q0, q1, q2; vadd.f32 q3, q4, q5", 4, 4),
        ("vmul.f32 q0, q1, q2; vadd.f32 q3, q4, q5", 2, 4),
    ],
)
def test_units_are_busy_for_two_cycles(code: str, m85: int, m55: int) -> None:
    lines = [parsed(line.strip()) for line in code.split(";")]
    for model, taken in ((M85, m85), (M55, m55)):
        assert model.cycles([model.issue_of(line) for line in lines], True) == taken, model.core


@pytest.mark.parametrize(
    ("code", "taken"),
    [
        ("vfma.f32 q0, q1, q2; vfma.f32 q0, q3, q4", 5),
        ("vmul.f32 q0, q1, q2; vadd.f32 q3, q0, q4", 4),
        ("vmul.i32 q0, q1, q2; vadd.i32 q3, q0, q4", 3),
        ("vadd.i32 q0, q1, q2; vadd.i32 q3, q0, q4", 3),
        ("vldrw.u32 q0, [r0, q1, uxtw #2]; vadd.i32 q2, q0, q3", 5),
        ("ldrb r1, [r0]; add r2, r1, r3", 4),
        ("ldr r1, [r0]; add r2, r1, r3", 2),
        ("vmladava.s8 r0, q0, q1; vmladava.s8 r0, q2, q3", 3),
    ],
)
def test_results_are_there_in_their_time(code: str, taken: int) -> None:
    issues = [M85.issue_of(parsed(line.strip())) for line in code.split(";")]
    assert M85.cycles(issues, False) == taken


def test_kernels_are_put_into_an_order_for_it() -> None:
    code = Assembly(M85)
    x, y = code.arguments("x y")
    a, b = code.registers("a b", kind=Kind.VECTOR)
    code.vldrw_u32(a, x[0])
    code.vmul_f32(a, a, a)
    code.vadd_f32(a, a, a)
    code.vldrw_u32(b, x[16])
    code.vmul_f32(b, b, b)
    code.vadd_f32(b, b, b)
    code.vstrw_32(a, y[0])
    code.vstrw_32(b, y[16])
    items = tuple(code.items)

    def cycles(order: tuple[object, ...]) -> float:
        return M85.cycles([M85.issue_of(i) for i in order if isinstance(i, Instruction)], False)

    assert cycles(tuple(scheduled(items, M85))) < cycles(items)
    assert MODELS["cortex-m85"] is M85
