"""ArmDsp's LSTM of TFLite on the cores: the oracle's bits, and its instructions."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_lstm_cases import TAKEN, model
from kernel_builds import MARKS, right
from operators.tflite_lstm_file import Lstm
from sampling import first

from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.ArmDsp.kernels import lstm

pytestmark = MARKS


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
@pytest.mark.parametrize("case", first(TAKEN, 2))
def test_every_layer_gives_the_bits_of_the_oracle(case: Lstm, board: str, tmp_path: Path) -> None:
    path = model(case, tmp_path)
    built = right(path, board, tmp_path, "speed", samples=path.with_suffix(".npz"))
    (layer,) = built.report.layers
    assert layer.backend == "ArmDsp"
    if board == "mps2-an386" and case is TAKEN[1]:
        (counted,) = profile(built.directory).layers
        # of 16 products 8 SMLAD, 4 extensions and 2 loads, and what is around them
        assert 14 / 16 * counted.macs < counted.cost <= 1.61 * counted.macs


@pytest.mark.matrix
@pytest.mark.parametrize("case", TAKEN)
def test_the_short_form_gives_them_too(
    monkeypatch: pytest.MonkeyPatch, case: Lstm, tmp_path: Path
) -> None:
    monkeypatch.setattr(lstm, "_MOST_UNROLLED", (2,))
    path = model(case, tmp_path)
    built = right(path, "mps2-an386", tmp_path, "speed", samples=path.with_suffix(".npz"))
    (layer,) = built.report.layers
    assert layer.backend == "ArmDsp"
