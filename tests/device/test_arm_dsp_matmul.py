"""ArmDsp's products of computed matrices on the cores: the oracle's bits, and instructions."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_matmul_cases import HEAD, REFUSED, TAKEN, model
from quantized_layers import extremes
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
def test_every_product_gives_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    path = model([*TAKEN, *REFUSED], tmp_path / "products.onnx")
    options = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")
    built = build(path, board, tmp_path / "build", options=options)
    backends = {layer.name: layer.backend for layer in built.report.layers}
    answers = [backends[f"product{n}"] for n in range(len(TAKEN) + len(REFUSED))]
    assert answers == ["ArmDsp"] * len(TAKEN) + ["CpuRef"] * len(REFUSED)
    assert validate(built, extremes(path)).passed
    if board == "mps2-an386":
        counts = {layer.name: layer.cost for layer in profile(built.directory).layers}
        # of 24 products 12 SMLAD, 4 extensions and 4 loads, and what is around them
        assert 20 / 24 * HEAD.macs < counts["product0"] <= 1.35 * HEAD.macs
