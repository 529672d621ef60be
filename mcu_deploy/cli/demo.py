"""`mcu-deploy demo`: the keyword-spotting example on an emulated board."""

from __future__ import annotations

import tempfile
from typing import Annotated

import typer

from mcu_deploy.cli.console import err, out, print_json, say, table
from mcu_deploy.cli.options import EmulatorOption, JsonOption, complete_boards
from mcu_deploy.cli.progress import working


def demo(
    board: Annotated[
        str | None,
        typer.Option(help="Another board than the demo's own.", autocompletion=complete_boards),
    ] = None,
    emulator: EmulatorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build the example that ships with mcu-deploy and run its eight samples on a board."""
    import numpy as np

    from mcu_deploy import resources
    from mcu_deploy.api import building, profiling, running
    from mcu_deploy.api.folder import open_folder
    from mcu_deploy.boards import load_board
    from mcu_deploy.files.samples import load_samples

    example = resources.examples() / "kws"
    name, reason = (board, f"{board}, as asked for") if board else _demo_board()
    target = load_board(name)
    if not as_json:
        say(f"Keyword spotting (MLPerf Tiny, int8) on {reason}.")
    connection = running.Connection(emulator=emulator)
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as directory:
        with working("compiling"):
            built = building.build(example / "model.onnx", target, directory, name="kws")
        folder = open_folder(directory)
        network = built.networks[0].network
        samples = load_samples(example / "samples.npz", network.graph)
        with working(f"running {len(samples)} samples over the serial line"):
            results = running.run(folder, samples, connection=connection)
        with working("counting instructions"):
            counted = (
                None if folder.board.is_host else profiling.profile(folder, connection=connection)
            )
    given = np.load(example / "samples.npz")
    classes = (example / "classes.txt").read_text(encoding="utf-8").split()
    rows = []
    for index, outputs in enumerate(results):
        scores = outputs[0].reshape(-1)
        reference = given["ort0"][index].reshape(-1)
        rows.append(
            {
                "sample": index,
                "class": classes[int(scores.argmax())],
                "expected": classes[int(given["labels"][index])],
                "equal_to_onnxruntime": int((scores == reference).sum()),
                "values": int(scores.size),
            }
        )
    report = built.report
    totals = {
        "model": "kws", "board": name, "flash_bytes": report.flash_bytes,
        "ram_bytes": report.ram_bytes,
        "instructions": None if counted is None else counted.total,
        "macs": report.macs, "samples": rows,
    }  # fmt: skip
    if as_json:
        print_json(totals)
    else:
        _print(totals)
    wrong = sum(r["class"] != r["expected"] for r in rows)
    if wrong:
        err.print(f"[bold red]{wrong} of {len(rows)} samples have another class than expected.[/]")
        raise typer.Exit(1)


def _demo_board() -> tuple[str, str]:
    """The board of the demo, and which and why in one line."""
    from mcu_deploy.device.emulators.renode import find_renode
    from mcu_deploy.errors import ToolError

    try:
        program = find_renode()
    except ToolError:
        return (
            "mps2-an500",
            "mps2-an500, a Cortex-M7 in QEMU; the STM32F746 needs Renode, which is not installed "
            "(make renode)",
        )
    return "stm32f746", f"stm32f746, a Cortex-M7 in Renode ({program.found})"


def _print(totals: dict[str, object]) -> None:
    listed = table("sample", "class", "expected", "equal to onnxruntime")
    rows = totals["samples"]
    assert isinstance(rows, list)
    for r in rows:
        colour = "green" if r["class"] == r["expected"] else "red"
        listed.add_row(
            str(r["sample"]), f"[{colour}]{r['class']}[/]", r["expected"],
            f"{r['equal_to_onnxruntime']} of {r['values']} values",
        )  # fmt: skip
    out.print(listed)
    instructions = totals["instructions"]
    line = f"flash {totals['flash_bytes']:,} bytes, RAM {totals['ram_bytes']:,} bytes"
    if isinstance(instructions, int):
        line += f", {instructions:,} instructions for {totals['macs']:,} multiply-accumulates"
    say(line)
