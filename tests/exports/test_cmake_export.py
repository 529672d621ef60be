"""The exported CMake folder in a project that knows nothing of mcu-deploy."""

from __future__ import annotations

import subprocess
from pathlib import Path

import export_programs as programs
import pytest

from mcu_deploy.api.exporting import export

PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C)
add_compile_options({core} -Os -Wall -Wextra -Wpedantic -Wconversion -Werror)
add_link_options({core})
add_subdirectory(sine)
add_subdirectory(other)
foreach(name sine other)
  add_executable(firmware_${{name}} ${{name}}/example/main.c board/startup.c board/syscalls.c)
  target_link_libraries(firmware_${{name}} PRIVATE network_sine network_other)
  target_link_options(firmware_${{name}} PRIVATE -nostartfiles --specs=nano.specs
    --specs=nosys.specs -Wl,--gc-sections -T ${{CMAKE_CURRENT_SOURCE_DIR}}/board/board.ld)
endforeach()
"""


@pytest.mark.needs_cmake
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_a_project_builds_two_folders_and_their_examples_answer(
    tmp_path: Path, sine: Path, other: Path, quarter: Path, repository: Path
) -> None:
    for build in (sine, other):
        export(build, "cmake", tmp_path / build.name, data=quarter)
    programs.board_files(tmp_path / "board", repository)
    text = PROJECT.format(core=" ".join(programs.CORE))
    (tmp_path / "CMakeLists.txt").write_text(text)
    toolchain = repository / "cmake/package/arm-none-eabi.cmake"
    for command in (
        ["cmake", "-G", "Ninja", "-S", ".", "-B", "build", "--toolchain", toolchain],
        ["cmake", "--build", "build"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    for name in ("sine", "other"):
        code, said = programs.run(tmp_path / f"build/firmware_{name}")
        assert (code, said) == (0, f"{name}: 1 of 1 values as expected, value 126\n")
