"""The exported Arduino library: by the specification, and with Arduino's own builder."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import export_programs as programs
import pytest

from mcu_deploy.api.exporting import export

BOARD = Path(__file__).parent / "arduino_board"
# Of docs/library-specification.md of arduino-cli; categories as of its rev. 2.2.
REQUIRED = {
    "name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
    "architectures",
}  # fmt: skip


def test_the_library_is_one_by_the_specification(tmp_path: Path, sine: Path) -> None:
    files = export(sine, "arduino", tmp_path / "sine").files
    lines = (tmp_path / "sine/library.properties").read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    assert set(properties) >= REQUIRED
    assert all(properties.values())
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]*", properties["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", properties["version"])
    assert properties["category"] == "Data Processing"
    for header in properties["includes"].split(","):
        assert f"src/{header}" in files
    sketches = [Path(name) for name in files if name.endswith(".ino")]
    assert [sketch.parent.name for sketch in sketches] == [sketch.stem for sketch in sketches]


@pytest.mark.needs_arduino
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_arduinos_builder_builds_the_sketch_and_it_answers(
    tmp_path: Path, sine: Path, other: Path, quarter: Path, repository: Path
) -> None:
    """With a second library of the kind, which brings the runtime too."""
    for build in (sine, other):
        export(build, "arduino", tmp_path / "libraries" / build.name, data=quarter)
    sketch = tmp_path / "libraries/sine/examples/run_sample/run_sample.ino"
    text = sketch.read_text().replace("void loop() {", "void loop() {" + programs.RUN_OTHER)
    sketch.write_text('#include "network_other.h"\n' + text)
    package = tmp_path / "hardware/emulated/arm"
    shutil.copytree(BOARD, package)
    programs.board_files(package / "cores/arduino", repository)
    (tmp_path / "build").mkdir()
    done = subprocess.run(
        ["arduino-builder", "-compile", "-fqbn", "emulated:arm:m4",
         "-build-path", tmp_path / "build",
         "-hardware", "/usr/share/arduino-builder", "-hardware", "hardware", "-tools", "/usr/bin",
         "-libraries", "libraries", "libraries/sine/examples/run_sample/run_sample.ino"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    code, said = programs.run(tmp_path / "build/run_sample.ino.elf")
    answers = "".join(f"{n}: 1 of 1 values as expected, value 126\n" for n in ("other", "sine"))
    assert (code, said) == (0, answers)
