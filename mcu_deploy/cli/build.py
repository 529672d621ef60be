"""`mcu-deploy build`: models to one object file each, and one firmware."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from mcu_deploy.cli.console import drawn, float_lines, layer_lines, out, print_json, say
from mcu_deploy.cli.options import (
    JsonOption,
    WideOption,
    either,
    with_creation,
    with_options,
    with_processor,
)
from mcu_deploy.cli.progress import working
from mcu_deploy.errors import UsageError
from mcu_deploy.options import Clock, Options
from mcu_deploy.options.checked import require_word
from mcu_deploy.options.means import CreationOptions

if TYPE_CHECKING:
    from mcu_deploy.api.building import Build
    from mcu_deploy.boards import Board, Processor
    from mcu_deploy.report.explain import CandidateRow, Explanation
    from mcu_deploy.report.front import Front
    from mcu_deploy.report.model import CostReport, NetworkReport
    from mcu_deploy.report.whole import Report
    from mcu_deploy.session import Session


@with_options()
@with_creation
@with_processor
def build(
    models: Annotated[list[Path], typer.Argument(help="Model files (.onnx, .tflite, .pmx).")],
    *,
    processor: Processor | None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The build folder.", show_default="build/BOARD/NAME"),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", help="The network's name, one for each model.")
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(
            metavar=either(get_args(Clock)),
            help="As the chip starts, or as fast as it may be (--board).",
        ),
    ] = None,
    depfile: Annotated[
        Path | None,
        typer.Option(help="Write here which files the build has read, for Make and Ninja."),
    ] = None,
    creation: CreationOptions,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show for every node who computes it, and why not another; and build "
            "for the other goals too, to compare.",
        ),
    ] = False,
    wide: WideOption = False,
    as_json: JsonOption = False,
    options: Options,
) -> None:
    """Compile models for a board: C source, a checked object, firmware, and a report.

    With --core instead: objects, headers and the runtime for a firmware of your own.
    """
    from mcu_deploy.api import building
    from mcu_deploy.api.depfile import write_depfile
    from mcu_deploy.codegen.names import network_name
    from mcu_deploy.report import explain as explain_network
    from mcu_deploy.session import Session

    if processor is None:
        raise UsageError(
            "Say for what to build: --board BOARD (`mcu-deploy boards` lists them), or --core CORE "
            "for objects that go into a firmware of your own."
        )
    board = None if clock is None else _with_clock(processor, clock)
    processor = board or processor
    names = name or []
    first = network_name(names[0] if names else None, models[0])
    folder = output if output is not None else str(Path("build", processor.name, first))
    with Session(options=creation) as session, working(f"building for {processor.name}"):
        session.require_options()
        built = building.build(
            models, processor, folder, name=names or None, session=session, options=options
        )
        front = _front(built, session) if explain else None
    if depfile is not None:
        write_depfile(depfile, built)
    rows = [row for n in built.networks for row in explain_network(n.network)] if explain else []
    if as_json:
        content = built.report.as_json()
        if front is not None:
            content |= {"explain": [asdict(row) for row in rows], "front": asdict(front)}
        print_json(content)
        return
    _print(built.report, folder)
    if board is not None and clock == "rated":
        say(f"clock: {board.clock_hz:,} Hz, which nobody has yet tried on a chip")
    if front is not None:
        _explain(rows, wide)
        table = front.table()
        say(table.title, before="[bold]")
        if table.rows:
            out.print(drawn(table))


def _front(built: Build, session: Session) -> Front:
    """The same models built for the other goals too."""
    from mcu_deploy.api import fronts
    from mcu_deploy.api.folder import ObjectFolder

    folder = ObjectFolder(built.directory, built.board, built.report)
    return fronts.front(folder, [made.network for made in built.networks], session)


def _with_clock(processor: Processor, clock: str) -> Board:
    from mcu_deploy.boards import Board, load_board

    if not isinstance(processor, Board):
        raise UsageError("--clock is for a board's start-up; give --board, or leave it out.")
    require_word("--clock", clock, get_args(Clock))
    return load_board(processor.path, clock)


def _print(report: Report, folder: str) -> None:
    out.print(drawn(report.table()))
    for n in report.networks:
        say(*_pools(n, report.options.pools.hot_weights))
        if report.options.hot_code:
            say(_hot_code(n))
            if n.waiting_code:
                out.print(drawn(n.waiting_table()))
    for n in report.networks:
        if costs := n.measured_costs:
            used = f"measured costs of {costs.layers} of {len(n.layers)} layers"
            say(f"{n.name}: {used}, from {costs.file}")
    for n in report.networks:
        if gone := [layer.removed for layer in n.layers if layer.removed]:
            count, total = sum(r.channels for r in gone), sum(r.of for r in gone)
            text = f"{count:,} of {total:,} channels of {len(gone)} layers are removed"
            say(f"{n.name}: {text}: constant, or nothing reads them")
    for n in report.networks:
        say(*float_lines(n.float_layers, len(n.layers), n.name))
    say(*report.table().notes)
    for m in report.memories:
        use = f"{m.used_bytes:>11,} of {m.size_bytes:>11,}"
        if m.used_bytes:
            say(f"  {m.name:<10} {use} bytes of {m.kind}")
    say(f"in {folder}: " + ", ".join(_products(report)))


def _pools(network: NetworkReport, hot_weights: int) -> list[str]:
    """Where a network's tensors and constants lie, if not all in one workspace."""
    lines = []
    if len(network.pools) > 1:
        parts = (
            f"{p.name} {p.bytes:,} bytes" + (f" in {p.memory}" if p.memory else "")
            for p in network.pools
        )
        lines.append(f"{network.name}: {', '.join(parts)}")
    if hot_weights or network.hot_weights_bytes:
        lines.append(
            f"{network.name}: {network.hot_weights_bytes:,} of {network.weights_bytes:,} "
            "bytes of constants are copied to RAM"
        )
    return lines


