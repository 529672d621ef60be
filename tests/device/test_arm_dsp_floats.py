"""ArmDsp's convolutions and dense layers of float32, of weights of int8 too, on the cores: within
what the contract allows of the oracle, and the cycles that they may take."""

from __future__ import annotations

from pathlib import Path

import float_cases
import pytest
from float_cases import (
    BLOCK,
    CONVOLUTIONS,
    DENSE,
    DEPTHWISE,
    POINTWISE,
    PRODUCTS,
    ROW,
    SPEECH,
    STRIPS,
    of_bytes,
)
from kernel_builds import MARKS
from sampling import first, part

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = MARKS
_OPTIONS = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")
_LAYERS = (STRIPS, POINTWISE, SPEECH, BLOCK, ROW)
# Of these the cycles for a multiply-accumulate, and those with weights of int8; of STRIPS 85 % of
# the taps are inside.
_CYCLES = {
    "mps2-an386": (3.74, 2.89, 2.73, 2.72, 3.30, 4.53, 3.46, 3.65, 3.25, 5.45),
    "mps2-an500": (2.12, 1.17, 1.12, 1.07, 1.10, 2.59, 1.65, 1.81, 1.50, 2.59),
    "mps2-an505": (3.34, 2.75, 2.60, 2.59, 3.16, 4.16, 3.13, 3.33, 2.93, 4.66),
}


@pytest.mark.parametrize("board", first(list(_CYCLES)))
def test_layers_agree_with_the_oracle_in_their_cycles(board: str, tmp_path: Path) -> None:
    others = [case for case in (*DEPTHWISE, *CONVOLUTIONS, *DENSE) if case not in _LAYERS]
    others += of_bytes(others)
    cases = [*_LAYERS, *of_bytes(_LAYERS), *part(others, 5), *part(PRODUCTS, 3)]
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


_SPOTTING = {
    ("mlperf_kws_f32", "mps2-an386"): 7_950_000, ("mlperf_kws_f32", "mps2-an500"): 3_400_000,
    ("mlperf_kws_dynrange", "mps2-an386"): 9_410_000,
}  # fmt: skip


@pytest.mark.parametrize("model, board", first(list(_SPOTTING)))
def test_keyword_spotting_of_floats_takes_its_cycles(
    model: str, board: str, models_dir: Path, tmp_path: Path
) -> None:
    built = build(models_dir / model / "model.onnx", board, tmp_path / "build")
    found = profile(built.directory)
    assert found.cycles is not None and found.macs < found.cycles < _SPOTTING[model, board]
