"""A report of several networks in one firmware: goals are compared by what all of them take."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcu_deploy
from mcu_deploy.api.reporting import make_report

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


def test_the_goals_are_those_of_all_networks(repository: Path, tmp_path: Path) -> None:
    sine = repository / "examples/cmake/sine.tflite"
    built = mcu_deploy.build([sine, sine], "mps2-an386", tmp_path / "two", name=["one", "two"])
    made = make_report(tmp_path / "two")
    goals = made.front.builds
    assert [(g.goal, g.refusal) for g in goals] == [
        (goal, "") for goal in ("speed", "balanced", "size", "ram")
    ]
    (asked,) = (g for g in goals if g.is_asked)
    times = [n.priced_time for n in built.report.networks]
    assert asked.cycles == sum(t.cycles for t in times if t is not None) > 0
    assert "prices" in made.front.basis
    assert [n.profile is not None for n in made.side.networks] == [True, False], "one is counted"
