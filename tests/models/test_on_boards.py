"""Real models on every board: the device against the oracle, and against onnxruntime.

The fixed sample: the int8 models, in one firmware, with two samples on one board of each core
(with every layer on the host and on a Cortex-M4), and one of them on each other board; the float
models with one sample on an FPU, and one of them without. The whole matrix: each model in a
firmware of its own, all ten samples on all boards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from models.mlperf import BOARDS, DOES_NOT_FIT, FLOAT32, INT8, first_samples
from sampling import one_of_each_core

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import as_folder
from mcu_deploy.api.validating import Validation, validate

_TOOLS = {
    "host": [pytest.mark.needs_host_gcc],
    "stm32f746": [pytest.mark.needs_arm_gcc, pytest.mark.needs_renode],
}
_IN_QEMU = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


# Every layer goes over the serial line, which takes most of the time: in the sample on these alone,
# which run the code of CpuRef and of ArmDsp.
_WITH_LAYERS = ("host", "mps2-an386")
_CORES = [board for board in BOARDS if board in one_of_each_core(BOARDS)]


def _on(boards: Sequence[str]) -> list[object]:
    return [pytest.param(board, marks=_TOOLS.get(board, _IN_QEMU)) for board in boards]


def _pairs(models: tuple[str, ...]) -> list[object]:
    return [
        pytest.param(
            board, model, id=f"{board}-{model}",
            marks=[*_TOOLS.get(board, _IN_QEMU), pytest.mark.matrix],
        )
        for board in BOARDS
        for model in models
        if (board, model) not in DOES_NOT_FIT
    ]  # fmt: skip


def _validate(
    board: str,
    models: Sequence[str],
    models_dir: Path,
    folder: Path,
    samples: int | None,
    layers: bool,
) -> Iterator[tuple[str, Validation]]:
    """Builds one firmware of these models; what is found of each of them."""
    paths = [models_dir / m / "model.onnx" for m in models]
    built = as_folder(build(paths, board, folder, name=list(models)))
    for model in models:
        recorded = models_dir / model / "io.npz"
        given = recorded if samples is None else first_samples(recorded, samples, folder)
        result = validate(built, given, model=model, layers=layers)
        assert result.problems == (), model
        assert "onnxruntime 1." in result.reference
        assert result.onnxruntime[0].acc == 1.0, model
        assert result.samples == (samples or len(np.load(recorded)["in0"]))
        yield model, result


def _assert_exact(model: str, result: Validation, layers: bool = True) -> None:
    assert result.oracle[0].equal == 1.0, model
    if not layers:
        return
    assert result.layers is not None
    assert result.layers.compared == result.samples * len(result.layers.tensors) > 0, model


@pytest.mark.parametrize("board", _on(_CORES))
def test_int8_models_are_bit_exact_on_each_core(
    board: str, models_dir: Path, tmp_path: Path
) -> None:
    layers = board in _WITH_LAYERS
    for model, result in _validate(board, INT8, models_dir, tmp_path, 2, layers=layers):
        _assert_exact(model, result, layers)


@pytest.mark.parametrize("board", _on(["netduinoplus2"]))  # test_pools_on_boards.py: stm32f746
def test_an_int8_model_is_bit_exact_on_each_other_board(
    board: str, models_dir: Path, tmp_path: Path
) -> None:
    for model, result in _validate(board, INT8[:1], models_dir, tmp_path, 2, layers=True):
        _assert_exact(model, result)


_FLOAT_SAMPLE = {
    "mps2-an385": FLOAT32[:1], "mps2-an386": FLOAT32, "mps3-an547": FLOAT32[:1],
}  # fmt: skip


@pytest.mark.parametrize("board", _on(list(_FLOAT_SAMPLE)))
def test_float_models_are_within_tolerance(board: str, models_dir: Path, tmp_path: Path) -> None:
    models = _FLOAT_SAMPLE[board]
    for model, result in _validate(board, models, models_dir, tmp_path, 1, layers=False):
        assert result.oracle[0].relative <= 1e-5, model
        assert result.onnxruntime[0].relative <= 1e-4, model


@pytest.mark.parametrize(("board", "model"), _pairs(INT8))
def test_int8_models_are_bit_exact_in_all_samples(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    for _, result in _validate(board, [model], models_dir, tmp_path, None, layers=True):
        _assert_exact(model, result)


@pytest.mark.parametrize(("board", "model"), _pairs(FLOAT32))
def test_float_models_are_within_tolerance_in_all_samples(
    board: str, model: str, models_dir: Path, tmp_path: Path
) -> None:
    with_layers = board == "host"
    for _, result in _validate(board, [model], models_dir, tmp_path, None, layers=with_layers):
        assert result.onnxruntime[0].relative <= 1e-4
