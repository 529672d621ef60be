"""`mcu-deploy operators`: what each backend computes."""

from __future__ import annotations

from mcu_deploy.cli.console import out, print_json, table
from mcu_deploy.cli.options import JsonOption


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
    listed = table("operator", "backends", "quantized")
    for row in rows:
        known_by = row["backends"]
        listed.add_row(
            str(row["operator"]), ", ".join(known_by) or "at compile time only",
            str(row["quantized"]),
        )  # fmt: skip
    out.print(listed)
