"""`mcu-deploy new`: the project builds, and its own test passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from command_line import call
from output_folders import mounted
from sampling import chosen, every_board

from mcu_deploy import resources
from mcu_deploy.api.creating import new_project, subject_for
from mcu_deploy.boards import load_board
from mcu_deploy.errors import McuDeployError, RequestError, ToolError, UsageError
from mcu_deploy.projects.asked import OwnModel
from mcu_deploy.projects.contents import emulators_of, project_files
from mcu_deploy.projects.labels import labels_for

EMULATED = [b.name for b in every_board() if "QEMU" in emulators_of(b) and not b.is_host]
MAIN = "mps2-an386"


def preset(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with the project's preset, as its README says."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [command[0], *command[1:2], "--preset", "firmware", *command[2:]],
        cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True,
    )  # fmt: skip


def run_presets(folder: Path) -> None:
    """Configures, builds and tests a project."""
    for command in (["cmake"], ["cmake", "--build"], ["ctest"]):
        done = preset(folder, *command)
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
    if board == MAIN:  # outside of the environment that has mcu-deploy
        plain = subprocess.run(
            ["cmake", "--preset", "firmware", "-B", tmp_path / "plain"],
            cwd=tmp_path / "listener", env=os.environ | {"PATH": os.defpath},
            capture_output=True, text=True,
        )  # fmt: skip
        assert "There is no mcu-deploy on the PATH" in " ".join(plain.stderr.split())
    run_presets(tmp_path / "listener")
    if board == MAIN:  # which no programmer can be at
        flashed = preset(tmp_path / "listener", "cmake", "--build", "--target", "flash")
        assert flashed.returncode != 0
        assert f"The board file of {board} names no tool to flash it with" in flashed.stderr


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


@pytest.mark.parametrize(
    "board", chosen([b.name for b in every_board() if not b.is_host], (MAIN, "b_u585i_iot02a"))
)
def test_every_board_has_a_project(board: str) -> None:
    target = load_board(board)
    files = project_files("a name/with $ what", target, subject_for(target))
    cmake = files["board/board.cmake"].decode()
    compiled = [line.strip() for line in cmake.splitlines() if '.c"' in line]
    for line in compiled:
        name = line.split("CMAKE_CURRENT_LIST_DIR}/")[1].split('"')[0]
        assert f"board/{name}" in files
    assert len(compiled) >= 6
    assert "project(a_name_with_what LANGUAGES C)" in files["CMakeLists.txt"].decode()


@pytest.mark.parametrize("board", [MAIN, "nucleo_l476rg"])
def test_its_pipeline_tests_where_an_emulator_has_the_board(board: str) -> None:
    target = load_board(board)
    workflow = yaml.safe_load(
        project_files("p", target, subject_for(target))[".github/workflows/mcu-deploy.yml"]
    )
    (job,) = workflow["jobs"].values()
    steps = [step.get("name") for step in job["steps"]]
    assert "Build the firmware" in steps
    assert ("Test the firmware" in steps) == bool(emulators_of(target))


def test_a_folder_with_anything_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RequestError, match="not empty"):
        new_project(tmp_path, MAIN)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_project_that_finds_no_room_leaves_nothing(tmp_path: Path) -> None:
    with mounted(tmp_path, "-t", "tmpfs", "-o", "size=32k", "tmpfs"):
        with pytest.raises(ToolError, match=r"new/project cannot be written \(No space left"):
            new_project(tmp_path / "new" / "project", MAIN)
        assert not any(tmp_path.iterdir())


def test_the_host_is_refused(tmp_path: Path) -> None:
    done = call("new", tmp_path / "project", "--board", "host")
    assert done.returncode == 1
    assert "is for a microcontroller" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A folder with a user's model, whose name no target of CMake may have, and samples for it."""
    folder = tmp_path / "ours"
    folder.mkdir()
    shutil.copy(resources.examples() / "sine/model.tflite", folder / "test.tflite")
    np.savez(folder / "data.npz", in0=np.array([[[32]], [[-64]]], np.int8))
    return folder


@pytest.mark.matrix
@pytest.mark.needs_cmake
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_a_model_of_ones_own_runs_and_a_swapped_one_does_not_compile(
    tmp_path: Path, ours: Path
) -> None:
    project = tmp_path / "project"
    done = call(
        "new",
        project,
        "--board",
        MAIN,
        "--model",
        ours / "test.tflite",
        "--data",
        ours / "data.npz",
    )
    assert done.returncode == 0, done.stderr
    assert "sample.h: the first sample of data.npz" in done.stdout
    run_presets(project)
    assert "sine" not in (project / "main.c").read_text()
    shutil.copy(resources.examples() / "kws/model.onnx", project / "model/test.onnx")
    cmake = project / "CMakeLists.txt"
    cmake.write_text(cmake.read_text().replace("model/test.tflite", "model/test.onnx"))
    swapped = preset(project, "cmake", "--build")
    assert swapped.returncode != 0
    assert "sample.h is not of this model: input 0 has another size" in swapped.stdout


def test_the_sample_and_the_labels_are_the_models(ours: Path) -> None:
    board = load_board(MAIN)
    kws = resources.examples() / "kws"
    labels = ours / "words.txt"
    labels.write_text("\n".join(f'say "{i}" ?' for i in range(12)))
    subject = subject_for(board, OwnModel(kws / "model.onnx", kws / "samples.npz", labels))
    files = project_files("p", board, subject)
    expected = ", ".join(map(str, np.load(kws / "samples.npz")["ort0"][0].ravel()))
    assert f"sample_output0[12] = {{\n    {expected},\n}};" in files["sample.h"].decode()
    assert r'    "say \0421\042 \077",' in files["labels.h"].decode()
    assert "labels.h" not in project_files(
        "p", board, subject_for(board, OwnModel(ours / "test.tflite"))
    )


def test_labels_are_found_beside_the_model_and_in_it(tmp_path: Path) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(bytes(100))
    assert labels_for(model, 2, None).names == ("class 0", "class 1")
    assert labels_for(model, 1, None) is labels_for(model, 1025, None) is None
    assert len(labels_for(model, 1024, None).names) == 1024
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr("words.txt", "cat\ndog\n")
    assert labels_for(model, 2, None).origin == "words.txt in m.tflite"
    (tmp_path / "labels.txt").write_text("\ufeff1\n2\n\n3\n")
    assert labels_for(model, 2, None).names == ("cat", "dog")
    assert labels_for(model, 3, None).names == ("1", "2", "3")
    model.write_bytes(model.read_bytes().replace(b"cat", b"rat"))  # its checksum is wrong now
    assert labels_for(model, 2, None).origin == "made up"


def test_what_does_not_fit_the_model_is_a_sentence(tmp_path: Path, ours: Path) -> None:
    kws, project = resources.examples() / "kws", tmp_path / "project"
    (ours / "words.txt").write_text("yes\nno\n")
    asked: tuple[tuple[dict[str, Path], str], ...] = (
        ({"labels": ours / "words.txt"}, "2 labels, and the model's first output 12"),
        ({"labels": ours / "none.txt"}, "does not exist"),
        ({"data": ours / "data.npz"}, "for input 'input_1'"),
    )
    for given, sentence in asked:
        with pytest.raises(McuDeployError, match=sentence):
            new_project(project, MAIN, kws / "model.onnx", **given)
    with pytest.raises(UsageError, match="--model"):
        new_project(project, MAIN, data=ours / "data.npz")
    assert not project.exists()
