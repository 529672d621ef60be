"""build --clock: the folder knows it afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import call

from mcu_deploy.api.folder import open_folder
from mcu_deploy.boards import load_board


@pytest.mark.needs_arm_gcc
def test_a_folder_remembers_the_rated_clock(models_dir: Path, tmp_path: Path) -> None:
    model = models_dir / "tflm_hello_world_int8" / "model.onnx"
    done = call("build", model, "--board", "stm32f407", "--clock", "rated", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    rated = load_board("stm32f407", clock="rated")
    assert f"clock: {rated.clock_hz:,} Hz, which nobody has yet tried on a chip" in done.stdout
    assert open_folder(tmp_path).board == rated


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--core", "cortex-m4", "--clock", "rated"), "--clock is for a board's start-up"),
        (("--board", "mps2-an386", "--clock", "rated"), "needs a table [rated]"),
        (("--board", "stm32f407", "--clock", "full"), "full is not known; it is reset or rated"),
    ],
)
def test_a_clock_that_there_is_not_is_said(
    arguments: tuple[str, ...], said: str, models_dir: Path, tmp_path: Path
) -> None:
    model = models_dir / "tflm_hello_world_int8" / "model.onnx"
    done = call("build", model, *arguments, "-o", tmp_path)
    assert done.returncode != 0 and said in done.stderr
