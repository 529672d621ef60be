"""`mcu-deploy new`: the project builds, and its own test passes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import call
from sampling import by_core

from mcu_deploy.api.creating import new_project
from mcu_deploy.boards import list_boards, load_board
from mcu_deploy.errors import RequestError
from mcu_deploy.projects.contents import emulators_of, project_files

EMULATED = [b.name for b in list_boards() if "QEMU" in emulators_of(b) and not b.is_host]
MAIN = "mps2-an386"


def run_presets(folder: Path) -> None:
    """Configures, builds and tests a project as its README says."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for command in (["cmake"], ["cmake", "--build"], ["ctest"]):
        done = subprocess.run(
            [*command, "--preset", "firmware"],
            cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert ": warning: " not in done.stdout + done.stderr  # of the compiler


@pytest.mark.needs_cmake
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.parametrize(
    "board",
    [b if b == MAIN else pytest.param(b, marks=pytest.mark.matrix) for b in sorted(EMULATED)],
)
def test_the_project_builds_and_its_test_passes(tmp_path: Path, board: str) -> None:
    done = call("new", tmp_path / "listener", "--board", board)
    assert done.returncode == 0, done.stderr
    run_presets(tmp_path / "listener")


@pytest.mark.matrix
@pytest.mark.needs_cmake
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_a_board_of_ones_own_is_in_the_project(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    text = f'inherits = "{MAIN}"\nname = "mine"\ntitle = "*/ $HOME \\" board"\n'
    (own / "board.toml").write_text(text)
    new_project(tmp_path / "project", own / "board.toml")
    (own / "board.toml").unlink()
    run_presets(tmp_path / "project")


@pytest.mark.parametrize("board", by_core([b.name for b in list_boards() if not b.is_host]))
def test_every_board_has_a_project(board: str) -> None:
    files = project_files("a name/with $ what", load_board(board))
    cmake = files["board/board.cmake"].decode()
    compiled = [line.strip() for line in cmake.splitlines() if '.c"' in line]
    for line in compiled:
        name = line.split("CMAKE_CURRENT_LIST_DIR}/")[1].split('"')[0]
        assert f"board/{name}" in files
    assert len(compiled) >= 6
    assert "project(a_name_with_what LANGUAGES C)" in files["CMakeLists.txt"].decode()


def test_a_folder_with_anything_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RequestError, match="not empty"):
        new_project(tmp_path, MAIN)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_host_is_refused(tmp_path: Path) -> None:
    done = call("new", tmp_path / "project", "--board", "host")
    assert done.returncode == 1
    assert "is for a microcontroller" in done.stderr
    assert list(tmp_path.iterdir()) == []
