"""ArmDsp's convolutions in strips on the cores: the oracle's bits."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_strips_cases import TAKEN, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.backends.ArmDsp.kernels import convolution, convolution_strips, winograd

pytestmark = MARKS


@pytest.mark.parametrize(
    ("board", "small"),
    first(
        [("mps2-an386", 2000), ("mps2-an386", 0), ("mps2-an386", 8192), ("mps2-an500", 2000),
         ("mps2-an505", 2000)]
    ),
)  # fmt: skip
def test_every_block_gives_the_bits_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, board: str, small: int, tmp_path: Path
) -> None:
    for alone in (convolution, winograd):
        monkeypatch.setattr(alone, "propose", lambda view, layer: "")
    monkeypatch.setattr(convolution_strips, "_STRIP_BYTES", small)
    cases = part(TAKEN, 3)
    path = model(cases, tmp_path / "blocks.onnx")
    built = right(path, board, tmp_path, "speed")
    layers = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert [layer.op for layer in layers] == ["ConvolutionStrips"] * len(cases)
