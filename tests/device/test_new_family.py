"""docs/boards.md, "A new family", followed: its board.toml, a driver beside it, and a model runs in
QEMU. The driver is a copy of pl011.c, which no emulator has a shipped board for."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path

import pytest
from device.faults.firmware import ECHO, build, running
from models.mlperf import first_samples

from mcu_deploy import resources
from mcu_deploy.api.building import build as build_firmware
from mcu_deploy.api.validating import validate
from mcu_deploy.boards import load_board

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


def _board_of_the_page(folder: Path) -> Path:
    page = (resources.root() / "docs" / "boards.md").read_text()
    found = re.search(r"### A new family.*?```toml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    path = folder / "board.toml"
    path.write_text(textwrap.dedent("   " + found.group(1)))
    shutil.copy(resources.boards() / "common" / "serial" / "pl011.c", folder / "mine.c")
    return path


def test_its_serial_line_loses_no_byte(tmp_path: Path) -> None:
    board = load_board(_board_of_the_page(tmp_path))
    with running(board, build(board, ECHO, tmp_path / "out"), "qemu") as line:
        data = bytes(range(256)) * 8
        line.send(data)
        assert line.read(len(data)) == data


def test_it_runs_a_model(models_dir: Path, tmp_path: Path) -> None:
    model = models_dir / "tflm_hello_world_int8"
    path = _board_of_the_page(tmp_path)
    built = build_firmware([model / "model.tflite"], path, tmp_path / "build", name=["hello"])
    given = first_samples(model / "io.npz", 2, tmp_path)
    result = validate(built, given, onnxruntime=False)
    assert result.problems == () and result.oracle[0].equal == 1.0
