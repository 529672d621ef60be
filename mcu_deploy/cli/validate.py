"""`mcu-deploy validate`: the board against the oracle and the format's own program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcu_deploy.cli import validate_against
from mcu_deploy.cli.console import FAILED, drawn, out, print_json, say
from mcu_deploy.cli.options import (
    JsonOption,
    ModelOption,
    OptionalBoard,
    SamplesOption,
    with_connection,
    with_shapes,
)
from mcu_deploy.cli.progress import working
from mcu_deploy.options import LAYERS, LIMIT_DB, Options
from mcu_deploy.options.means import Connection
from mcu_deploy.output.json_text import picked

if TYPE_CHECKING:
    from mcu_deploy.agreement.layers import LayerComparison
    from mcu_deploy.agreement.second_opinion import Opinion
    from mcu_deploy.api.validating import Validation
    from mcu_deploy.report import Report


@with_connection
@with_shapes
def validate(
    source: Annotated[
        Path, typer.Argument(help="A build folder, or a model file; with --against the float one.")
    ],
    board: OptionalBoard = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="BUILD",
            help="Compare the float model's tensors with those of this build of the quantized one, "
            "or of the model itself: which layer loses the accuracy (docs/quantize.md).",
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit",
            metavar="DB",
            help=f"With --against: a layer below this SQNR has parted; {LIMIT_DB:g}.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="An .npz with in0, in1, ...; made-up samples by default."),
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option(
            "--layers",
            help="built: every tensor that the build materialises; all: of a build without fusion "
            "and reuse (a model file is built that way).",
        ),
    ] = None,
    samples: SamplesOption = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="N,..",
            help="Of made-up samples, where each run decides a size; the least, half the largest "
            "and the largest by default.",
        ),
    ] = None,
    model: ModelOption = None,
    onnxruntime: Annotated[
        bool,
        typer.Option(
            "--onnxruntime/--no-onnxruntime",
            help="Compare with onnxruntime too; a TFLite model with LiteRT, where it is installed.",
        ),
    ] = True,
    *,
    connection: Connection,
    shapes: Options,
    as_json: JsonOption = False,
) -> None:
    """Compare a board's outputs with the interpreter, and with onnxruntime or LiteRT.

    Ends in 1 where they differ by more than docs/arithmetic.md allows; with --against where a
    layer parts from the float model.
    """
    from mcu_deploy.api import validating
    from mcu_deploy.api.folder import folder_for
    from mcu_deploy.api.sized import made_up, samples_in
    from mcu_deploy.errors import RequestError, UsageError
    from mcu_deploy.options.checked import require_word

    if against is not None:
        if layers is not None:
            raise UsageError("--against compares every layer as it is; leave --layers out.")
        if shapes.shapes:
            raise UsageError("--against takes the shapes of the build; leave --shape out.")
        if not validate_against.compare(
            source, against, board, data, limit, samples, model, connection, as_json
        ):
            raise typer.Exit(1)
        return
    if limit is not None:
        raise UsageError("--limit says more of --against, and there is none; give one.")
    if layers is not None:
        require_word("--layers", layers, LAYERS)
    with folder_for(source, board, options=replace(shapes, layers_all=layers == "all")) as folder:
        if layers == "all" and not folder.report.options.layers_all:
            raise RequestError(
                f"{source} was built with fusion and reuse. Build it with --layers all, or give "
                "the model file."
            )
        name = folder.network(model).name
        network = folder.compile_again(name)
        if data is not None and sizes is not None:
            raise UsageError("--data has samples, which have their sizes; leave --sizes out.")
        given = (
            made_up(network, _sizes(sizes)) if data is None else samples_in(data, network)
        ).first(samples)
        with working(f"validating {len(given)} samples on {folder.board.name}"):
            result = validating.validate(
                folder, given, model=name, layers=layers is not None, onnxruntime=onnxruntime,
                connection=connection,
            )  # fmt: skip
        if as_json:
            print_json(_as_json(folder.report, result))
        else:
            _print(name, folder.board.name, result)
    if not result.passed:
        raise typer.Exit(1)


def _sizes(text: str | None) -> list[int] | None:
    from mcu_deploy.errors import UsageError

    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        raise UsageError(f"--sizes={text} is no list of numbers; give it as --sizes 1,32,64.")
    return [int(word) for word in words]


def _as_json(report: Report, result: Validation) -> dict[str, Any]:
    layers = result.layers
    return {
        **report.as_json(),
        "validation": {
            **picked(result, "passed", "verdict", "problems", "notes", "where", "samples"),
            "data": result.origin,
            "reference": result.reference,
            "stack_used_bytes": result.stack_used,
            "outputs": [
                {
                    "name": name,
                    "rule": str(result.rules[i]),
                    "oracle": result.oracle[i].as_json(),
                    _program(result): result.onnxruntime[i].as_json()
                    if result.onnxruntime
                    else None,
                }
                for i, name in enumerate(result.outputs)
            ],
            "reference_layers": None
            if result.opinion is None
            else {
                "compared": result.opinion.compared,
                "left": list(result.opinion.left),
                "differences": [str(d) for d in result.opinion.disagreements],
            },
            "layers": None
            if layers is None
            else {
                "compared": layers.compared,
                "tensors": list(layers.tensors),
                "thinner": [
                    {"tensor": t, "axis": r.axis, "removed": list(r.indices), "of": r.size}
                    for t, r in layers.thinner
                ],
                "absent": [{"tensor": t, "reason": r} for t, r in layers.absent],
                "differences": [str(d) for d in layers.differences],
                "left": list(layers.left),
            },
        },
    }


def _program(result: Validation) -> str:
    """The key of the second opinion's numbers."""
    return "litert" if result.reference.startswith("LiteRT") else "onnxruntime"


