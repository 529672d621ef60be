"""ArmDsp's convolutions by Winograd: the oracle's bits on the cores, and a price that is true."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_convolutions import model
from arm_dsp_winograd_cases import TAKEN
from sampling import first

from mcu_deploy import formats, passes
from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.backends.ArmDsp import ArmDsp
from mcu_deploy.backends.ArmDsp.kernels import convolution
from mcu_deploy.backends.interface import Target
from mcu_deploy.ir.view import view_of_all
from mcu_deploy.options import Options

M4 = Target("cortex-m4", fpu=True, dsp=True)
pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
def test_every_shape_gives_the_bits_of_the_oracle(
    board: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(convolution, "propose", lambda view, layer: "")
    path = model(TAKEN, tmp_path / "shapes.onnx")
    options = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")
    built = build(path, board, tmp_path / "build", options=options)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(TAKEN)
    # onnxruntime convolves no int8 to uint8.
    assert validate(built.directory, onnxruntime=False).passed
    if board != "mps2-an386":
        return
    counted = {layer.name: layer for layer in profile(built.directory).layers}
    (block,) = (layer.cost for layer in counted.values() if layer.macs == 1024 * 16 * 144)
    assert 1_000_000 < block <= 1_117_000
    graph = passes.run(formats.load(path))
    for proposal in ArmDsp().propose(view_of_all(graph), M4).proposals:
        (node,) = proposal.part.nodes
        price, cycles = proposal.price.costs.cycles, counted[node.name].cycles
        assert price is not None and cycles is not None
        # Filters without an integer scale are not in the price.
        assert 0.88 * cycles < price < 1.01 * cycles, node.name
