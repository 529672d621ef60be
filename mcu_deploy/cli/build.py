"""`mcu-deploy build`: models to one object file each, and one firmware."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from mcu_deploy.cli.console import err, out, print_json
from mcu_deploy.cli.options import (
    BackendOption,
    BoardOption,
    DynamicBackends,
    JsonOption,
    NoDynamicBackends,
    creation_options,
)
from mcu_deploy.codegen.names import shorten
from mcu_deploy.errors import UsageError


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("build")(build)


def build(
    models: Annotated[list[Path], typer.Argument(help="Model files (.onnx, .tflite).")],
    board: BoardOption,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The build folder.", show_default="build/NAME")
    ] = Path(),
    name: Annotated[
        list[str] | None, typer.Option("--name", help="The network's name, one for each model.")
    ] = None,
    backend: Annotated[
        str, typer.Option("--backend", help="Backend ids in order of preference, by commas.")
    ] = "",
    layer_backend: Annotated[
        list[str] | None,
        typer.Option(
            "--layer-backend", metavar="LAYER=ID", help="Who computes a layer (repeatable)."
        ),
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            help="greedy: the first backend of the preference; cost: the cheapest, with the "
            "conversions between them.",
        ),
    ] = "greedy",
    dynamic_backends: DynamicBackends = None,
    no_dynamic_backends: NoDynamicBackends = False,
    backend_option: BackendOption = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="TENSOR", help="Readable after a run (repeatable)."),
    ] = None,
    partition: Annotated[
        list[str] | None,
        typer.Option(
            "--partition",
            metavar="NAME=IN,..:OUT,..",
            help="A part that can be run alone, between these tensors (repeatable).",
        ),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            metavar="INPUT=OUTPUT",
            help="The output of one run is the input of the next (repeatable).",
        ),
    ] = None,
    io: Annotated[
        str,
        typer.Option("--io", help="arena: inputs and outputs have places there; caller: not."),
    ] = "arena",
    memory: Annotated[
        str,
        typer.Option(
            "--memory",
            help="offline: fixed places; compact: tensors move between layers where that saves "
            "memory; plain, mru, bestfit: from a memory manager at run time.",
        ),
    ] = "offline",
    arena: Annotated[
        str,
        typer.Option(
            "--arena",
            help="For several models. separate: a workspace each; shared: one, in which they "
            "take turns.",
        ),
    ] = "separate",
    shape: Annotated[
        list[str] | None, typer.Option("--shape", help="INPUT=1,3,96,96 binds symbolic shapes.")
    ] = None,
    weights: Annotated[
        str, typer.Option("--weights", help="incbin: a file beside the source; array: C arrays.")
    ] = "incbin",
    layers: Annotated[
        str,
        typer.Option(
            "--layers", help="all: no fusion and no memory reuse, for `validate --layers`."
        ),
    ] = "built",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show for every node who computes it, and why not another."),
    ] = False,
    debug: Annotated[bool, typer.Option("-g", "--debug", help="With debug information.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compile models for a board: C source, a checked object, firmware, and a report."""
    from mcu_deploy import building, exposing
    from mcu_deploy.codegen.names import network_name
    from mcu_deploy.compiler import Options
    from mcu_deploy.folder import parse_shapes
    from mcu_deploy.plan import memory_strategies
    from mcu_deploy.report import explain as explain_network
    from mcu_deploy.session import Session

    if weights not in ("incbin", "array"):
        raise UsageError(f"--weights {weights} is not known; it is incbin or array.")
    if io not in ("arena", "caller"):
        raise UsageError(f"--io {io} is not known; it is arena or caller.")
    if memory not in memory_strategies():
        known = ", ".join(memory_strategies())
        raise UsageError(f"--memory {memory} is not known; it is one of {known}.")
    if arena not in ("separate", "shared"):
        raise UsageError(f"--arena {arena} is not known; it is separate or shared.")
    if layers not in ("built", "all"):
        raise UsageError(f"--layers {layers} is not known; it is built or all.")
    names = name or []
    first = network_name(names[0] if names else None, models[0])
    folder = output if output != Path() else Path("build") / first
    options = Options(
        backends=tuple(b for b in backend.split(",") if b),
        layer_backends=_layer_backends(layer_backend or []),
        strategy=strategy,
        weights=weights,
        layers_all=layers == "all",
        debug=debug,
        shapes=parse_shapes(shape or []),
        requests=exposing.Requests(
            tuple(keep or ()),
            tuple(map(exposing.parse_partition, partition or ())),
            tuple(map(exposing.parse_state, state or ())),
        ),
        io=io,
        arena=arena,
        memory=memory,
    )
    creation = creation_options(dynamic_backends, no_dynamic_backends, backend_option or [])
    with Session(options=creation) as session, err.status(f"building for {board} ..."):
        built = building.build(
            models, board, folder, name=names or None, session=session, options=options
        )
    rows = [row for n in built.networks for row in explain_network(n.network)] if explain else []
    if as_json:
        print_json({**built.report, "explain": rows} if explain else built.report)
        return
    _print(built.report, folder)
    if explain:
        _explain(rows)


