"""What a network costs beside its layers: below 1 % of the instructions."""

from __future__ import annotations

from pathlib import Path

import pytest
from sampling import first

from mcu_deploy.api import building, profiling
from mcu_deploy.errors import UnsupportedError

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

LIMIT = 0.01
LEAST_MACS = 100_000

# The two with the fewest multiply-accumulates of those that count, and the one with most layers.
SAMPLE = ("tflm_mnist_lstm_f32", "qnn_mnist_int8", "torch_transformer_enc", "mlperf_ad_int8")


def overhead(model: Path, folder: Path) -> tuple[int, float]:
    """The multiply-accumulates of a model, and the share of instructions in no layer."""
    built = building.build(model, "mps2-an386", folder, name="net")
    return built.networks[0].network.macs, profiling.profile(folder).overhead


@pytest.mark.parametrize("name", first(SAMPLE, 2))
def test_the_framework_takes_less_than_one_percent(
    models_dir: Path, tmp_path: Path, name: str
) -> None:
    macs, share = overhead(models_dir / name / "model.onnx", tmp_path / "build")
    assert macs >= LEAST_MACS
    assert 0 < share < LIMIT


@pytest.mark.matrix
def test_the_framework_takes_less_than_one_percent_of_every_model(
    models_dir: Path, tmp_path: Path
) -> None:
    shares = {}
    for path in sorted(models_dir.glob("*/model.onnx")):
        try:
            macs, share = overhead(path, tmp_path / path.parent.name)
        except UnsupportedError:
            continue
        if macs >= LEAST_MACS:
            shares[path.parent.name] = share
    assert len(shares) >= 20
    assert {name: share for name, share in shares.items() if not 0 < share < LIMIT} == {}
