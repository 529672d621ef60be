"""Our models of cores and our orders, against those of SLOTHY: five inner loops of the Cortex-M7,
and five of the Cortex-M55."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from isa_slothy import loops, optimized

from mcu_deploy import compiler
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.boards import load_board

_GOLDEN = Path(__file__).parents[1] / "golden"
_BOARDS = {"cortex-m7": "mps2-an500", "cortex-m55": "mps3-an547"}
# Of each loop: the core, the model, the function that has it, its instructions; the cycles of an
# order of SLOTHY's by its own model and by ours; and of our order, by ours.
_LOOPS = [
    ("cortex-m7", "dsp_dense.onnx", "dense_direct_dsp", 42, 21, 22, 21),
    ("cortex-m7", "dsp_product.onnx", "mul_int8_int8_int8_4_and_3_dsp", 23, 19, 18, 19),
    ("cortex-m7", "dsp_sum.onnx", "add_int8_21_dsp", 48, 29, 29, 29),
    ("cortex-m7", "mlperf_kws_int8", "avg_pool25x5_64_dsp", 20, 10, 10, 10),
    ("cortex-m7", "mlperf_vww_int8", "conv1x1_any_small_dsp", 26, 14, 15, 15),
    ("cortex-m55", "mve_sum.onnx", "add_int8_21_mve", 56, 57, 57, 58),
    ("cortex-m55", "mve_dense.onnx", "dense_mve", 24, 32, 32, 32),
    ("cortex-m55", "mve_float_dense.onnx", "dense_18x21_f32_mve", 68, 68, 69, 68),
    ("cortex-m55", "mve_float_depthwise.onnx", "depthwise3x3_6_f32_mve", 37, 39, 39, 39),
    ("cortex-m55", "mlperf_kws_int8", "avg_pool25x5_64_mve", 5, 5, 5, 5),
]


@pytest.mark.matrix
@pytest.mark.skipif(
    importlib.util.find_spec("slothy") is None,
    reason="SLOTHY is not there: install it with `pip install -e '.[slothy]'` (170 MB)",
)
@pytest.mark.parametrize(
    ("core", "model", "function", "instructions", "theirs", "theirs_by_ours", "ours"), _LOOPS
)
def test_orders_and_times_are_near_slothys(
    core: str, model: str, function: str, instructions: int, theirs: int, theirs_by_ours: int,
    ours: int, models_dir: Path,
) -> None:  # fmt: skip
    """docs/costs.md says which of these are over 5 % apart."""
    path = _GOLDEN / model if model.endswith(".onnx") else models_dir / model / "model.onnx"
    network = compiler.compile_model(path, load_board(_BOARDS[core]), name="net")
    code = next(
        code for name, code in loops(network.sources.source)
        if name.endswith(f"_{function}") and len(code) == instructions
    )  # fmt: skip
    found = optimized(core, code)
    times = MODELS[core]
    issues = [times.issue_of(instruction) for instruction in code]
    by_ours = times.cycles([issues[n] for n in found.order], False)
    # The solver has its time by the clock: a busy machine may leave the last cycle unproven.
    assert abs(found.cycles - theirs) <= 1 and found.bound >= theirs - 1
    # Several orders take as long by its model, and its solver may find another one each time.
    assert abs(by_ours - theirs_by_ours) <= 1
    assert times.cycles(issues, False) <= ours
