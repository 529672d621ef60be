"""The stack bound against the stack that QEMU's processors really use, painted and read back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mcu_deploy.boards import load_board
from mcu_deploy.toolchain.stack.bound import StackAnalysis
from mcu_deploy.toolchain.stack.image import read_image
from mcu_deploy.toolchain.stack.programs import exception_frame_bytes

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

SOURCES = Path(__file__).parent / "stack_measured"
# Functions whose deepest path none of the values takes, on one core or the other.
NOT_REACHED = {"memmove", "tanhf", "erff", "powf", "sqrtf"}


def build(folder: Path, cflags: tuple[str, ...]) -> Path:
    common = ["arm-none-eabi-gcc", *cflags, "-std=gnu99", "-O2", "-fcallgraph-info=su"]
    common += ["-fno-builtin-sqrtf", "-fno-math-errno", "-Wall", "-Wextra"]
    for name in ("start", "functions"):
        command = [*common, "-c", SOURCES / f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(command, cwd=folder, check=True)
    link = ["--specs=nano.specs", "-nostartfiles", "-T", SOURCES / "link.ld", "-Wl,-e,0"]
    command = ["arm-none-eabi-gcc", *cflags, *link, "start.o", "functions.o", "-lm"]
    subprocess.run([*command, "-o", "program.elf"], cwd=folder, check=True)
    return folder / "program.elf"


def run(machine: str, elf: Path) -> dict[str, int]:
    """The used bytes by name, as the program prints them."""
    command = ["qemu-system-arm", "-M", machine, "-display", "none", "-monitor", "none"]
    command += ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    result = subprocess.run(
        [*command, "-kernel", str(elf)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    lines = [line.split() for line in result.stdout.splitlines()]
    assert all(len(line) == 2 and line[1].isdigit() for line in lines), result.stdout
    return {name: int(number) for name, number in lines}


@pytest.mark.parametrize("board", ["mps2-an385", "mps2-an386"])
def test_no_function_uses_more_than_its_bound(tmp_path: Path, board: str) -> None:
    elf = build(tmp_path, load_board(board).cflags)
    image = read_image(elf)
    analysis = StackAnalysis(image, callgraphs=[tmp_path / "functions.ci", tmp_path / "start.ci"])
    used = run(load_board(board).qemu.machine, elf)  # type: ignore[union-attr]
    frames = [used.pop("exception_aligned"), used.pop("exception_odd")]
    assert len(used) == 27
    for name, measured in used.items():
        bound = analysis.bound(f"test_{name}")
        assert measured <= bound.bytes, (name, measured, bound)
        # A frame's last word may be there for alignment alone, and is then never written.
        slack = 32 if name in NOT_REACHED else 4
        assert bound.bytes <= measured + slack, (name, measured, bound)
    # What the hardware pushes: with SP a word off, the aligner comes to it.
    most = exception_frame_bytes(load_board(board))
    assert max(frames) <= most
    assert most - max(frames) <= 4
    assert max(frames) - min(frames) == 4
