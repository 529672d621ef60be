"""Small firmwares for the tests of the emulators: one C file, with the boards' own start-up."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.boards import Board, load_board, platform_defines, render_linker_script
from mcu_deploy.boards import startup_sources as startup

ECHO = """
#include "mcu/firmware.h"
#include "mcu/platform.h"
/* Says where it is, then sends back what it gets; an 'R' restarts it, a 'U' is undefined. */
void mcu_firmware_main(void) {
    mcu_platform_init();
    mcu_platform_write((const uint8_t *)"hello\\n", 6);
    for (;;) {
        uint8_t bytes[16];
        size_t size = mcu_platform_read(bytes, sizeof bytes);
        if (size == 0) {
            mcu_platform_wait();
            continue;
        }
        if (bytes[0] == 'R') {
            mcu_platform_reset();
        }
        mcu_platform_write(bytes, size);
    }
}
"""


def link(board_name: str, folder: Path, source: str, more: Sequence[Path] = ()) -> Path:
    """Compiles `source` with the start-up of the board (and `more` C files) into one ELF."""
    board: Board = load_board(board_name)
    main = folder / "main.c"
    main.write_text(source)
    elf = folder / f"{board_name}.elf"
    command = [
        "gcc" if board.is_host else "arm-none-eabi-gcc",
        *board.cflags,
        *platform_defines(board),
        *("-std=gnu99", "-O2"),  # one section a file: nothing of it is thrown away
        *(f"-I{resources.crt() / 'include'}", f"-I{resources.boards() / 'common'}"),
        *map(str, [main, *more, *startup(board)]),
    ]
    if board.is_host:
        command += ["-lm"]
    else:
        script = folder / "link.ld"
        script.write_text(render_linker_script(board))
        command += ["-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections", f"-Wl,-T,{script}"]
    done = subprocess.run([*command, "-o", str(elf)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return elf


def is_alive(pid: int) -> bool:
    """Whether a process of this id is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
