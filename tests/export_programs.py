"""What a program needs to run on an emulated board: start-up, a linker script, a printf."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

CORE = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")

# For newlib's printf: what it writes goes to the debugger.
SYSCALLS = r"""
#include <string.h>
#include "board.h"
int _write(int file, const char *text, int bytes);
int _write(int file, const char *text, int bytes) {
    char line[128];
    (void)file;
    int count = bytes < (int)sizeof line - 1 ? bytes : (int)sizeof line - 1;
    memcpy(line, text, (size_t)count);
    line[count] = '\0';
    board_print(line);
    return count;
}
"""

# For a loop() with the sample of `sine`: runs another export's network on that.
RUN_OTHER = """
    static mcu_instance_t other;
    static uint8_t memory[MCU_OTHER_WORKSPACE_SIZE] __attribute__((aligned(16)));
    DLTensor in, out;
    mcu_instance_init(&other, mcu_network_other, memory, sizeof memory);
    mcu_instance_input(&other, 0, &in);
    mcu_instance_output(&other, 0, &out);
    ((int8_t *)in.data)[0] = sample_sine_input0[0];
    mcu_instance_run(&other, &in, 1, &out, 1);
    print_answer("other", 1, 1, "value", (long)((int8_t *)out.data)[0]);
"""


def moved(text: str, begin: str, by: Sequence[float]) -> str:
    """The text of a sample in which the first floats behind some words are so much larger."""
    before, _, behind = text.partition(begin)
    amounts = iter(by)

    def more(number: re.Match[str]) -> str:
        return f"{float(number[0]) + next(amounts):.9e}"

    return before + begin + re.sub(r"-?\d+\.\d+e[-+]?\d+", more, behind, count=len(by))


def board_files(folder: Path, repository: Path) -> list[Path]:
    """Puts an emulated Cortex-M4F into a folder: its linker script, board.ld, and its C files."""
    example = repository / "examples/cmake"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("startup.c", "board.h"):
        (folder / name).write_bytes((example / name).read_bytes())
    script = (example / "mps2-an386.ld").read_text()
    (folder / "board.ld").write_text(script.replace("_stack_top", "end = .;\n    _stack_top"))
    (folder / "syscalls.c").write_text(SYSCALLS)
    return [folder / "startup.c", folder / "syscalls.c"]


def run(image: Path) -> tuple[int, str]:
    """The exit code of a program on the board in QEMU, and what it printed."""
    done = subprocess.run(
        ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none",
         "-semihosting-config", "enable=on,target=native", "-kernel", image],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def answer_of(folder: Path, sources: list[Path], include: list[Path], repository: Path) -> str:
    """What a program of these sources and folders of headers prints on the board in QEMU."""
    board = board_files(folder / "board", repository)
    image = folder / "firmware"
    command = ["arm-none-eabi-gcc", *CORE, "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command += [f"-I{path}" for path in [*include, folder / "board"]]
    command += ["-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs"]
    command += [*map(str, [*sources, *board]), "-lm", "-Wl,--gc-sections", "-o", str(image)]
    done = subprocess.run(
        [*command, "-T", folder / "board/board.ld"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    code, said = run(image)
    assert code == 0, said
    return said
