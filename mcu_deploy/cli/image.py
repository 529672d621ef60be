"""`mcu-deploy image`: a program as the files that other tools put into chips."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcu_deploy.cli.console import print_json, say
from mcu_deploy.cli.options import JsonOption, OptionalBoard
from mcu_deploy.files.given import is_folder


def image(
    source: Annotated[Path, typer.Argument(help="An ELF image, or a build folder.")],
    output: Annotated[
        list[Path],
        typer.Option("--output", "-o", help="A .bin, .hex or .uf2; several write several."),
    ],
    board: OptionalBoard = None,
    as_json: JsonOption = False,
) -> None:
    """Write a program as raw bytes, Intel HEX or UF2."""
    from mcu_deploy.api.folder import open_folder
    from mcu_deploy.api.programs import open_program, program_of, write_image

    if is_folder(source):
        program = program_of(open_folder(source, board))
    else:
        program = open_program(source, board)
    for path in output:
        write_image(program, path)
    if as_json:
        print_json({"board": program.board.name, "files": [str(path) for path in output]})
    else:
        say(", ".join(map(str, output)))
