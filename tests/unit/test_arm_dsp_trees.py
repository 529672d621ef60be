"""ArmDsp's trees on the interpreter: the oracle's bits, and what it leaves to others."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from arm_dsp_tree_cases import REFUSED, TAKEN, Trees, model
from kernel_runs import first_sample, runs
from sampling import part

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp.kernels import trees
from mcu_deploy.backends.interface import Target, layer_of
from mcu_deploy.ir import view_of_all

_TARGET = Target("cortex-m4")


def _asked(case: Trees, folder: Path, target: Target = _TARGET) -> str:
    """What it says of a case that it does not take."""
    onnx.save_model(case.model(0)[0], path := folder / "trees.onnx")
    view = view_of_all(passes.run(formats.load(path)))
    node = next(n for n in view.nodes if n.op == "TreeEnsemble")
    answer = trees.propose(view, layer_of(view, node, target))
    assert isinstance(answer, str)
    return answer


def test_sums_are_the_oracles(tmp_path: Path) -> None:
    cases = part(TAKEN, 4)
    path, samples = model(cases, tmp_path / "trees.onnx")
    inputs = first_sample(path, samples)
    found = [*runs(path, inputs)]
    assert len(found) == len(cases)
    for run in found:
        assert run.result() == run.output, run.name


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_it_leaves_to_others(case: Trees, tmp_path: Path) -> None:
    assert REFUSED[case] in _asked(case, tmp_path)


def test_without_an_fpu_it_adds_nothing(tmp_path: Path) -> None:
    assert "no FPU" in _asked(TAKEN[0], tmp_path, Target("cortex-m4", fpu=False))
