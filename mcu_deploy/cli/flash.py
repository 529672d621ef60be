"""`mcu-deploy flash`: a build's firmware into a board."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mcu_deploy.cli.console import err, out, print_json
from mcu_deploy.cli.options import JsonOption, OptionalBoard, ProbeOption, RunnerOption
from mcu_deploy.files.given import is_folder


def flash(
    source: Annotated[Path, typer.Argument(help="A build folder, or a model file.")],
    board: OptionalBoard = None,
    runner: RunnerOption = None,
    probe: ProbeOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command lines, and run nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Put the firmware of a build into a board, and start it.

    By the tool that the board's file names and that is installed; see docs/flashing.md.
    """
    import tempfile

    from mcu_deploy.api import flashing
    from mcu_deploy.api.folder import folder_for
    from mcu_deploy.errors import UsageError

    if dry_run and not is_folder(source):
        raise UsageError(
            "--dry-run prints paths of a build folder: build the model first, and give the folder."
        )
    with folder_for(source, board) as folder:
        if dry_run:  # what it prints shall work when it is pasted: its files stay
            scratch = Path(tempfile.mkdtemp(prefix="mcu-deploy-flash-"))
            done = flashing.plan_flash(folder, scratch, runner, probe)
        else:
            with err.status(f"flashing {folder.board.name} ..."):
                done = flashing.flash(folder, runner, probe)
        if as_json:
            print_json({"board": folder.board.name, **done.as_json(), "flashed": not dry_run})
        elif dry_run:
            for line in done.lines:
                print(shlex.join(line))
        else:
            out.print(escape(f"{folder.board.name} is flashed, by {done.reason}"))
