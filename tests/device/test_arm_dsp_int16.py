"""ArmDsp's layers of int16 by weights of 8 bits on the cores: the oracle's bits."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_int16_cases import REFUSED, TAKEN, WIDE, model, tflite_model, tflite_samples
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.profiling import profile

pytestmark = MARKS
_BOARDS = first(["mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"])


@pytest.mark.parametrize("board", _BOARDS)
def test_every_shape_gives_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    taken = part(TAKEN, 2)
    path = model([*taken, *REFUSED], tmp_path / "int16.onnx")
    built = right(path, board, tmp_path, "speed", onnxruntime=False)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(taken)
    if board != "mps2-an386":
        return
    counted = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
    largest = [layer for layer in mine if layer.macs > 20_000]
    assert largest
    for layer in largest:
        assert layer.cost is not None
        assert 0.85 * counted[layer.name] < layer.cost.value < 1.15 * counted[layer.name]
        assert counted[layer.name] < (1.5 if layer.macs > 100_000 else 5) * layer.macs


@pytest.mark.parametrize("board", _BOARDS)
def test_sums_of_tflite_are_rounded_as_it_does(board: str, tmp_path: Path) -> None:
    path = tflite_model(WIDE, tmp_path / "int16.tflite")
    built = right(path, board, tmp_path, "speed", samples=tflite_samples(WIDE), onnxruntime=False)
    assert [layer.backend for layer in built.report.layers] == ["ArmDsp"] * len(WIDE)
