"""300 networks of int8 and uint8 that are drawn, on QEMU's Cortex-M55: the oracle's bits, for every
goal. Ten of them are side by side in a firmware, in the sample two."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_builds import GOALS, drawn
from sampling import first

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip


@pytest.mark.parametrize("batch", first([*range(30)]))
def test_networks_give_the_bits_of_the_oracle(batch: int, tmp_path: Path) -> None:
    built = drawn(batch, 2, "mps3-an547", tmp_path)
    assert GOALS[batch % len(GOALS)] == "size" or any(
        layer.backend == "ArmMve" and layer.op == "Conv" for layer in built.report.layers
    )
