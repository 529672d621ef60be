"""mcu-deploy boards: what can be compiled for, and what runs it here."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from mcu_deploy.cli.console import out, print_json, say
from mcu_deploy.cli.options import JsonOption
from mcu_deploy.output.json_text import picked

if TYPE_CHECKING:
    from mcu_deploy.boards import Board, Memory


def boards(
    as_json: JsonOption = False,
) -> None:
    """List the boards that come with mcu-deploy: core, memories, and what runs them here.

    RAM is the one of data; --json lists under "pools" all that --pool knows. Untested: no emulator
    runs it, and nobody has tried the board.
    A board of your own is a board.toml: --board path/to/board.toml.
    """
    from mcu_deploy import resources
    from mcu_deploy.boards import list_boards
    from mcu_deploy.session import Session

    with Session() as session:
        _ = session.registry  # warns of what cannot compile for any board
    known = list_boards()
    if as_json:
        print_json([_as_json(board) for board in known])
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("board", "core", "FPU", "flash", "RAM"):
        table.add_column(column, no_wrap=True)
    table.add_column("runs in")
    for board in known:
        table.add_row(
            board.name,
            board.core,
            "-" if board.is_host else board.fpu,
            " + ".join(_size(m.size) for m in _program_memories(board)) or "-",
            "-" if board.is_host else _size(board.memory_for("data").size),
            ", ".join(escape(title) for _, title in _emulators(board)) or _elsewhere(board),
        )
    out.print(table)
    say(f"Their files are in {resources.boards()}.")


def _program_memories(board: Board) -> list[Memory]:
    roles = (board.roles.vectors, board.roles.code, board.roles.weights)
    return [memory for memory in board.memories if memory.name in roles]


def _elsewhere(board: Board) -> str:
    return "untested" if board.untested else "a real board only"


def _emulators(board: Board) -> list[tuple[str, str]]:
    """(name, title) of each emulator that has a machine for the board, the preferred one first."""
    from mcu_deploy.device.emulators import launchers_for

    return [(known.name, known.title) for known in launchers_for(board)]


def _size(size: int) -> str:
    if size % (1 << 20) == 0:
        return f"{size >> 20} MiB"
    return f"{size / 1024:.0f} KiB"


def _as_json(board: Board) -> dict[str, Any]:
    return {
        **picked(
            board, "name", "title", "core", "architecture", "fpu", "float_abi", "dsp", "mve",
            "clock_hz", "rated_clock_hz", "untested",
        ),
        "memories": [
            {
                **picked(m, "name", "kind", "origin"),
                "size_bytes": m.size,
                "timing": m.timing and asdict(m.timing),
                "rated_timing": m.rated_timing and asdict(m.rated_timing),
            }
            for m in board.memories
        ],
        "pools": [
            {"name": memory.name, "size_bytes": memory.size, "speed": memory.speed}
            for memory in board.divided().memories
            if memory.is_for_tensors
        ],
        "hot_code": board.roles.hot_code or None,
        "stack_bytes": board.stack_bytes,
        "emulators": [name for name, _ in _emulators(board)],
        "usb": list(board.usb),
        "runners": {name: dict(told) for name, told in board.runners.items()},
    }  # fmt: skip
