"""ArmMve's kernels of float32 on QEMU's Cortex-M55: within what the contract allows of the oracle,
and the cycles that they may take."""

from __future__ import annotations

from pathlib import Path

import float_cases
import pytest
from float_cases import BLOCK, FAMILIES, POINTWISE, PRODUCTS, ROW, SPEECH, STRIPS
from sampling import chosen, first, part

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip
_OPTIONS = Options(backends=("ArmMve", "CpuRef"), optimize_for="speed")


@pytest.mark.parametrize(
    "family", chosen(sorted(FAMILIES), ("convolutions", "convolutions of bytes"))
)
def test_layers_agree_with_the_oracle(family: str, tmp_path: Path) -> None:
    cases = [*part(FAMILIES[family], 3), *part(PRODUCTS, 2)]
    path = float_cases.model(cases, tmp_path / "shapes.onnx")
    built = build(path, "mps3-an547", tmp_path / "build", options=_OPTIONS)
    backends = [layer.backend for layer in built.report.layers if layer.name.startswith("layer")]
    assert backends == ["ArmMve"] * len(cases)
    found = validate(built, float_cases.sample(path))
    assert found.passed
    assert found.oracle[0].relative <= 1e-5


# Beside each layer the cycles for a multiply-accumulate, of which a vector has two a cycle.
_CYCLES = ((POINTWISE, 0.56), (SPEECH, 0.61), (BLOCK, 0.53), (ROW, 0.55), (STRIPS, 0.70))


def test_layers_take_their_cycles(tmp_path: Path) -> None:
    cases = [case for case, _ in _CYCLES]
    path = float_cases.model(cases, tmp_path / "shapes.onnx")
    built = build(path, "mps3-an547", tmp_path / "build", options=_OPTIONS)
    costs = {layer.name: layer.cost for layer in built.report.layers}
    found = {layer.name: layer for layer in profile(built.directory).layers}
    for number, (_, most) in enumerate(_CYCLES):
        layer, cost = found[f"layer{number}"], costs[f"layer{number}"]
        assert layer.cycles is not None and cost is not None
        assert layer.macs / 2 < layer.cycles < most * layer.macs, layer
        # The price lacks the call, and orders less thoroughly.
        assert abs(cost.value - layer.cycles) < 0.04 * layer.cycles, layer


@pytest.mark.parametrize(
    "model, most", first([("mlperf_kws_f32", 1_525_000), ("mlperf_kws_dynrange", 1_750_000)])
)
def test_keyword_spotting_takes_its_cycles(
    model: str, most: int, models_dir: Path, tmp_path: Path
) -> None:
    """2.66 million multiply-accumulates."""
    built = build(models_dir / model / "model.onnx", "mps3-an547", tmp_path / "build")
    assert all(layer.backend == "ArmMve" for layer in built.report.layers if layer.macs)
    found = profile(built.directory)
    assert found.cycles is not None and found.macs / 2 < found.cycles < most
