"""`mcu-deploy report`: a build as a page to look at."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mcu_deploy.cli.console import drawn, out, print_json, say
from mcu_deploy.cli.options import JsonOption
from mcu_deploy.cli.progress import working


def report(
    source: Annotated[Path, typer.Argument(help="A build folder, of a board or of --core.")],
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write it as a page: one file, no network."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="OTHER", help="A build folder to set beside this one."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a build beside those for other goals, or another one; as a page, all that is known."""
    from mcu_deploy.api import reporting

    with working(f"reporting on {source}"):
        if html is None:
            done = reporting.make_report(source, compare_with=compare)
        else:
            done = reporting.write_report(source, html, compare_with=compare)
    saved, tables = done.folder.report, [done.front.table()]
    if done.comparison is not None:
        tables.append(done.comparison.table())
    if as_json:
        file = None if html is None else str(html)
        beside = () if done.comparison is None else done.comparison.totals
        print_json(
            {
                **saved.as_json(), "front": asdict(done.front),
                "beside": [asdict(total) for total in beside], "html": file,
            }
        )  # fmt: skip
        return
    out.print(drawn(saved.table()))
    say(*(line for network in saved.networks for line in network.size_lines()))
    for table in tables:
        say(table.title, before="[bold]")
        if table.rows:
            out.print(drawn(table))
    if html is not None:
        say(f"in {html}: the report, one page")
