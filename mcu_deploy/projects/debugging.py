"""What VS Code is told to debug a firmware with: `.vscode/launch.json` for cortex-debug."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mcu_deploy.boards import Board
from mcu_deploy.runners.interface import runners

PROGRAM = "build/firmware.elf"
ENTRY = "mcu_firmware_main"


def launch_text(board: Board) -> str:
    """A configuration for each tool of the board's file that cortex-debug can use, in its order,
    and one for QEMU."""
    found = []
    for name, settings in board.runners.items():
        told = runners()[name].debugging(settings)
        if told is not None:
            found.append(_configuration(board, told))
    if board.qemu is not None:
        # cortex-debug starts it without the board's clocks: all instructions take no time.
        machine = {"servertype": "qemu", "machine": board.qemu.machine, "cpu": board.core}
        found.append(_configuration(board, machine))
    return json.dumps({"version": "0.2.0", "configurations": found}, indent=2) + "\n"


def _configuration(board: Board, told: Mapping[str, object]) -> dict[str, object]:
    own = {key: list(map(_file, v)) if isinstance(v, list) else v for key, v in told.items()}
    return {
        "name": f"{board.name}: {told['servertype']}",
        "type": "cortex-debug",
        "request": "launch",
        "cwd": "${workspaceFolder}",
        "executable": f"${{workspaceFolder}}/{PROGRAM}",
        **own,
        # Debian and Ubuntu have no arm-none-eabi-gdb.
        "linux": {"gdbPath": "gdb-multiarch"},
        "runToEntryPoint": ENTRY,
        "preLaunchTask": "build",
    }


def _file(name: str) -> str:
    """A file of the board's own lies in board/; others are the tool's."""
    return f"${{workspaceFolder}}/board/{Path(name).name}" if Path(name).is_absolute() else name