def _layer_backends(texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        layer, separator, backend = text.rpartition("=")
        if not (separator and layer and backend):
            raise UsageError(f"--layer-backend {text} is not of the form LAYER=ID.")
        if found.setdefault(layer, backend) != backend:
            raise UsageError(
                f"--layer-backend names the layer {layer!r} twice, with {found[layer]} and "
                f"{backend}; name it once."
            )
    return found


def _print(report: dict[str, Any], folder: Path) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (
        ("network", "left"), ("layers", "right"), ("MACs", "right"), ("flash", "right"),
        ("RAM", "right"), ("arena", "right"), ("bound", "right"), ("stack", "right"),
    ):  # fmt: skip
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    for n in report["networks"]:
        numbers = (
            len(n["layers"]), n["macs"], n["flash_bytes"], n["ram_bytes"], n["arena_bytes"],
            n["arena_lower_bound_bytes"], n["stack_bytes"],
        )  # fmt: skip
        table.add_row(escape(n["name"]), *(f"{number:,}" for number in numbers))
    out.print(table)
    out.print(
        f"firmware for {report['board']}: {report['firmware_flash_bytes']:,} bytes of flash, "
        f"{report['firmware_ram_bytes']:,} bytes of RAM"
    )
    for m in report["memories"]:
        out.print(f"  {m['name']:<10} {m['used']:>11,} of {m['size']:>11,} bytes of {m['kind']}")
    out.print(f"in {escape(str(folder))}: " + ", ".join(_products(report)))


def _products(report: dict[str, Any]) -> list[str]:
    objects = [f"network_{n['name']}.o" for n in report["networks"]]
    return [*objects, "libmcu_crt.a", "firmware.elf", "bench.elf", "report.json"]


def _explain(rows: list[dict[str, Any]]) -> None:
    """A line for each node; below it who else could compute it, and who does not and why."""
    columns = [("layer", "part", "operator", "backend", "chosen by", "estimate", "name")]
    notes: list[list[str]] = [[]]
    for row in rows:
        own = [c for c in row["candidates"] if c["backend"] == row["backend"]]
        others = [c for c in row["candidates"] if c["backend"] != row["backend"]]
        columns.append(
            (
                "view" if row["step"] is None else str(row["step"]),
                "" if row["partition"] is None else str(row["partition"]),
                row["op"], row["backend"], row["chosen_by"],
                _cost(own[0]) if own else "", shorten(row["name"], 40),
            )
        )  # fmt: skip
        notes.append(
            [f"{c['backend']} could{_price(c)}" for c in others]
            + [f"{r['backend']} does not: {r['reason']}" for r in row["refusals"]]
        )
    widths = [max(len(line[i]) for line in columns) for i in range(len(columns[0]))]
    for number, (line, remarks) in enumerate(zip(columns, notes, strict=True)):
        cells = [
            text.rjust(width) if title in ("layer", "part", "estimate") else text.ljust(width)
            for title, text, width in zip(columns[0], line, widths, strict=True)
        ]
        text = escape("  ".join(cells).rstrip())
        out.print(f"[bold]{text}[/]" if number == 0 else text)
        for remark in remarks:
            out.print(escape(f"{'':{widths[0] + widths[1] + 4}}{remark}"))
    out.print(
        "Estimates are the backends' own: modelled cycles, or else instructions. `mcu-deploy "
        "profile` counts instructions."
    )


def _price(candidate: dict[str, Any]) -> str:
    unit = "instructions" if candidate["cycles"] is None else "cycles"
    return f", for {_cost(candidate)} {unit}" if _cost(candidate) else ", for it does not say what"


def _cost(candidate: dict[str, Any]) -> str:
    """What is compared by --strategy cost; empty where the backend does not say."""
    known = candidate["cycles"] if candidate["cycles"] is not None else candidate["instructions"]
    return "" if known is None else f"{known:,}"