def _print(name: str, board: str, result: Validation) -> None:
    from mcu_deploy.errors import shorten

    say(f"{name} on {board}: {result.where}")
    say(f"{result.samples} samples from {result.origin}")
    out.print(drawn(result.table()))
    if result.reference and not result.onnxruntime:
        say(result.reference)
    if result.stack_bound is not None:
        say(
            f"stack: {result.stack_used:,} bytes used of a bound of {result.stack_bound:,} "
            "(the whole firmware)"
        )
    if result.layers is not None:
        _print_layers(result.layers)
    for name, rule in zip(result.outputs, result.rules, strict=True):
        say(f"{shorten(name)}: allowed beside the oracle: {rule}")
    if result.opinion is not None:
        say(_opinion(_program(result), result.opinion))
    say(*result.notes)
    say(*result.problems, before=FAILED)
    if result.passed:
        say(result.verdict.removeprefix("passed"), before="[bold green]passed[/]")


def _opinion(program: str, opinion: Opinion) -> str:
    left = f", {len(opinion.left)} cannot be compared" if opinion.left else ""
    return (
        f"the oracle's layers beside {program}'s, each computed from the tensors there: "
        f"{opinion.compared} compared, {len(opinion.disagreements)} differ{left}"
    )


def _print_layers(layers: LayerComparison) -> None:
    say(
        f"layers: {len(layers.tensors)} tensors compared in every sample "
        f"({layers.compared} comparisons), {len(layers.differences)} differ"
    )
    if layers.thinner:
        count = sum(len(gone.indices) for _, gone in layers.thinner)
        total = sum(gone.size for _, gone in layers.thinner)
        say(
            f"  {len(layers.thinner)} of them lack {count:,} of their {total:,} channels, which "
            "are constant or not read (--json lists them; --layers all compares all)"
        )
    for sample in layers.left:
        out.print(f"  sample {sample} is of a size at which the network has other layers")
    reasons: dict[str, int] = {}
    for _, reason in layers.absent:
        kind = "fused into another layer" if reason.startswith("fused") else reason
        reasons[kind] = reasons.get(kind, 0) + 1
    for reason, count in reasons.items():
        more = "tensor of the model is" if count == 1 else "tensors of the model are"
        say(f"  {count} more {more} not compared: {reason}")
    say(*(f"  {difference}" for difference in layers.differences[:5]))