def _hot_code(network: NetworkReport) -> str:
    """What runs from RAM, of what waits for its code."""
    waited = sum(kernel.cycles for kernel in network.waiting_code)
    saved = sum(kernel.cycles for kernel in network.waiting_code if kernel.in_ram)
    return (
        f"{network.name}: {network.hot_code_bytes:,} bytes of kernels run from RAM, which in flash "
        f"would wait {saved:,} of {waited:,} cycles a run for their code (modelled)"
    )


def _products(report: Report) -> list[str]:
    objects = [f"network_{n.name}.o" for n in report.networks]
    images = [] if report.board is None else ["firmware.elf", "bench.elf"]
    return [*objects, "libmcu_crt.a", "include/", *images, "report.json"]


def _explain(rows: Sequence[Explanation], wide: bool) -> None:
    """A line for each node; below it who else could compute it, and who does not and why."""
    titles = (
        "", "layer", "group", "operator", "backend", "chosen by", "cost", "in the model",
    )  # fmt: skip
    cells, notes = [], []
    for row in rows:
        others = row.candidates[1:]
        cells.append(
            (
                "view" if row.step is None else str(row.step), row.short,
                "" if row.group is None else str(row.group),
                row.op, row.backend, row.chosen_by,
                _cost(row.cost), row.name,
            )
        )  # fmt: skip
        notes.append(
            [_lost(c) for c in others] + [f"{r.backend} does not: {r.reason}" for r in row.refusals]
        )
    head, *lines = layer_lines(titles, cells, ("", "group", "cost"), wide, ["group"])
    say(head, before="[bold]")
    for line, remarks in zip(lines, notes, strict=True):
        say(line, *(f"      {remark}" for remark in remarks))
    say(
        "Modelled costs are the backends' own; different units are never compared. `mcu-deploy "
        "profile` counts instructions."
    )


def _lost(row: CandidateRow) -> str:
    what = f" {row.title}" if row.title else ""
    return f"{row.backend} could{what}, for {_cost(row.cost) or 'it does not say what'}"


def _cost(cost: CostReport | None) -> str:
    """A cost with its unit; empty where none is stated."""
    return "" if cost is None else f"{cost.value:,} {cost.known} {cost.unit}"
