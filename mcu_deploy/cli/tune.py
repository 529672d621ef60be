"""`mcu-deploy tune`: what the candidates for a model's layers cost, measured."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from mcu_deploy.cli.console import out, print_json, say, table
from mcu_deploy.cli.options import (
    BoardOption,
    JsonOption,
    with_connection,
    with_creation,
    with_options,
    with_workers,
)
from mcu_deploy.cli.progress import working
from mcu_deploy.options import Options
from mcu_deploy.options.means import Connection, CreationOptions, Workers
from mcu_deploy.output.json_text import picked

if TYPE_CHECKING:
    from mcu_deploy.api.tuning import Tuned


@with_options()
@with_connection
@with_creation
@with_workers
def tune(
    model: Annotated[Path, typer.Argument(help="A model file (.onnx, .tflite).")],
    board: BoardOption,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="With --port: what puts a firmware on the board, {} being its firmware.elf; as "
            "`flash` does by default.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Measure what was measured before, too.")
    ] = False,
    *,
    creation: CreationOptions,
    connection: Connection,
    workers: Workers,
    as_json: JsonOption = False,
    options: Options,
) -> None:
    """Measure what the candidates for a model's layers cost, for `build` to choose by that."""
    from mcu_deploy.api import tuning
    from mcu_deploy.session import Session

    with Session(options=creation) as session, working(f"measuring for {board}"):
        session.require_options()
        found = tuning.tune(
            model, board, session=session, options=options, connection=connection,
            load=None if load is None else _loader(load), again=again, workers=workers,
        )  # fmt: skip
    if as_json:
        print_json(_as_json(found))
    else:
        _print(found)


def _loader(command: str) -> Callable[[Path], None]:
    """What runs a command with the path of a firmware in the place of {}."""
    from mcu_deploy.errors import ToolError, UsageError, one_line
    from mcu_deploy.processes import programs

    words = shlex.split(command)
    if not any("{}" in word for word in words):
        raise UsageError(
            f"--load {command!r} does not say where the firmware belongs: write {{}} in its place."
        )

    def load(firmware: Path) -> None:
        ended = programs.run([word.replace("{}", str(firmware)) for word in words])
        if ended.returncode:
            said = one_line(ended.exhausted or ended.stderr.strip() or ended.stdout.strip())
            raise ToolError(f"--load {command!r} failed, with exit code {ended.returncode}: {said}")

    return load


def _as_json(found: Tuned) -> dict[str, Any]:
    return {
        "model": found.model,
        "board": found.board.name,
        "core": found.board.core,
        "file": str(found.file),
        "unit": "cycles",
        "known": found.known.value,
        **picked(found, "measured", "kept", "too_large", "before", "after"),
        "replaced": [asdict(layer) for layer in found.replaced],
        "replaced_by": [asdict(layer) for layer in found.replaced_by],
    }


def _print(found: Tuned) -> None:
    kept = f", {found.kept} were there" if found.kept else ""
    say(f"{found.file}: {found.measured} costs for the {found.board.core} are new{kept}")
    if found.too_large:
        say(
            f"{found.too_large} networks of candidates do not fit {found.board.name}, so that some "
            "are not measured"
        )
    if found.before is None or found.after is None:
        return
    if not found.replaced_by:
        say(f"A build stays as it is: {found.after:,} {found.known.value} cycles")
        return
    rows = table("", "layer", "operator", "backend", "cycles", right=["cycles"])
    for sign, layers in (("-", found.replaced), ("+", found.replaced_by)):
        for layer in layers:
            cells = (layer.short, layer.op, layer.backend, f"{layer.cycles:,}")
            rows.add_row(sign, *map(escape, cells))
    out.print(rows)
    change = (found.after - found.before) / found.before if found.before else 0
    say(
        f"A build changes: {found.before:,} {found.known.value} cycles before, {found.after:,} now "
        f"({change:+.1%})"
    )
