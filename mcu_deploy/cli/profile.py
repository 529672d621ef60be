"""`mcu-deploy profile`: instructions per layer."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from mcu_deploy.cli.console import fold, layer_lines, print_json, say
from mcu_deploy.cli.options import (
    JsonOption,
    ModelOption,
    OptionalBoard,
    SourceArgument,
    WideOption,
    with_connection,
    with_shapes,
)
from mcu_deploy.cli.progress import working
from mcu_deploy.options import Options
from mcu_deploy.options.means import Connection
from mcu_deploy.output.json_text import picked

if TYPE_CHECKING:
    from mcu_deploy.boards import Board
    from mcu_deploy.device.modelling import BoardTime
    from mcu_deploy.report import Report
    from mcu_deploy.report.profile import Profile


@with_connection
@with_shapes
def profile(
    source: SourceArgument,
    board: OptionalBoard = None,
    model: ModelOption = None,
    size: Annotated[
        int | None,
        typer.Option(
            "--size", metavar="N", help="Of the run, where each run decides one; else the largest."
        ),
    ] = None,
    *,
    connection: Connection,
    shapes: Options,
    wide: WideOption = False,
    as_json: JsonOption = False,
) -> None:
    """Count what one inference costs on a board, layer by layer."""
    from mcu_deploy.api import profiling
    from mcu_deploy.api.folder import folder_for

    with folder_for(source, board, options=shapes) as folder:
        with working(f"counting on {folder.board.name}"):
            result = profiling.profile(folder, model=model, size=size, connection=connection)
        if as_json:
            print_json(_as_json(folder.report, result))
        else:
            say(*folder.network(model).size_lines(result.size))
            _print(folder.board, result, wide)


def _as_json(report: Report, result: Profile) -> dict[str, Any]:
    costs = {layer.index: layer for layer in result.layers}
    layers = [
        {
            **asdict(row),
            result.unit: costs[row.index].cost,
            **picked(costs[row.index], "share", "per_mac"),
            "modelled_cycles": costs[row.index].cycles,
            **_time(costs[row.index].time),
            **picked(costs[row.index], "floor", "above_floor"),
        }
        for row in report.layers
        if row.network == result.network
    ]
    counted = result.total if result.unit == "instructions" else None
    return {
        **report.as_json(),
        "instructions": counted,
        "modelled_cycles": result.cycles,
        **_time(result.time),
        "layers": layers,
        "profile": {
            **picked(result, "unit", "source", "total", "timings", "no_cycles", "size"),
            "clock_hz": result.time.clock_hz if result.time else None,
            "no_time": result.no_time,
            "assumed_at_once": list(result.assumed),
            "outside_layers": result.outside,
            **picked(result, "overhead", "cores", "speed_up"),
            "stack_used_bytes": result.stack_bytes,
            "counters": result.counters,
        },
    }


def _time(time: BoardTime | None) -> dict[str, Any]:
    """What is modelled with the wait states of the board's memories; null where nothing is."""
    return {
        "modelled_board_cycles": time.cycles if time else None,
        "modelled_milliseconds": time.milliseconds if time else None,
        "code_wait_share": time.code_share if time else None,
        "data_wait_share": time.data_share if time else None,
    }


def _print(board: Board, result: Profile, wide: bool) -> None:
    say(f"{result.network} on {board.name}: {result.unit} counted by {result.source}")
    if result.timings:
        stand_in = f" in place of the {board.core}'s" if board.core != result.timings else ""
        say(
            f"cycles modelled by the timings of the {result.timings}{stand_in}, without wait states"
        )
    if result.time is not None and result.waits:
        rated = ", its rated clock" if result.time.clock_hz != board.clock_hz else ""
        fold(
            "on board: modelled with wait states at "
            f"{result.time.clock_hz / 1e6:g} MHz{rated}; code, data: waiting for them"
        )
    for note in result.notes:
        fold(escape(note))
    table = result.table(wide)
    modelled = "modelled" if result.unit == "cycles" else "cycles"
    spare = [modelled if result.waits else "floor"]
    head, *lines = layer_lines(table.columns, table.rows, table.numbers, wide, spare)
    say(head, before="[bold]")
    say(*lines)
    for total in table.notes:
        fold(escape(total))
    say(f"{result.outside:,} {result.unit} outside of the layers, which is {result.overhead:.3%}")
    if len(result.cores) > 1:
        shared = " and ".join(f"{count:,}" for count in result.cores)
        say(
            f"on {len(result.cores)} cores: {shared}; {result.speed_up:.2f} times as fast as the "
            "layers one after the other"
        )
    for backend, counters in result.counters.items():
        shown = ", ".join(f"{name} {value:,}" for name, value in counters.items())
        say(f"{backend}: {shown}")
    if result.stack_bytes is not None:
        say(f"stack used: {result.stack_bytes:,} bytes, with the frames of the program that counts")
