"""ArmMve's layers of TFLite models on QEMU's Cortex-M55: the oracle's bits, which two roundings
give."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_mve_tflite import ALL, extremes, model
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip


@pytest.mark.parametrize("name", first([*ALL], 2))
def test_every_layer_gives_the_bits_of_the_oracle(name: str, tmp_path: Path) -> None:
    cases = ALL[name]
    path = model(cases, tmp_path / "layers.tflite")
    options = Options(backends=("ArmMve", "CpuRef"), optimize_for="speed")
    built = build(path, "mps3-an547", tmp_path / "build", options=options)
    backends = [layer.backend for layer in built.report.layers]
    assert backends == ["ArmMve"] * len(cases)
    assert validate(built, extremes(path)).passed
