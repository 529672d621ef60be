"""ArmMve's kernels on QEMU's Cortex-M55: the oracle's bits, and the cycles that they may take."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_mve_cases import ALONE, TAKEN, model
from quantized_layers import extremes

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip


def test_every_shape_gives_the_bits_of_the_oracle(tmp_path: Path) -> None:
    options = Options(backends=("ArmMve", "CpuRef"), optimize_for="speed")
    path = model([*TAKEN, ALONE], tmp_path / "shapes.onnx")
    built = build(path, "mps3-an547", tmp_path / "build", options=options)
    layers = built.report.layers
    assert all(layer.backend == "ArmMve" for layer in layers if layer.op == "Conv")
    assert validate(built, extremes(path)).passed
    found = profile(built.directory)
    cycles = {layer.macs: layer.cycles for layer in found.layers}
    modelled = cycles[64 * 64 * 125]
    assert modelled is not None
    assert 64 * 64 * 125 / 8 < modelled < 90_500
    (cost,) = [layer.cost for layer in layers if layer.macs == 64 * 64 * 125]
    # The price lacks the call, and orders less thoroughly.
    assert cost is not None and abs(cost.value - modelled) < 0.02 * modelled
