"""ArmDsp's convolutions and dense layers of float32 on the cores: within what the contract allows
of the oracle, and the cycles that they may take."""

from __future__ import annotations

from pathlib import Path

import float_cases
import pytest
from float_cases import BLOCK, CONVOLUTIONS, DENSE, DEPTHWISE, POINTWISE, ROW, SPEECH, STRIPS
from kernel_builds import MARKS
from sampling import first, part

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = MARKS
_OPTIONS = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")
_LAYERS = (STRIPS, POINTWISE, SPEECH, BLOCK, ROW)
# Of these the cycles for a multiply-accumulate; of STRIPS 85 % of the taps are inside.
_CYCLES = {
    "mps2-an386": (3.74, 2.89, 2.73, 2.72, 3.30),
    "mps2-an500": (2.12, 1.22, 1.16, 1.11, 1.11),
    "mps2-an505": (3.34, 2.75, 2.60, 2.59, 3.16),
}


@pytest.mark.parametrize("board", first(list(_CYCLES)))
def test_layers_agree_with_the_oracle_in_their_cycles(board: str, tmp_path: Path) -> None:
    others = [case for case in (*DEPTHWISE, *CONVOLUTIONS, *DENSE) if case not in _LAYERS]
    cases = [*_LAYERS, *part(others, 5)]
    path = float_cases.model(cases, tmp_path / "shapes.onnx")
    built = build(path, board, tmp_path / "build", options=_OPTIONS)
    costs = {layer.name: layer.cost for layer in built.report.layers if layer.name[:5] == "layer"}
    backends = [layer.backend for layer in built.report.layers if layer.name in costs]
    assert backends == ["ArmDsp"] * len(cases)
    found = validate(built, float_cases.sample(path))
    assert found.passed
    assert found.oracle[0].relative <= 1e-5
    layers = {layer.name: layer for layer in profile(built.directory).layers}
    for number, most in enumerate(_CYCLES[board]):
        layer, cost = layers[f"layer{number}"], costs[f"layer{number}"]
        assert layer.cycles is not None and cost is not None
        print("XX", board, number, layer.cycles / layer.macs, cost.value / layer.cycles)
        assert layer.cycles < most * layer.macs, layer
        # The price lacks the call, and orders less thoroughly.
        assert abs(cost.value - layer.cycles) < 0.04 * layer.cycles, layer


@pytest.mark.matrix
def test_the_price_has_the_weights_that_are_read_for_each_row_from_a_slow_flash(
    tmp_path: Path,
) -> None:
    path = float_cases.model([STRIPS], tmp_path / "shapes.onnx")
    built = build(path, "nucleo_l4r5zi", tmp_path / "build", options=_OPTIONS)
    cost = next(layer.cost for layer in built.report.layers if layer.name == "layer0")
    layer = next(one for one in profile(built.directory).layers if one.name == "layer0")
    assert cost is not None and layer.time is not None and layer.cycles is not None
    assert layer.time.cycles > 1.1 * layer.cycles
    assert abs(cost.value - layer.time.cycles) < 0.04 * layer.time.cycles


def test_dynamic_range_is_within_one_and_a_half_of_int8(models_dir: Path, tmp_path: Path) -> None:
    """Keyword spotting in int8 takes 3,230,098 modelled cycles."""
    path = models_dir / "mlperf_kws_dynrange" / "model.tflite"
    built = build(path, "mps2-an386", tmp_path / "build")
    found = profile(built.directory)
    assert found.cycles is not None and found.cycles < 4_710_000 < 1.5 * 3_230_098


_SPOTTING = {"mps2-an386": 7_950_000, "mps2-an500": 3_520_000}


@pytest.mark.parametrize("board", first(list(_SPOTTING)))
def test_keyword_spotting_of_floats_takes_its_cycles(
    board: str, models_dir: Path, tmp_path: Path
) -> None:
    built = build(models_dir / "mlperf_kws_f32" / "model.onnx", board, tmp_path / "build")
    found = profile(built.directory)
    assert found.cycles is not None and found.macs < found.cycles < _SPOTTING[board]
