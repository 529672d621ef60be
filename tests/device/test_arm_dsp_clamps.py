"""ArmDsp's clamps that are narrower than the type, on the cores: the oracle's bits."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_clamp_cases import LARGE, TAKEN, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.profiling import profile

pytestmark = MARKS


@pytest.mark.parametrize(
    ("board", "goal"),
    first(
        [
            ("mps2-an386", "balanced"), ("mps2-an386", "speed"), ("mps2-an386", "size"),
            ("mps2-an500", "speed"), ("mps2-an505", "speed"),
        ]
    ),
)  # fmt: skip
def test_every_clamp_gives_the_bits_of_the_oracle(board: str, goal: str, tmp_path: Path) -> None:
    cases = [*part(TAKEN, 3), LARGE]
    path = model(cases, tmp_path / "clamps.onnx")
    built = right(path, board, tmp_path, goal)
    layers = {layer.name: layer for layer in built.report.layers}
    mine = [layers[f"clamped{n}"] for n in range(len(cases))]
    assert [layer.backend for layer in mine] == ["ArmDsp"] * len(mine)
    if (board, goal) == ("mps2-an386", "balanced"):
        counted = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
        large = mine[-1]
        assert large.cost is not None
        assert abs(counted[large.name] - large.cost.value) < 0.02 * counted[large.name]
