"""ArmDsp's convolutions with a pool behind them on the cores: the oracle's bits."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_conv_pool_cases import OTHERS, TAKEN, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.ArmDsp.kernels import (
    convolution,
    convolution_strips,
    convolution_table,
    pools,
    winograd,
)

pytestmark = MARKS


@pytest.mark.parametrize(
    ("board", "small"),
    first([("mps2-an386", 1500), ("mps2-an386", 0), ("mps2-an386", 8192), ("mps2-an505", 1500)]),
)
def test_every_pair_gives_the_bits_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, board: str, small: int, tmp_path: Path
) -> None:
    for alone in (convolution, convolution_table, winograd, pools):
        monkeypatch.setattr(alone, "propose", lambda view, layer: "")
    monkeypatch.setattr(convolution_strips, "_STRIP_BYTES", small)
    taken = part(TAKEN, 2)
    path = model([*taken, *OTHERS], tmp_path / "pairs.onnx")
    built = right(path, board, tmp_path, "speed")
    layers = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert [layer.op for layer in layers] == ["ConvolutionPool"] * len(taken)
    if (board, small) == ("mps2-an386", 1500):
        counted = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
        for layer in layers:
            assert layer.cost is not None
            assert 0.85 * counted[layer.name] < layer.cost.value < 1.15 * counted[layer.name]
