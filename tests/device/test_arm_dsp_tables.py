"""ArmDsp's functions by tables on the cores: the oracle's bits, and their cycles."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_table_cases import LARGE, TAKEN, model
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
def test_every_function_gives_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    path = model(TAKEN, tmp_path / "tables.onnx")
    options = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")
    built = build(path, board, tmp_path / "build", options=options)
    backends = {layer.name: layer.backend for layer in built.report.layers}
    assert [backends[f"table{n}"] for n in range(len(TAKEN))] == ["ArmDsp"] * len(TAKEN)
    assert validate(built, extremes(path)).passed
    if board == "mps2-an386":
        counts = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
        # of each element two loads, of which one in sixteen stands behind no other, and the store
        assert 3.1 * LARGE.elements < counts["table0"] <= 3.6 * LARGE.elements
