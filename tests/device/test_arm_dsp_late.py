"""ArmDsp's convolutions of which some sums are not rounded by their integers: the oracle's bits."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_late_cases import DEPTHWISE, KERNELS, SOLVED, UNSOLVED, model
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("board", "goal"),
    first(
        [
            ("mps2-an386", "speed"), ("mps2-an386", "size"), ("mps2-an386", "balanced"),
            ("mps2-an500", "speed"), ("mps2-an505", "balanced"),
        ],
        2,
    ),
)  # fmt: skip
def test_late_sums_and_ties_are_the_oracles(board: str, goal: str, tmp_path: Path) -> None:
    path, samples = model(tmp_path / "late.onnx")
    options = Options(backends=("ArmDsp", "CpuRef"), optimize_for=goal)
    built = build(path, board, tmp_path / "build", options=options)
    mine = [la for la in built.report.layers if la.op == "Conv" and la.backend == "ArmDsp"]
    assert len(mine) == len(KERNELS) * len((*SOLVED, *UNSOLVED)) + len(DEPTHWISE)
    assert validate(built.directory, samples).passed
