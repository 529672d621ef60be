"""`mcu-deploy operators`: what each backend computes."""

from __future__ import annotations

from dataclasses import asdict

from rich.markup import escape

from mcu_deploy.cli.console import fold, out, print_json, table
from mcu_deploy.cli.options import JsonOption


def operators(as_json: JsonOption = False) -> None:
    """List the operators, who computes each, and how it is quantized (docs/operators.md)."""
    from mcu_deploy.api import listing
    from mcu_deploy.session import Session

    with Session() as session:
        found = listing.operators(session.registry)
    if as_json:
        print_json(
            {
                "operators": [asdict(row) for row in found.rows],
                "tflite": list(found.tflite),
                "forms": list(found.forms),
                "functions": list(found.functions),
            }
        )
        return
    listed = table("operator", "backends", "quantized")
    for row in found.rows:
        nobody = "the compiler" if row.in_compiler else "when the model is compiled"
        listed.add_row(row.operator, escape(", ".join(row.backends) or nobody), row.quantized)
    out.print(listed)
    fold(f"Read from TFLite files: {', '.join(found.tflite)}.")
    fold(f"Read as what they are made of: {', '.join(found.functions)}.")
    fold(f"Read as what they quantize: {', '.join(found.forms)}.")
