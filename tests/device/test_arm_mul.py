"""ArmMul's kernels in networks of int8 and uint8 that are drawn, on QEMU's Cortex-M3: the oracle's
bits, for every goal."""

from __future__ import annotations

from pathlib import Path

import pytest
from quantized_layers import extremes
from random_int8_nets import model
from sampling import examples, first

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]
_GOALS = ("speed", "balanced", "size", "ram")
_AT_ONCE = 10


@pytest.mark.parametrize("batch", first([*range(8)]))
def test_networks_give_the_bits_of_the_oracle(batch: int, tmp_path: Path) -> None:
    numbers = range(_AT_ONCE * batch, _AT_ONCE * batch + examples(_AT_ONCE, 4))
    path = model(numbers, tmp_path / "networks.onnx")
    options = Options(optimize_for=_GOALS[batch % len(_GOALS)])
    built = build(path, "mps2-an385", tmp_path / "build", options=options)
    found = validate(built, extremes(path), onnxruntime=False)
    assert found.passed, found
    assert batch % len(_GOALS) or any(
        layer.backend == "ArmMul" and layer.op == "Conv" for layer in built.report.layers
    )
