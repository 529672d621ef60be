"""`mcu-deploy run`: inputs to a board, outputs back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcu_deploy.cli.console import print_json, say
from mcu_deploy.cli.options import (
    JsonOption,
    ModelOption,
    OptionalBoard,
    SamplesOption,
    SourceArgument,
    with_connection,
    with_shapes,
)
from mcu_deploy.cli.progress import working
from mcu_deploy.files.given import is_folder
from mcu_deploy.options import Options
from mcu_deploy.options.means import Connection

if TYPE_CHECKING:
    from mcu_deploy.api.running import Results
    from mcu_deploy.files.arrays import Array


@with_connection
@with_shapes
def run(
    source: SourceArgument,
    inputs: Annotated[Path, typer.Option("--input", "-i", help="An .npz with in0, in1, ...")],
    board: OptionalBoard = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where out0, out1, ... go, as .npz.")
    ] = None,
    model: ModelOption = None,
    samples: SamplesOption = None,
    partition: Annotated[
        str | None,
        typer.Option("--partition", help="Run this partition alone; the samples are its inputs."),
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(
            "--split",
            metavar="TENSOR",
            help="The model up to this tensor on the host, the rest on the board (repeatable).",
        ),
    ] = None,
    *,
    connection: Connection,
    shapes: Options,
    as_json: JsonOption = False,
) -> None:
    """Run a network on an emulated or a real board."""
    from mcu_deploy.api import running, split_running
    from mcu_deploy.api.folder import folder_for
    from mcu_deploy.errors import UsageError
    from mcu_deploy.output import require_writable

    if output is not None:
        require_writable(output, [inputs, source])
    if split:
        if board is None or is_folder(source) or partition is not None:
            raise UsageError(
                "--split needs the model file and --board, and no --partition: both halves are "
                "built anew."
            )
        with working(f"running {source.name} on the host and on {board}"):
            halves = split_running.run(
                source, board, split, inputs, count=samples, options=shapes,
                connection=connection,
            )  # fmt: skip
        name, board_name, reason = source.stem, board, halves.where
        results = halves.tail
    else:
        with folder_for(source, board, options=shapes) as folder:
            name, board_name = folder.network(model).name, folder.board.name
            given = running.load_for(folder, name, inputs, partition).first(samples)
            with working(f"running {len(given)} samples on {board_name}"):
                results = running.run(
                    folder, given, model=name, partition=partition, connection=connection
                )
            reason = running.where(folder, connection)
    _show(results, f"{name} on {board_name}: {reason}", output, as_json, name, board_name)


def _show(
    results: Results, title: str, output: Path | None, as_json: bool, name: str, board: str
) -> None:
    """Writes the results to a file if one is named, and prints them."""
    from mcu_deploy.api.running import stack_outputs

    stacked = stack_outputs(results)
    if output is not None:
        _save(stacked, output)
    if as_json:
        print_json(
            {
                "model": name,
                "board": board,
                "where": title.partition(": ")[2],
                "outputs": {key: value.tolist() for key, value in stacked.items()},
            }
        )
        return
    say(title)
    for index in range(len(results)):
        for key, value in stacked.items():
            flat = value[index].reshape(-1)
            shown = ", ".join(f"{v:g}" for v in flat[:12].tolist())
            more = "" if flat.size <= 12 else f", ... ({flat.size} values)"
            say(f"sample {index} {key}: {shown}{more}")
    if output is not None:
        say(f"written to {output}")


def _save(arrays: dict[str, Array], path: Path) -> None:
    """Writes an .npz."""
    import io

    import numpy as np

    from mcu_deploy.ir import DType
    from mcu_deploy.output import write_file

    buffer = io.BytesIO()
    plain = {name: value.view(DType.of(value.dtype).in_files) for name, value in arrays.items()}
    np.savez(buffer, **plain)  # type: ignore[arg-type]
    write_file(path, buffer.getvalue())
