"""ArmMve's kernels on QEMU's Cortex-M55: the oracle's bits, and the cycles that they may take."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import arm_mve_cases
import arm_mve_chain_cases
import arm_mve_conv_cases
import arm_mve_dense_cases
import arm_mve_depthwise_cases
import arm_mve_matmul_cases
import pytest
from kernel_builds import MARKS, right
from sampling import part

from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.ArmMve.kernels import convolution, pointwise

pytestmark = MARKS


def _cycles(module: ModuleType, alone: Any, macs: int, tmp_path: Path) -> int:
    """Of one layer of the family, all of which gives the oracle's bits. Its price is near."""
    path = module.model([*part(module.TAKEN, 8), alone], tmp_path / "shapes.onnx")
    # ONNX Runtime has no convolutions from uint8 to int8.
    known = module is not arm_mve_depthwise_cases
    built = right(path, "mps3-an547", tmp_path, "speed", backend="ArmMve", onnxruntime=known)
    layers = [layer for layer in built.report.layers if layer.macs]
    assert all(layer.backend == "ArmMve" for layer in layers)
    found = profile(built.directory)
    cycles = {layer.macs: layer.cycles for layer in found.layers}
    modelled = cycles[macs]
    assert modelled is not None
    (cost,) = [layer.cost for layer in layers if layer.macs == macs]
    # The price lacks the call, and orders less thoroughly.
    assert cost is not None and abs(cost.value - modelled) < 0.04 * modelled
    return modelled


@pytest.mark.matrix
def test_1x1_convolutions_give_the_bits_of_the_oracle(tmp_path: Path) -> None:
    macs = 64 * 64 * 125
    assert macs / 8 < _cycles(arm_mve_cases, arm_mve_cases.ALONE, macs, tmp_path) < 90_500


@pytest.mark.matrix
def test_1x1_convolutions_of_any_size_give_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (pointwise, convolution):
        monkeypatch.setattr(module, "propose", lambda view, node: "")
    macs = 64 * 64 * 125
    # Of five loads one is of the pixel.
    assert macs * 5 / 32 < _cycles(arm_mve_cases, arm_mve_cases.ALONE, macs, tmp_path) < 140_000


def test_dense_layers_give_the_bits_of_the_oracle(tmp_path: Path) -> None:
    macs = 640 * 128
    modelled = _cycles(arm_mve_dense_cases, arm_mve_dense_cases.WIDE, macs, tmp_path)
    assert macs / 8 < modelled < 12_600


@pytest.mark.matrix
def test_depthwise_convolutions_give_the_bits_of_the_oracle(tmp_path: Path) -> None:
    macs = 64 * 9 * 125
    modelled = _cycles(arm_mve_depthwise_cases, arm_mve_depthwise_cases.ALONE, macs, tmp_path)
    # VMLADAV multiplies 9 of 16 lanes.
    assert macs / 8 * 16 / 9 < modelled < 40_500


def test_products_of_matrices_give_the_bits_of_the_oracle(tmp_path: Path) -> None:
    macs = arm_mve_matmul_cases.ALONE.macs
    modelled = _cycles(arm_mve_matmul_cases, arm_mve_matmul_cases.ALONE, macs, tmp_path)
    # Five vectors are loaded for 64 products.
    assert macs * 5 / 32 < modelled < 62_000


def test_convolutions_give_the_bits_of_the_oracle(tmp_path: Path) -> None:
    block = arm_mve_conv_cases.BLOCK
    macs = 16 * 9 * 16 * 1024
    assert macs / 8 < _cycles(arm_mve_conv_cases, block, macs, tmp_path) < 365_000


@pytest.mark.matrix
def test_1x1_and_depthwise_ones_in_one_give_the_bits_of_the_oracle(tmp_path: Path) -> None:
    alone = arm_mve_chain_cases.ALONE
    macs = 16 * (8 + 9) * 48 * 48
    modelled = _cycles(arm_mve_chain_cases, alone, macs, tmp_path)
    # VMLADAV multiplies 8 or 9 of 16 lanes.
    assert 2 * 16 * 48 * 48 * 16 / 8 < modelled < 320_000
