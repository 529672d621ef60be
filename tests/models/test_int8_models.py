"""Every int8 model in every form, all recorded samples, on a Cortex-M4, M7, M33 and M55: the
oracle's bits, in both emulators where both have the core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import run
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.running import Connection
from mcu_deploy.api.validating import validate
from mcu_deploy.errors import FitError

MODELS = (*run.INT8, *run.MORE_INT8, "st_yamnet_256")
BOARDS = {
    "mps2-an386": "qemu", "netduinoplus2": "renode",  # Cortex-M4
    "mps2-an500": "qemu", "stm32f746": "renode",  # Cortex-M7
    "mps2-an505": "qemu",  # Cortex-M33
    "mps3-an547": "qemu",  # Cortex-M55
}  # fmt: skip
_NEEDS = {"qemu": pytest.mark.needs_qemu, "renode": pytest.mark.needs_renode}


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "board", [pytest.param(board, marks=_NEEDS[emulator]) for board, emulator in BOARDS.items()]
)
def test_a_model_is_bit_exact_in_all_samples(
    board: str, name: str, models_dir: Path, tmp_path: Path
) -> None:
    forms = [f for f in ("model.onnx", "model.tflite") if (models_dir / name / f).is_file()]
    samples = models_dir / name / "io.npz"
    for form in forms:
        try:
            build(models_dir / name / form, board, tmp_path / form, name="n")
        except FitError:
            assert board in ("netduinoplus2", "stm32f746")  # the others have 4 MiB
            continue
        folder = open_folder(tmp_path / form)
        result = validate(folder, samples, connection=Connection(emulator=BOARDS[board]))
        assert [o.equal for o in result.oracle] == [1.0] * len(result.oracle), form
        assert result.samples == len(np.load(samples)["in0"])
