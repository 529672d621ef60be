"""`mcu-deploy backends`: which backends there are, and what was skipped."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from mcu_deploy.cli.console import WARNING, fold, out, print_json, say, table
from mcu_deploy.cli.options import JsonOption, with_creation
from mcu_deploy.options.means import CreationOptions


@with_creation
def backends(
    *,
    creation: CreationOptions,
    as_json: JsonOption = False,
) -> None:
    """List the backends, where they come from, and those that were skipped with the reason."""
    from mcu_deploy.session import Session

    lines: list[str] = []
    with Session(options=creation, report=lines.append) as session:
        session.require_options()
        rows = _rows(session)
        skipped = [{"origin": s.origin, "id": s.id, "reason": s.reason} for s in session.skipped]
        # What has no file that it could be listed under: search paths that make no sense.
        told = {s.reason for s in session.skipped}
        warnings = [line for line in lines if not any(reason in line for reason in told)]
    if as_json:
        print_json({"backends": rows, "skipped": skipped, "warnings": warnings})
        return
    _print(rows, skipped, warnings)


def _rows(session: Any) -> list[dict[str, Any]]:
    from mcu_deploy.errors import BackendFault

    rows = []
    for name in session.registry.ids:
        try:
            backend = session.registry.create(name)
            rows.append(
                {
                    "id": backend.id,
                    "version": ".".join(map(str, backend.version)),
                    "origin": session.registry.origins.get(name, ""),
                    "cores": list(backend.cores),
                    "rank": backend.rank,
                    "operators": sorted(backend.operators),
                }
            )
        except BackendFault as fault:
            session.drop(fault, "It is left out.")
    return sorted(rows, key=lambda row: (row["rank"], row["id"]))


def _print(rows: list[dict[str, Any]], skipped: list[dict[str, Any]], warnings: list[str]) -> None:
    titles = ("id", "version", "rank", "cores", "operators")
    listed = table(*titles, right=("rank", "operators"))
    for row in rows:
        listed.add_row(
            escape(row["id"]), row["version"], str(row["rank"]),
            escape(", ".join(row["cores"]) or "all"), str(len(row["operators"])),
        )  # fmt: skip
    out.print(listed)
    for row in rows:
        origin = f", from {row['origin']}" if row["origin"] else ""
        out.print(f"\n[bold]{escape(row['id'])}[/]{escape(origin)}")
        fold(escape(", ".join(row["operators"]) or "it names no operators"), 2)
    if skipped:
        say("skipped", before="\n[bold]")
        say(*(f"  {entry['origin']}: {entry['reason']}" for entry in skipped))
    say(*warnings, before=WARNING)
