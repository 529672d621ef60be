"""ArmDsp's layers of TFLite models on the cores: the oracle's bits, where integers round once and
where only two roundings do."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_tflite_cases import MODELS, extremes, model
from kernel_builds import MARKS, right
from sampling import first

pytestmark = MARKS


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
@pytest.mark.parametrize("name", first([*MODELS], 2))
def test_every_layer_gives_the_bits_of_the_oracle(name: str, board: str, tmp_path: Path) -> None:
    cases = MODELS[name]
    path = model(cases, tmp_path / "layers.tflite")
    built = right(path, board, tmp_path, "speed", samples=extremes(path))
    backends = [layer.backend for layer in built.report.layers]
    assert backends == ["ArmDsp"] * len(cases)
