"""`mcu-deploy monitor`: a serial line in words."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from mcu_deploy.cli.console import say
from mcu_deploy.cli.options import BaudOption, OptionalBoard, PortOption


def monitor(
    source: Annotated[
        Path | None,
        typer.Argument(help="A build folder: its board, and the names in fault reports."),
    ] = None,
    port: PortOption = "auto",
    board: OptionalBoard = None,
    baud: BaudOption = None,
    listen: Annotated[
        bool, typer.Option("--listen", help="Send nothing: do not ask the board who it is.")
    ] = False,
) -> None:
    """Show what a board says, in words, until Ctrl-C.

    Frames of the protocol are decoded: hello, models, logs, faults. Other bytes are shown as text.
    """

    from mcu_deploy.api.folder import open_folder
    from mcu_deploy.api.monitoring import monitor as lines_of
    from mcu_deploy.api.running import port_of
    from mcu_deploy.boards import load_board
    from mcu_deploy.device.line.ports import AUTO
    from mcu_deploy.device.line.transport import DEFAULT_BAUD, Transport
    from mcu_deploy.errors import UsageError

    folder = None if source is None else open_folder(source, board)
    known = folder.board if folder is not None else load_board(board) if board else None
    if port == AUTO and known is None:
        raise UsageError("Say with --port which port is meant, or give a build folder or --board.")
    url = port if known is None else port_of(known, port)
    speed = baud or (DEFAULT_BAUD if known is None else known.serial.baud)
    with contextlib.suppress(KeyboardInterrupt), Transport(url, speed) as line:
        say(f"{url}, {speed:,} baud; Ctrl-C ends")
        for text in lines_of(line, folder, asks=not listen):
            print(text, flush=True)
