"""docs/schedules.md: its schedule is one, as it stands there, and its C is what is generated."""

from __future__ import annotations

import itertools
import re
import sys
import textwrap
from pathlib import Path

import pytest
from plan_lanes import fork, run_on_two_cores

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options
from mcu_deploy.plan import Parallel, schedules
from mcu_deploy.plan.schedules import Job

PAGE = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text()


@pytest.fixture
def neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    (example,) = re.findall(r"```python\n(\"\"\".*?)```", PAGE, re.DOTALL)
    (tmp_path / "neighbours.py").write_text(example)
    monkeypatch.setattr(schedules, "__path__", [*schedules.__path__, str(tmp_path)])
    yield schedules.find("neighbours")
    sys.modules.pop(f"{schedules.__name__}.neighbours")


def test_the_schedule_of_the_page_makes_plans_that_hold(neighbours: object) -> None:
    """The two ends of one branch and the begin of the other stand beside each other."""
    problem = fork(2, 2, scratch_bytes=8)
    made = problem.plan(schedule="neighbours")
    assert made.parallel == (Parallel(((1,), (2,))),)
    for seed in range(10):
        run_on_two_cores(problem, made, seed)


def test_it_keeps_every_rule_of_the_page(neighbours: object) -> None:
    wirings = itertools.product([frozenset(), frozenset({0})], [frozenset(), frozenset({1})])
    for (second, third), alone in itertools.product(wirings, range(3)):
        jobs = [Job(needs, 1, n == alone) for n, needs in enumerate([frozenset(), second, third])]
        stages = schedules.find("neighbours")(jobs)
        assert [n for s in stages for lane in s.lanes for n in lane] == [0, 1, 2]
        for pair in (s.lanes for s in stages if len(s.lanes) > 1):
            (first,), (other,) = pair
            assert first not in jobs[other].needs
            assert alone not in (first, other)


def test_the_c_of_the_page_is_generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(re.findall(r"```python\n(import .*?)```", PAGE, re.DOTALL)[0], {})
    network = compile_model(
        tmp_path / "forked.onnx", load_board("mps2-an521"), name="net",
        options=Options(schedule="parallel"),
    )  # fmt: skip
    (shown,) = re.findall(r"^/\* On two cores at once.*?\n}\n", PAGE, re.DOTALL | re.MULTILINE)
    assert textwrap.indent(shown, "    ") in network.sources.files["network_net.c"].decode()
