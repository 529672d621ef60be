"""`mcu-deploy optimize`: a model, compiled for a board, in one .pmx file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mcu_deploy.cli.console import float_lines, print_json, say
from mcu_deploy.cli.options import BoardOption, JsonOption, with_creation, with_options
from mcu_deploy.cli.progress import working
from mcu_deploy.options import Options
from mcu_deploy.options.means import CreationOptions


@with_options(anew=False, also=("--no-float",))
@with_creation
def optimize(
    model: Annotated[Path, typer.Argument(help="A model file (.onnx, .tflite, .pmx).")],
    board: BoardOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .pmx file.")],
    compress: Annotated[
        bool, typer.Option("--compress", help="A smaller file, which takes longer to load.")
    ] = False,
    name: Annotated[
        str | None, typer.Option("--name", help="The network's name, where `build` gives none.")
    ] = None,
    *,
    creation: CreationOptions,
    as_json: JsonOption = False,
    options: Options,
) -> None:
    """Compile a model up to its plan and save it: `build` then has code generation left to do."""
    from mcu_deploy.api import optimizing
    from mcu_deploy.session import Session

    with Session(options=creation) as session, working(f"optimizing for {board}"):
        session.require_options()
        made = optimizing.optimize_model(
            model, board, output, name=name, session=session, options=options, compress=compress
        )
    report = made.report()
    if as_json:
        print_json(asdict(report))
        return
    say(*float_lines(report.float_layers, len(report.layers), report.model))
    say(
        f"{report.pmx}: {report.pmx_bytes:,} bytes, {len(report.layers)} layers "
        f"and {report.arena_bytes:,} bytes of arena for a {report.core}"
    )
