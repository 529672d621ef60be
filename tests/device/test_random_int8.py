"""300 networks of int8 and uint8 that are drawn, on QEMU's Cortex-M55: the oracle's bits, for every
goal. Ten of them are side by side in a firmware, in the sample four."""

from __future__ import annotations

from pathlib import Path

import pytest
from quantized_layers import extremes
from random_int8_nets import model
from sampling import examples, first

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip
_GOALS = ("speed", "balanced", "size", "ram")
_AT_ONCE = 10


@pytest.mark.parametrize("batch", first([*range(30)]))
def test_networks_give_the_bits_of_the_oracle(batch: int, tmp_path: Path) -> None:
    numbers = range(_AT_ONCE * batch, _AT_ONCE * batch + examples(_AT_ONCE, 2))
    path = model(numbers, tmp_path / "networks.onnx")
    options = Options(optimize_for=_GOALS[batch % len(_GOALS)])
    built = build(path, "mps3-an547", tmp_path / "build", options=options)
    found = validate(built, extremes(path), onnxruntime=False)
    assert found.passed, found
    assert options.optimize_for == "size" or any(
        layer.backend == "ArmMve" and layer.op == "Conv" for layer in built.report.layers
    )
