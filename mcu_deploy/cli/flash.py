"""`mcu-deploy flash`: a build's firmware, or any program, into a board."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcu_deploy.cli.console import print_json, say
from mcu_deploy.cli.options import JsonOption, OptionalBoard, with_flasher
from mcu_deploy.cli.progress import working
from mcu_deploy.files.given import is_folder
from mcu_deploy.options.means import Flasher

if TYPE_CHECKING:
    from mcu_deploy.api.programs import BoardProgram


@with_flasher
def flash(
    source: Annotated[Path, typer.Argument(help="A build folder, an ELF image, or a model file.")],
    board: OptionalBoard = None,
    *,
    flasher: Flasher,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command lines, and run nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Put the firmware of a build, or any program for the board, into it, and start it.

    By the tool that the board's file names and that is installed; see docs/flashing.md.
    """
    import tempfile

    from mcu_deploy.api import flashing
    from mcu_deploy.api.programs import is_elf
    from mcu_deploy.errors import RequestError, UsageError

    if not source.exists():
        raise RequestError(
            f"{source} does not exist; name a build folder, an ELF image or a model."
        )
    if dry_run and not is_folder(source) and not is_elf(source):
        raise UsageError(
            "--dry-run prints paths of a build folder: build the model first, and give the folder."
        )
    with _program(source, board) as program:
        name = program.board.name
        if dry_run:  # what it prints shall work when it is pasted: its files stay
            scratch = Path(tempfile.mkdtemp(prefix="mcu-deploy-flash-"))
            done = flashing.plan_flash(program, scratch, flasher)
        else:
            with working(f"flashing {name}"):
                done = flashing.flash(program, flasher)
        if as_json:
            print_json({"board": name, **done.as_json(), "flashed": not dry_run})
        elif dry_run:
            print(*map(shlex.join, done.lines), sep="\n", flush=True)
        else:
            say(f"{name} is flashed, by {done.reason}")


@contextmanager
def _program(source: Path, board: str | None) -> Iterator[BoardProgram]:
    """An ELF image as it is, the firmware of a build, or that of a model that is built now."""
    from mcu_deploy.api.folder import folder_for
    from mcu_deploy.api.programs import is_elf, open_program, program_of

    if is_elf(source):
        yield open_program(source, board)
    else:
        with folder_for(source, board) as folder:
            yield program_of(folder)
