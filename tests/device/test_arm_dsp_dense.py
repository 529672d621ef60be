"""ArmDsp's fully connected layers on the cores: the oracle's bits, and their instructions."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_dense_cases import REFUSED, SMALL, TAKEN, WIDE, model
from quantized_layers import extremes
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500"]))
@pytest.mark.parametrize("goal", first(["speed", "size"]))
def test_every_shape_gives_the_bits_of_the_oracle(board: str, goal: str, tmp_path: Path) -> None:
    path = model([*TAKEN, *REFUSED], tmp_path / "dense.onnx")
    options = Options(backends=("ArmDsp", "CpuRef"), optimize_for=goal)
    built = build(path, board, tmp_path / "build", options=options)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(TAKEN)
    assert validate(built.directory, extremes(path)).passed
    if board == "mps2-an386" and goal == "speed":
        counts = {layer.name: layer.cost for layer in profile(built.directory).layers}
        by_size = {layer.macs: counts[layer.name] for layer in mine}
        assert 27 / 32 * WIDE.macs < by_size[WIDE.macs] <= 70_946 * 1.01
        assert 27 / 32 * SMALL.macs < by_size[SMALL.macs] <= 877 * 1.01
