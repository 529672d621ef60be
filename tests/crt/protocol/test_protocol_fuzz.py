"""The device's parser under AddressSanitizer and UBSan: unit tests in C, and random frames."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from crt.protocol.sanitized import CRT, FIRMWARE, WARNINGS, fuzzer
from sampling import chosen


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize(
    ("mtu", "frames", "optimisation"),
    [
        (256, 100_000, "-O0"),
        pytest.param(256, 3_000_000, "-O1", marks=pytest.mark.matrix),
        pytest.param(1024, 3_000_000, "-O1", marks=pytest.mark.matrix),
    ],
)
def test_no_input_crashes_the_device(
    mtu: int, frames: int, optimisation: str, tmp_path: Path
) -> None:
    """The seed is the size: the frames are the same in every run."""
    program = fuzzer(tmp_path / "fuzz_protocol", mtu, optimisation)
    done = subprocess.run([program, str(mtu), str(frames)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert done.stdout.startswith(f"ok: {frames} frames")


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(
    "core",
    chosen(["cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55"], ("cortex-m0",)),
)
def test_the_firmware_compiles_without_a_warning(core: str, tmp_path: Path) -> None:
    gcc = ["arm-none-eabi-gcc", f"-mcpu={core}", "-mthumb", "-std=c99", "-O2", *WARNINGS]
    command = [*gcc, f"-I{CRT / 'include'}", "-c", *FIRMWARE]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
