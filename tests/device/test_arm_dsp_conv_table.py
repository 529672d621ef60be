"""ArmDsp's convolutions with a function of a byte behind them: the oracle's bits, and the gain."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_conv_table_cases import LARGE, TAKEN, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.ArmDsp.kernels import convolution_table, winograd
from mcu_deploy.options import Options

pytestmark = MARKS
_OPTIONS = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
def test_every_pair_gives_the_bits_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, board: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(winograd, "propose", lambda view, layer: "")
    cases = part(TAKEN, 3)
    path = model(cases, tmp_path / "pairs.onnx")
    built = right(path, board, tmp_path, "speed", onnxruntime=False)
    layers = [layer.op for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert layers.count("ConvolutionTable") == len(cases)


@pytest.mark.matrix
def test_a_look_up_on_the_way_takes_less_than_a_layer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, cycles = model([LARGE], tmp_path / "pair.onnx"), []
    for name in ("fused", "apart"):
        built = build(path, "mps2-an386", tmp_path / name, options=_OPTIONS)
        counted = profile(built.directory)
        cycles.append(sum(layer.cycles or 0 for layer in counted.layers))
        monkeypatch.setattr(convolution_table, "propose", lambda view, layer: "")
    assert cycles[1] - cycles[0] > 1.5 * LARGE.filters * 144
