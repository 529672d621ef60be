"""`mcu-deploy run`: inputs to a board, outputs back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from mcu_deploy.cli.console import err, out, print_json
from mcu_deploy.cli.options import (
    BaudOption,
    EmulatorArgs,
    EmulatorOption,
    JsonOption,
    ModelOption,
    OptionalBoard,
    PortOption,
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("run")(run)


def run(
    source: Annotated[Path, typer.Argument(help="A build folder, or a model file.")],
    inputs: Annotated[Path, typer.Option("--input", "-i", help="An .npz with in0, in1, ...")],
    board: OptionalBoard = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Where out0, out1, ... go, as .npz.")
    ] = None,
    model: ModelOption = None,
    samples: Annotated[
        int | None, typer.Option("--samples", min=1, help="Only the first samples.")
    ] = None,
    port: PortOption = None,
    baud: BaudOption = None,
    emulator: EmulatorOption = None,
    emulator_arg: EmulatorArgs = None,
    as_json: JsonOption = False,
) -> None:
    """Run a network on an emulated or a real board."""
    import numpy as np

    from mcu_deploy import running
    from mcu_deploy.compiler import write_file
    from mcu_deploy.errors import UsageError
    from mcu_deploy.folder import folder_for
    from mcu_deploy.samples import load_samples

    connection = running.Connection(port, baud, emulator, tuple(emulator_arg or ()))
    with folder_for(source, board) as folder:
        name = folder.network(model)["name"]
        network = folder.compile_again(name)
        given = load_samples(inputs, network.graph, network.inputs).first(samples)
        with err.status(f"running {len(given)} samples on {folder.board.name} ..."):
            results = running.run(folder, given, model=name, connection=connection)
        reason = running.where(folder, connection)
        stacked = running.stack_outputs(results)
        if output is not None:
            import io

            buffer = io.BytesIO()
            np.savez(buffer, **stacked)  # type: ignore[arg-type]
            try:
                write_file(output, buffer.getvalue())
            except OSError as error:
                raise UsageError(
                    f"{output} cannot be written ({error.strerror}); give another --output."
                ) from error
        if as_json:
            print_json(
                {
                    "model": name,
                    "board": folder.board.name,
                    "where": reason,
                    "outputs": {key: value.tolist() for key, value in stacked.items()},
                }
            )
            return
        out.print(escape(f"{name} on {folder.board.name}: {reason}"))
        for index in range(len(given)):
            for key, value in stacked.items():
                flat = value[index].reshape(-1)
                shown = ", ".join(f"{v:g}" for v in flat[:12])
                more = "" if flat.size <= 12 else f", ... ({flat.size} values)"
                out.print(escape(f"sample {index} {key}: {shown}{more}"))
        if output is not None:
            out.print(escape(f"written to {output}"))
