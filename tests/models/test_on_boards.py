"""Real models on every board: the device against the oracle, and against onnxruntime.

The fixed sample: int8 models with two samples and every layer on one board of each core, and one
of them on each board; float models with one sample, with an FPU and without one. The whole matrix:
all ten samples on all boards.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models.mlperf import BOARDS, DOES_NOT_FIT, FLOAT32, INT8
from sampling import one_of_each_core

from mcu_deploy.building import build
from mcu_deploy.folder import open_folder
from mcu_deploy.samples import load_samples
from mcu_deploy.validating import Validation, validate

_TOOLS = {
    "host": [pytest.mark.needs_host_gcc],
    "stm32f746": [pytest.mark.needs_arm_gcc, pytest.mark.needs_renode],
}
_IN_QEMU = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


_INT8_SAMPLE = {(b, m) for b in one_of_each_core(BOARDS) for m in INT8} | {
    (b, INT8[0]) for b in BOARDS
}
_FLOAT_SAMPLE = {(b, m) for b in ("mps2-an385", "mps2-an386") for m in FLOAT32}


def _pairs(models: tuple[str, ...]) -> list[object]:
    return [
        pytest.param(board, model, id=f"{board}-{model}", marks=_marks(board, model))
        for board in BOARDS
        for model in models
        if (board, model) not in DOES_NOT_FIT
    ]


def _marks(board: str, model: str) -> list[pytest.MarkDecorator]:
    is_sample = (board, model) in _INT8_SAMPLE | _FLOAT_SAMPLE
    return [*_TOOLS.get(board, _IN_QEMU), *([] if is_sample else [pytest.mark.matrix])]


def _validate(
    board: str, model: str, models_dir: Path, folder: Path, samples: int | None, layers: bool
) -> Validation:
    source = models_dir / model
    build(source / "model.onnx", board, folder, name="n")
    built = open_folder(folder)
    given = load_samples(source / "io.npz", built.compile_again("n").graph).first(samples)
    result = validate(built, given, layers=layers)
    assert result.problems == ()
    recorded = np.load(source / "io.npz")
    assert "onnxruntime 1." in result.reference
    assert result.onnxruntime[0].acc == 1.0
    assert len(given) == (samples or len(recorded["in0"]))
    return result


@pytest.mark.parametrize(("board", "model"), _pairs(INT8))
def test_int8_models_are_bit_exact(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    result = _validate(board, model, models_dir, tmp_path, 2, layers=True)
    assert result.oracle[0].equal == 1.0
    assert result.layers is not None
    assert result.layers.compared == 2 * len(result.layers.tensors) > 0


@pytest.mark.parametrize(("board", "model"), _pairs(FLOAT32))
def test_float_models_are_within_tolerance(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    result = _validate(board, model, models_dir, tmp_path, 1, layers=False)
    assert result.oracle[0].relative <= 1e-5
    assert result.onnxruntime[0].relative <= 1e-4


@pytest.mark.matrix
@pytest.mark.parametrize(("board", "model"), _pairs(INT8))
def test_int8_models_are_bit_exact_in_all_samples(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    result = _validate(board, model, models_dir, tmp_path, None, layers=True)
    assert result.oracle[0].equal == 1.0


@pytest.mark.matrix
@pytest.mark.parametrize(("board", "model"), _pairs(FLOAT32))
def test_float_models_are_within_tolerance_in_all_samples(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    result = _validate(board, model, models_dir, tmp_path, None, layers=board == "host")
    assert result.onnxruntime[0].relative <= 1e-4
