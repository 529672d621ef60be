"""ArmDsp's convolutions of which some sums are not rounded by their integers: the oracle's bits."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_late_cases import DEPTHWISE, KERNELS, SOLVED, UNSOLVED, model
from kernel_builds import MARKS, right
from sampling import first

pytestmark = MARKS


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("board", "goal"),
    first(
        [
            ("mps2-an386", "speed"), ("mps2-an386", "size"), ("mps2-an386", "balanced"),
            ("mps2-an500", "speed"), ("mps2-an505", "balanced"),
        ]
    ),
)  # fmt: skip
def test_late_sums_and_ties_are_the_oracles(board: str, goal: str, tmp_path: Path) -> None:
    path, samples = model(tmp_path / "late.onnx")
    built = right(path, board, tmp_path, goal, samples=samples)
    mine = [la for la in built.report.layers if la.op == "Conv" and la.backend == "ArmDsp"]
    assert len(mine) == len(KERNELS) * len((*SOLVED, *UNSOLVED)) + len(DEPTHWISE)
