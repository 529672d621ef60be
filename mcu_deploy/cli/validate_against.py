"""What `mcu-deploy validate FLOAT_MODEL --against BUILD` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcu_deploy.cli.console import FAILED, layer_lines, print_json, say
from mcu_deploy.cli.progress import working
from mcu_deploy.options import LIMIT_DB
from mcu_deploy.output.json_text import picked

if TYPE_CHECKING:
    from mcu_deploy.api.against import Against
    from mcu_deploy.api.running import Connection

_MOST_ALONE = 12


def compare(
    float_model: Path,
    build: Path,
    board: str | None,
    data: Path | None,
    limit: float | None,
    samples: int | None,
    model: str | None,
    connection: Connection,
    as_json: bool,
) -> bool:
    """Compares, prints, and says whether no layer parts."""
    from mcu_deploy.api import against
    from mcu_deploy.errors import UsageError

    if data is None:
        raise UsageError(
            "--against compares on samples that the float model is for, and none are given. Give "
            "them with --data: an .npz with in0, in1, ... of float32."
        )
    with working(f"comparing {build} with {float_model}"):
        result = against.validate_against(
            float_model, build, data, board=board, model=model,
            limit=LIMIT_DB if limit is None else limit,
            count=samples or against.SAMPLES, connection=connection,
        )  # fmt: skip
    if as_json:
        print_json({**result.report.as_json(), "against": _as_json(float_model, result)})
    else:
        _print(result)
    return result.passed


def _as_json(float_model: Path, result: Against) -> dict[str, Any]:
    parted, steepest = result.parted, result.steepest
    return {
        "float_model": str(float_model),
        **picked(result, "network", "where", "samples"),
        "samples_in_file": result.of,
        "data": result.origin,
        "limit_db": result.limit,
        **picked(result, "passed", "verdict"),
        "first_that_parts": None if parted is None else parted.of.short,
        "loses_most": None if steepest is None else steepest.of.short,
        "difference": None if result.difference is None else str(result.difference),
        "tensors": [
            {
                **picked(each.of, "layer", "short", "op", "name", "tensor"),
                "float_tensor": each.of.float_tensor.name,
                "sqnr_db": each.sqnr,
                "lost_db": each.drop,
                **picked(each, "cosine", "worst", "clipped"),
            }
            for each in result.layers
        ],
        "without_partner": [{"tensor": t, "reason": r} for t, r in result.only_here],
        "float_without_partner": [{"tensor": t, "reason": r} for t, r in result.only_there],
    }


def _print(result: Against) -> None:
    table = result.table()
    say(f"{result.network}: {result.where}")
    say(f"{result.samples} of {result.of} samples from {result.origin}")
    if result.built_anew:
        say("built anew without fusion and reuse, so that every tensor is there")
    say(*layer_lines(table.columns, table.rows, table.numbers, wide=False))
    _print_alone("in the network", result.only_here)
    _print_alone("in the float model", result.only_there)
    if result.difference is not None:
        say(str(result.difference), before=FAILED)
    colour = "bold green" if result.parted is None else "bold red"
    say(result.verdict, before=f"[{colour}]")


def _print_alone(what: str, alone: Sequence[tuple[str, str]]) -> None:
    """Tensors without a partner, those of one reason together."""
    from mcu_deploy.errors import shorten

    reasons: dict[str, list[str]] = {}
    for name, reason in alone:
        kind = "fused into another layer" if reason.startswith("fused") else reason
        reasons.setdefault(kind, []).append(shorten(name, 40))
    for reason, names in reasons.items():
        more = f" and {len(names) - _MOST_ALONE} more" if len(names) > _MOST_ALONE else ""
        shown = ", ".join(names[:_MOST_ALONE])
        say(f"without a partner {what}: {shown}{more}: {reason}")
