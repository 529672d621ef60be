"""ArmMve's kernels on the Cortex-M85 of the EK-RA8M1 in Renode: the oracle's bits."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import arm_mve_cases
import arm_mve_chain_cases
import arm_mve_conv_cases
import arm_mve_dense_cases
import arm_mve_depthwise_cases
import pytest
from kernel_builds import right
from models.mlperf import first_samples

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate

pytestmark = [
    pytest.mark.matrix, pytest.mark.needs_arm_gcc, pytest.mark.needs_renode,
    pytest.mark.needs_renode_helium,
]  # fmt: skip

_FAMILIES = (
    arm_mve_cases, arm_mve_chain_cases, arm_mve_conv_cases, arm_mve_dense_cases,
    arm_mve_depthwise_cases,
)  # fmt: skip


@pytest.mark.parametrize("family", _FAMILIES, ids=lambda family: family.__name__)
def test_kernels_give_the_bits_of_the_oracle(family: ModuleType, tmp_path: Path) -> None:
    path = family.model(family.TAKEN, tmp_path / "shapes.onnx")
    # ONNX Runtime has no convolutions from uint8 to int8.
    known = family is not arm_mve_depthwise_cases
    built = right(path, "ek_ra8m1", tmp_path, "speed", backend="ArmMve", onnxruntime=known)
    assert all(layer.backend == "ArmMve" for layer in built.report.layers if layer.macs)


@pytest.mark.parametrize("name", ["mlperf_vww_int8", "mlperf_ic_int8", "mlperf_ad_int8"])
def test_networks_give_them(name: str, models_dir: Path, tmp_path: Path) -> None:
    built = build(models_dir / name / "model.onnx", "ek_ra8m1", tmp_path / "build")
    assert validate(built, first_samples(models_dir / name / "io.npz", 2, tmp_path)).passed


def test_a_float_network_is_near(models_dir: Path, tmp_path: Path) -> None:
    model = models_dir / "mlperf_kws_f32"
    built = build(model / "model.onnx", "ek_ra8m1", tmp_path / "build")
    assert validate(built, first_samples(model / "io.npz", 2, tmp_path)).passed
