"""ArmMve's layers of TFLite models on QEMU's Cortex-M55: the oracle's bits, which two roundings
give."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_mve_tflite import ALL, extremes, model
from kernel_builds import MARKS, right
from sampling import first

pytestmark = MARKS


@pytest.mark.parametrize("name", first(sorted(ALL)))
def test_every_layer_gives_the_bits_of_the_oracle(name: str, tmp_path: Path) -> None:
    cases = ALL[name]
    path = model(cases, tmp_path / "layers.tflite")
    given = extremes(path)
    built = right(path, "mps3-an547", tmp_path, "speed", backend="ArmMve", samples=given)
    backends = [layer.backend for layer in built.report.layers]
    assert backends == ["ArmMve"] * len(cases)
