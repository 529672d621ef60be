"""Every board that an emulator has runs a real model as the oracle does: keyword spotting, or where
that does not fit, TFLite-Micro's "hello world". In the sample, one board of each core that
test_on_boards.py has none of."""

from __future__ import annotations

from pathlib import Path

import pytest
from models.mlperf import BOARDS, first_samples
from sampling import one_of_each_core

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.api.validating import validate
from mcu_deploy.boards import Board, list_boards, load_board
from mcu_deploy.errors import FitError

MODELS = ("mlperf_kws_int8", "tflm_hello_world_int8")
EMULATED = {board.name: board for board in list_boards() if board.qemu is not None or board.renode}
_CORES = {load_board(name).core for name in BOARDS}
_SAMPLE = {name for name in one_of_each_core(list(EMULATED)) if EMULATED[name].core not in _CORES}


def _marks(board: Board) -> list[pytest.MarkDecorator]:
    emulator = pytest.mark.needs_renode if board.qemu is None else pytest.mark.needs_qemu
    return [emulator] if board.name in _SAMPLE else [emulator, pytest.mark.matrix]


def _largest(board: str, models_dir: Path, folder: Path) -> tuple[str, BuildFolder]:
    for name in MODELS:
        try:
            build([models_dir / name / "model.tflite"], board, folder, name=[name])
        except FitError:
            continue
        return name, open_folder(folder)
    raise AssertionError(f"none of {MODELS} fits {board}")


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(
    "board", [pytest.param(name, marks=_marks(board)) for name, board in EMULATED.items()]
)
def test_the_largest_model_that_fits_is_bit_exact(
    board: str, models_dir: Path, tmp_path: Path
) -> None:
    name, built = _largest(board, models_dir, tmp_path / "build")
    given = first_samples(models_dir / name / "io.npz", 2, tmp_path)
    result = validate(built, given, onnxruntime=False)
    assert result.problems == ()
    assert result.oracle[0].equal == 1.0
