"""ArmDsp's kernels on cores with the DSP extension and no FPU: the oracle's bits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import arm_dsp_cases
import arm_dsp_conv_pool_cases
import arm_dsp_convolutions
import arm_dsp_dense_cases
import arm_dsp_depthwise_cases
import arm_dsp_int16_cases
import arm_dsp_lstm_cases
import arm_dsp_matmul_cases
import arm_dsp_pool_cases
import arm_dsp_strips_cases
import arm_dsp_sum_cases
import arm_dsp_table_cases
import arm_dsp_tflite_cases
import arm_dsp_winograd_cases
import pytest
from arm_dsp_tflite_cases import MODELS
from kernel_builds import MARKS, right
from operators.tflite_lstm_file import Lstm
from quantized_layers import extremes
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.options import Options

pytestmark = MARKS

_CONVOLUTIONS = (
    *arm_dsp_convolutions.TAKEN, *arm_dsp_convolutions.SHARED, *arm_dsp_convolutions.LINES,
    *arm_dsp_convolutions.GROUPS,
)  # fmt: skip
FAMILIES: dict[str, tuple[Callable[..., Path], Sequence[Any]]] = {
    "conv": (arm_dsp_convolutions.model, _CONVOLUTIONS),
    "depthwise": (arm_dsp_convolutions.model, arm_dsp_depthwise_cases.TAKEN),
    "1x1": (arm_dsp_cases.model, (*arm_dsp_cases.TAKEN, *arm_dsp_cases.STRIPS)),
    "dense": (arm_dsp_dense_cases.model, arm_dsp_dense_cases.TAKEN),
    "pools": (arm_dsp_pool_cases.model, arm_dsp_pool_cases.TAKEN),
    "conv and pool": (arm_dsp_conv_pool_cases.model, arm_dsp_conv_pool_cases.TAKEN),
    "sums": (arm_dsp_sum_cases.model, (*arm_dsp_sum_cases.TAKEN, *arm_dsp_sum_cases.BROADCAST)),
    "matmul": (arm_dsp_matmul_cases.model, arm_dsp_matmul_cases.TAKEN),
    "tables": (arm_dsp_table_cases.model, arm_dsp_table_cases.TAKEN),
    "strips": (arm_dsp_strips_cases.model, arm_dsp_strips_cases.TAKEN),
    "int16": (arm_dsp_int16_cases.model, arm_dsp_int16_cases.TAKEN),
    "winograd": (arm_dsp_convolutions.model, arm_dsp_winograd_cases.TAKEN),
    **{f"tflite {name}": (arm_dsp_tflite_cases.model, of) for name, of in MODELS.items()},
}


def soft(board: str, folder: Path) -> Path:
    """A board file of the board without its FPU."""
    path = folder / "board.toml"
    path.write_text(f'inherits = "{board}"\nname = "soft"\ntitle = "without FPU"\nfpu = "none"\n')
    return path


@pytest.mark.parametrize(
    ("board", "family", "every"),
    first(
        [
            ("mps2-an386", "dense", 9),
            *((b, f, 1) for f in FAMILIES for b in ("mps2-an386", "mps2-an500", "mps2-an505")),
        ]
    ),
)  # fmt: skip
def test_every_kernel_gives_the_bits_of_the_oracle(
    board: str, family: str, every: int, tmp_path: Path
) -> None:
    """In the sample some products of rows, of which some outputs have no integers that round."""
    made, cases = FAMILIES[family]
    is_tflite = family.startswith("tflite")
    path = made(cases[::every], tmp_path / ("m.tflite" if is_tflite else "m.onnx"))
    goal = "speed" if family == "winograd" else "balanced"
    options = Options(backends=("ArmDsp", "CpuRef"), optimize_for=goal)
    built = build(path, str(soft(board, tmp_path)), tmp_path / "build", options=options)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert mine
    samples = arm_dsp_tflite_cases.extremes(path) if is_tflite else extremes(path)
    assert validate(built, samples, onnxruntime=False).passed
    (source,) = built.directory.glob("network_*.c")
    if family in ("conv", "dense", "matmul"):
        calls = re.search(r"\bbl \d+f", source.read_text())
        assert calls, "no sum is rounded as float32 does"


@pytest.mark.matrix
@pytest.mark.parametrize("case", arm_dsp_lstm_cases.TAKEN[:3])
def test_the_lstm_gives_the_bits_of_the_oracle(case: Lstm, tmp_path: Path) -> None:
    path = arm_dsp_lstm_cases.model(case, tmp_path)
    board = str(soft("mps2-an386", tmp_path))
    built = right(path, board, tmp_path, "speed", samples=path.with_suffix(".npz"))
    assert [layer.backend for layer in built.report.layers] == ["ArmDsp"]
