"""What `profile` says of a whole network on a core whose cycles are Arm's."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


def test_a_network_takes_what_it_took_by_the_sum_of_arms_table(
    models_dir: Path, tmp_path: Path
) -> None:
    """3,864 cycles, each instruction by itself, before a model issued them."""
    model = models_dir / "tflm_hello_world_int8" / "model.tflite"
    options = Options(backends=("CpuRef",))
    built = build(model, "mps2-an385", tmp_path / "build", name="hello", options=options)
    found = profile(built.directory)
    assert found.cycles == pytest.approx(3864, rel=0.01)
    assert found.timings == "cortex-m3"
