"""The C that all formats hold, with the flags that other tools compile with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import export_programs as programs
import pytest

from mcu_deploy.api.exporting import export
from mcu_deploy.elf.reader import load_elf

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("flags", [("-O0", "-g"), ("-Og", "-fno-omit-frame-pointer"), ("-Os",)])
def test_a_debug_build_compiles_the_kernels(
    tmp_path: Path, sine: Path, flags: tuple[str, ...]
) -> None:
    export(sine, "cmake", tmp_path / "sine")
    command = ["arm-none-eabi-gcc", *programs.CORE, *STRICT, *flags, "-I", "include", "-c"]
    done = subprocess.run(
        [*command, "src/network_sine.c", "-o", "network.o"],
        cwd=tmp_path / "sine", capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("flags", ["-Og", "-Os", "-O2"])
def test_kernels_lie_at_whole_words(tmp_path: Path, sine: Path, flags: str) -> None:
    """The assembler takes that for granted where a kernel computes an address from its own."""
    export(sine, "cmake", tmp_path / "sine")
    command = ["arm-none-eabi-gcc", *programs.CORE, flags, "-ffunction-sections", "-I", "include"]
    subprocess.run(
        [*command, "-c", "src/network_sine.c", "-o", "network.o"],
        cwd=tmp_path / "sine", check=True,
    )  # fmt: skip
    sections = load_elf(tmp_path / "sine/network.o").sections
    kernels = [s.alignment for s in sections if "_dense_dsp" in s.name and s.code]
    assert kernels and min(kernels) >= 4
