"""`mcu-deploy new`: a small firmware project for a board."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mcu_deploy.cli.console import out, print_json
from mcu_deploy.cli.options import BoardOption, JsonOption


def new(
    directory: Annotated[Path, typer.Argument(help="The project's folder: a new one.")],
    board: BoardOption,
    as_json: JsonOption = False,
) -> None:
    """Write a small firmware project: CMake, main.c, a model, the board's start-up, a test."""
    from mcu_deploy.api import creating

    made = creating.new_project(directory, board)
    if as_json:
        print_json(asdict(made) | {"path": str(made.path)})
        return
    out.print(escape(f"a project for {made.board} in {made.path}; in that folder:"))
    out.print("  cmake --preset firmware")
    out.print("  cmake --build --preset firmware")
    if made.emulators:
        out.print("  ctest --preset firmware")
    for note in made.notes:
        out.print(escape(f"for the pipeline on GitHub: {note}"))
