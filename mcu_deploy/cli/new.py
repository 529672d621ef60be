"""`mcu-deploy new`: a small firmware project for a board."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mcu_deploy.cli.console import print_json, say
from mcu_deploy.cli.options import BoardOption, JsonOption, with_own_model
from mcu_deploy.cli.progress import working
from mcu_deploy.projects.asked import OwnModel


@with_own_model
def new(
    directory: Annotated[Path, typer.Argument(help="The project's folder: a new one.")],
    board: BoardOption,
    *,
    own: OwnModel,
    as_json: JsonOption = False,
) -> None:
    """Write a small firmware project: CMake, main.c, a model, the board's start-up, a test."""
    from mcu_deploy.api import creating

    with working("writing a project"):
        made = creating.new_project(directory, board, **vars(own))
    if as_json:
        print_json(asdict(made) | {"path": str(made.path)})
        return
    say(f"a project for {made.board} in {made.path}; in that folder:")
    say("  cmake --preset firmware", "  cmake --build --preset firmware")
    if made.emulators:
        say("  ctest --preset firmware")
    if own.model is not None:
        classes = f"; labels.h: {made.labels}" if made.labels else ""
        say(f"sample.h: {made.sample}{classes}")
    say(*(f"for the pipeline on GitHub: {note}" for note in made.notes))
