"""Costs with their units, and the fingerprints of workloads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mcu_deploy import resources
from mcu_deploy.backends.cost import Cost, Costs, Known, Unit, common_unit
from mcu_deploy.backends.workload import (
    Argument,
    CFunction,
    Constant,
    InPlace,
    Parameter,
    Role,
    Workload,
)
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model

KWS = resources.examples() / "kws" / "model.onnx"


def test_costs_of_one_unit_compare() -> None:
    few, many = Cost(5, Unit.CYCLES), Cost(7, Unit.CYCLES, Known.MEASURED)
    assert few < many and many > few and min(many, few) == few
    assert str(many) == "7 measured cycles" and few != replace(few, unit=Unit.INSTRUCTIONS)


@pytest.mark.parametrize("unit", [Unit.INSTRUCTIONS, Unit.BYTES])
def test_costs_of_different_units_do_not_compare(unit: Unit) -> None:
    with pytest.raises(TypeError, match=r"^5 modelled cycles and 9 modelled \w+ do not compare"):
        min(Cost(9, unit), Cost(5, Unit.CYCLES))


def test_costs_have_a_price_in_the_units_that_they_state() -> None:
    both = Costs(macs=9, instructions=20, cycles=30, flash=40, known=Known.COUNTED)
    assert both.price(Unit.CYCLES) == both.stated == Cost(30, Unit.CYCLES, Known.COUNTED)
    assert both.price(Unit.INSTRUCTIONS) == Cost(20, Unit.INSTRUCTIONS, Known.COUNTED)
    assert both.price(Unit.BYTES) == Cost(40, Unit.BYTES)
    assert Costs(instructions=0).stated == Cost(0, Unit.INSTRUCTIONS)
    assert Costs(macs=9).stated is None
    assert common_unit([Costs(instructions=1), both]) is Unit.CYCLES
    assert common_unit([Costs(instructions=1), Costs()]) is Unit.INSTRUCTIONS


def workload() -> Workload:
    x, y = Parameter("const int8_t *", "x"), Parameter("int8_t *", "y")
    return Workload(
        "Mine",
        CFunction("twice", (x, y, Parameter("const int16_t *", "w")), "{ *y = $twin(*x) + *w; }"),
        (Argument(Role.INPUT), Argument(Role.OUTPUT), Argument(Role.CONSTANT)),
        (Constant("w", np.array([1, -2], np.int16)),),
        (CFunction("twin", (Parameter("int", "x"),), "{ return 2 * x; }", "int", inline=True),),
        ("stdint.h",),
        scratch_bytes=8,
        in_place=(InPlace(0, 0),),
        costs=Costs(cycles=7),
    )


def test_workloads_are_compared_by_what_is_in_them() -> None:
    assert workload() == workload() and hash(workload()) == hash(workload())
    for values in ([1, -3], [1, -2, 0], [[1, -2]]):
        assert workload() != replace(workload(), constants=(Constant("w", np.int16(values)),))
    for field in ({"scratch_bytes": 9}, {"in_place": ()}, {"costs": Costs()}, {"backend": "B"}):
        assert workload() != replace(workload(), **field)  # type: ignore[arg-type]
    assert Constant("w", np.float32([np.nan])) == Constant("w", np.float32([np.nan]))
    assert Constant("w", np.float32([0.0])) != Constant("w", np.float32([-0.0]))
    assert Constant("w", np.float32([0.0])) != "w"


def test_a_fingerprint_is_of_what_runs() -> None:
    own, base = workload(), workload().fingerprint
    assert own.function is not None and len(base) == 64
    weights = own.constants[0].value
    changed = (
        {"function": replace(own.function, body="{ *y = $twin(*x) - *w; }")},
        {"helpers": (replace(own.helpers[0], body="{ return 3 * x; }"),)},
        {"helpers": ()},
        {"function": replace(own.function, attributes=("aligned(8)",))},
        {"arguments": (*own.arguments[:2], Argument(Role.SCALAR, value=3))},
        {"arguments": (*own.arguments[:2], Argument(Role.SCALAR, value=4))},
        {"arguments": own.arguments[::-1]},
        {"headers": ()},
        {"constants": (Constant("w", weights + np.int16(1)),)},
        {"constants": (Constant("w", weights.view(np.uint16)),)},
        {"constants": (Constant("w", weights.view(np.int32)),)},
        {"constants": (Constant("w", weights, alignment=16),)},
    )
    found = {replace(own, **field).fingerprint for field in changed}  # type: ignore[arg-type]
    assert len(found) == len(changed) and base not in found
    for field in ({"backend": "B"}, {"costs": Costs()}, {"scratch_bytes": 0}):
        assert replace(own, **field).fingerprint == base  # type: ignore[arg-type]
    strided = np.array([[1, 9], [-2, 9]], np.int16)[:, 0]
    swapped = weights.astype(weights.dtype.newbyteorder(">"))
    for value in (strided, swapped):
        assert replace(own, constants=(Constant("w", value),)).fingerprint == base


def _fingerprints(name: str) -> list[str]:
    network = compile_model(KWS, load_board("host"), name=name)
    return [step.choice.workload.fingerprint for step in network.plan.steps]


def test_fingerprints_do_not_depend_on_names() -> None:
    ours = _fingerprints("kws")
    assert ours == _fingerprints("other") and len(set(ours)) == len(ours) > 7
