"""ArmDsp's pools on the cores: the oracle's bits, and the instructions that they may take."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_pool_cases import (
    EVEN,
    LARGE,
    LARGEST,
    ODD,
    PADDED,
    PADDED_AVERAGE,
    REFUSED,
    TAKEN,
    model,
)
from quantized_layers import extremes
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500"]))
def test_every_window_gives_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    path = model([*TAKEN, *REFUSED], tmp_path / "pools.onnx")
    options = Options(backends=("ArmDsp", "CpuRef"))
    built = build(path, board, tmp_path / "build", options=options)
    backends = {layer.name: layer.backend for layer in built.report.layers}
    answers = [backends[f"pool{n}"] for n in range(len(TAKEN) + len(REFUSED))]
    assert answers == ["ArmDsp"] * len(TAKEN) + ["CpuRef"] * len(REFUSED)
    assert validate(built, extremes(path)).passed
    if board == "mps2-an386":
        counts = {layer.name: layer.cost for layer in profile(built.directory).layers}
        mine = {case: counts[f"pool{n}"] for n, case in enumerate(TAKEN)}
        # of each element: LDM of four words, eight SXTAB16 and the pointer for 16 channels
        assert 9 / 16 * 64 * 125 < mine[ODD] < 0.71 * 64 * 125
        assert 9 / 16 * 64 * 64 < mine[EVEN] < 1.25 * 64 * 64
        assert 9 / 16 * 16 * 1024 < mine[LARGE] < 1 * 16 * 1024
        assert 7 / 16 * 32 * 256 < mine[LARGEST] < 0.78 * 32 * 256
        # 23 of 24 rows and columns of the windows are inside
        assert 9 / 16 * 16 * 23**2 < mine[PADDED] < 1.5 * 16 * 23**2
        assert 9 / 16 * 16 * 46**2 < mine[PADDED_AVERAGE] < 2.6 * 16 * 46**2
