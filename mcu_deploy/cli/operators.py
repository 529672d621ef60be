"""`mcu-deploy operators`: what each backend computes."""

from __future__ import annotations

import typer
from rich.table import Table

from mcu_deploy.cli.console import out, print_json
from mcu_deploy.cli.options import JsonOption


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("operators")(operators)


def operators(as_json: JsonOption = False) -> None:
    """List the operators that the interpreter knows, and how each is quantized."""
    from mcu_deploy.operators import label, registry
    from mcu_deploy.session import Session

    with Session() as session:
        backends = {b: set(session.registry.create(b).operators) for b in session.registry.ids}
    meanings = {
        "native": "integer arithmetic or a table",
        "real": "through float32",
        None: "float32 only",
    }
    rows = [
        {
            "operator": label(domain, name),
            "backends": [b for b, known in backends.items() if label(domain, name) in known],
            "quantized": "as TFLite-Micro has it"
            if domain == "tflite"
            else "elements are moved"
            if operator.moves is not None
            else meanings[operator.quantized],
        }
        for (domain, name), operator in sorted(registry().items())
        if domain != "mcu"
    ]
    if as_json:
        print_json({"operators": rows})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("operator", "backends", "quantized"):
        table.add_column(title)
    for row in rows:
        known_by = row["backends"]
        table.add_row(
            str(row["operator"]), ", ".join(known_by) or "at compile time only",
            str(row["quantized"]),
        )  # fmt: skip
    out.print(table)
