"""Boards: what boards/<name>/board.toml says, and what a link for a board needs.

board = load_board("mps2-an386")
board.memory_for("data").size
script = render_linker_script(board)
"""

from __future__ import annotations

from mcu_deploy.boards.image import platform_defines, render_linker_script, startup_sources
from mcu_deploy.boards.load import list_boards, load_board
from mcu_deploy.boards.model import (
    Board,
    ClockGate,
    Memory,
    Pin,
    QemuTarget,
    RenodeTarget,
    Roles,
    SecondCore,
    Serial,
)

__all__ = [
    "Board",
    "ClockGate",
    "Memory",
    "Pin",
    "QemuTarget",
    "RenodeTarget",
    "Roles",
    "SecondCore",
    "Serial",
    "list_boards",
    "load_board",
    "platform_defines",
    "render_linker_script",
    "startup_sources",
]
