"""`mcu-deploy quantize`: a float32 model and samples become a model of int8."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from mcu_deploy.cli.console import drawn, out, print_json, say, table
from mcu_deploy.cli.options import (
    JsonOption,
    OptionalBoard,
    WideOption,
    with_quantizing,
    with_shapes,
)
from mcu_deploy.cli.progress import working
from mcu_deploy.options import Options
from mcu_deploy.options.quantizing import Quantizing
from mcu_deploy.output.json_text import picked

if TYPE_CHECKING:
    from mcu_deploy.api.quantizing import Quantized

_MOST_TRIED = 5
_MOST_LAYERS = 12


@with_shapes
@with_quantizing
def quantize(
    model: Annotated[Path, typer.Argument(help="An ONNX model of float32.")],
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            help="An .npz with in0, in1, ...: some hundreds of samples of what the model will see.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The new model, an .onnx file.")],
    labels: Annotated[
        str | None,
        typer.Option(
            help="The class of each sample, for top-1: an .npy, or an array's name in --data; "
            "labels by default, where that is there."
        ),
    ] = None,
    board: OptionalBoard = None,
    samples_output: Annotated[
        Path | None,
        typer.Option(
            "--samples-output",
            help="Where the samples go as the new model takes them, an .npz for `validate`.",
        ),
    ] = None,
    *,
    shapes: Options,
    quantizing: Quantizing,
    wide: WideOption = False,
    as_json: JsonOption = False,
) -> None:
    """Quantize a float32 model to int8, and say what that loses and gains.

    The ranges, equalisation and bias correction are those that are best on a third of the samples.
    """
    from mcu_deploy.api.quantizing import quantize

    with working("quantizing"):
        made = quantize(
            model, data, output, labels=labels, board=board, samples_output=samples_output,
            shapes=shapes.shapes, options=quantizing,
        )  # fmt: skip
    if as_json:
        print_json(_as_json(made))
    else:
        _print(made, wide)


def _as_json(made: Quantized) -> dict[str, Any]:
    return {
        "model": str(made.path),
        **picked(made, "bytes", "float_bytes"),
        "data": made.origin,
        **picked(made, "samples", "recipe"),
        "tried": [{"recipe": recipe, "sqnr_db": sqnr} for recipe, sqnr in made.trials],
        "judged_on_samples_kept_out": made.kept_out,
        "accuracy": [
            {
                "computed_by": each.what,
                "samples": each.samples,
                "top1": each.judged.top1,
                "sqnr_db": list(each.judged.sqnr),
                "cosine": list(each.judged.cosine),
            }
            for each in made.accuracy
        ],
        "borders": [asdict(border) for border in made.borders],
        "costs": {what: asdict(cost) for what, cost in made.costs},
        "sensitivity": [asdict(layer) for layer in made.sensitivity],
        **picked(made, "layers_in_float", "layers_in_16_bits", "notes"),
    }


def _print(made: Quantized, wide: bool) -> None:
    from mcu_deploy.errors import shorten

    shown = (lambda text: text) if wide else shorten
    thirds = "a third of them, that took no part" if made.kept_out else "each third of them"
    which = thirds if made.trials else "all of them"
    say(f"{made.samples} samples from {made.origin}, judged on {which}")
    if made.trials:
        _print_trials(made)
    out.print(drawn(made.table()))
    if made.sensitivity:
        _print_sensitivity(made, shown)
    if made.costs:
        _print_costs(made)
    say(*made.notes)
    for border in made.borders:
        scaled = ""
        if border.scale is not None:
            scaled = f", scale {border.scale:g}, zero point {border.zero_point}"
        say(f"{shown(border.name)}: {border.dtype}{scaled}")
    say(f"{made.path}: {made.bytes:,} bytes, {made.float_bytes:,} in float32; {made.recipe}")


def _print_trials(made: Quantized) -> None:
    """The best that were tried, and the one that was taken."""
    tried = sorted(made.trials, key=lambda t: -t[1])
    taken = max((name for name, _ in tried if made.recipe.startswith(name)), key=len)
    found = table("tried", "SQNR", "", right=("SQNR",))
    for place, (recipe, sqnr) in enumerate(tried):
        if place < _MOST_TRIED or recipe == taken:
            found.add_row(escape(recipe), f"{sqnr:.2f} dB", "taken" if recipe == taken else "")
    out.print(found)
    if dict(tried)[taken] < tried[0][1]:
        say("What has more dB than the one taken has it by less than so many samples can tell.")


def _print_sensitivity(made: Quantized, shown: Any) -> None:
    titles = ("layer", "operator", "MACs", "more bytes", "float32", "gain", "int16", "gain", "kept")
    found = table(*titles, right=titles[2:-1])
    for layer in made.sensitivity[:_MOST_LAYERS]:
        kept = "in float32" if layer.name in made.layers_in_float else ""
        kept = "in int16" if layer.name in made.layers_in_16_bits else kept
        found.add_row(
            escape(shown(layer.name)), layer.op, f"{layer.macs:,}", f"{layer.more_bytes:,}",
            f"{layer.sqnr:.2f} dB", f"{layer.gain:+.2f}",
            "" if layer.sqnr_16 is None else f"{layer.sqnr_16:.2f} dB",
            "" if layer.gain_16 is None else f"{layer.gain_16:+.2f}", kept,
        )  # fmt: skip
    out.print(found)
    if len(made.sensitivity) > _MOST_LAYERS:
        more = len(made.sensitivity) - _MOST_LAYERS
        say(f"and {more} more layers; --json lists them all")


def _print_costs(made: Quantized) -> None:
    titles = ("on the board", "flash", "RAM", "instructions", "modelled cycles", "float layers")
    found = table(*titles, right=titles[1:])
    for what, cost in made.costs:
        found.add_row(
            what, f"{cost.flash:,}", f"{cost.ram:,}",
            "" if cost.count is None else f"{cost.count:,}",
            "" if cost.cycles is None else f"{cost.cycles:,}", f"{len(cost.float_layers):,}",
        )  # fmt: skip
    out.print(found)
    for what, cost in made.costs:
        if what != "float32":
            say(*(f"  in float32: {layer}" for layer in cost.float_layers))
