"""Boards: what boards/<name>/board.toml says, and what a link for a board needs.

board = load_board("mps2-an386")
core = load_core("cortex-m4", fpu="fpv4-sp-d16") # a Processor: enough for objects
board.memory_for("data").size
script = render_linker_script(board)
"""

from __future__ import annotations

from mcu_deploy.boards.image import (
    common,
    platform_defines,
    protocol_defines,
    render_linker_script,
    startup_sources,
)
from mcu_deploy.boards.load import list_boards, load_board
from mcu_deploy.boards.load_core import load_core
from mcu_deploy.boards.model import Board, Memory, Processor, SecondCore, SetupStep
