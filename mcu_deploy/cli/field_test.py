"""`mcu-deploy field-test`: everything that a person with a board is asked to do, and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcu_deploy.cli.console import FAILED, out, print_json, say
from mcu_deploy.cli.options import (
    JsonOption,
    OptionalBoard,
    SourceArgument,
    with_connection,
    with_flasher,
    with_shapes,
)
from mcu_deploy.cli.progress import working
from mcu_deploy.options import Options
from mcu_deploy.options.means import Connection, Flasher


@with_connection
@with_shapes
@with_flasher
def field_test(
    source: SourceArgument,
    board: OptionalBoard = None,
    *,
    flasher: Flasher,
    no_flash: Annotated[
        bool, typer.Option("--no-flash", help="The board has this very firmware already.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The report; field-test-BOARD.md by default."),
    ] = None,
    connection: Connection,
    shapes: Options,
    as_json: JsonOption = False,
) -> None:
    """Flash a board, validate and profile it, and write one report to send.

    The port is found by the board's USB id unless --port names it. Ends in 1 where anything failed.
    """
    from mcu_deploy.api import field_testing
    from mcu_deploy.api.field_report import markdown
    from mcu_deploy.api.folder import folder_for
    from mcu_deploy.output import require_writable, write_file

    with folder_for(source, board, options=shapes) as folder:
        path = output or Path(f"field-test-{folder.board.name}.md")
        require_writable(path, [source])
        with working(f"flashing, validating and profiling {folder.board.name}"):
            found = field_testing.field_test(folder, connection, flasher, flash=not no_flash)
        write_file(path, markdown(found).encode())
    if as_json:
        print_json(field_testing.as_json(found))
    else:
        for test in found.networks:
            if test.profile is not None:
                took = "" if test.milliseconds is None else f", {test.milliseconds:,.3f} ms"
                measured = test.profile
                say(f"{test.name}: {measured.total:,} {measured.unit}{took}")
        say(*found.failures, before=FAILED)
        if found.passed:
            out.print("[bold green]passed[/]")
        say(f"the report to send is {path}")
    if not found.passed:
        raise typer.Exit(1)
