"""`mcu-deploy doctor`: what is installed, what is connected, what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mcu_deploy.cli.console import print_json, say
from mcu_deploy.cli.options import BaudOption, JsonOption, OptionalBoard

_SIGNS = {"good": "[green]ok[/]  ", "absent": "[dim]-[/]   ", "wrong": "[bold red]!![/]  "}


def doctor(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A build folder: what it needs, and whether a port runs it."),
    ] = None,
    board: OptionalBoard = None,
    port: Annotated[
        str | None,
        typer.Option(help="Listen at this port (or pyserial URL, or auto); say what is there."),
    ] = None,
    baud: BaudOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look at backends, compilers, emulators, flashing tools, probes and serial ports.

    With a board only at what it needs. Ends with exit code 1 where something has to be mended.
    """
    from mcu_deploy.api.doctor import doctor as examine
    from mcu_deploy.api.folder import open_folder
    from mcu_deploy.boards import load_board

    build = open_folder(folder, board) if folder else None
    known = build.board if build else load_board(board) if board else None
    findings = []
    for finding in examine(known, port, baud, build.expected() if build else ()):
        findings.append(finding)
        if not as_json:
            say(f"{finding.subject}: {finding.said}", before=_SIGNS[finding.state])
            if finding.remedy:
                say(f"      {finding.remedy}", before="[dim]")
    wrong = any(finding.state == "wrong" for finding in findings)
    if as_json:
        print_json({"findings": [asdict(f) for f in findings], "is_well": not wrong})
    raise typer.Exit(int(wrong))
