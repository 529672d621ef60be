"""`mcu-deploy ci`: what a repository's pipeline does, here and on a runner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from mcu_deploy.cli.console import FAILED, err, out, print_json, say, table
from mcu_deploy.cli.options import JsonOption, completing, either, with_workers
from mcu_deploy.cli.progress import working
from mcu_deploy.options.means import Workers
from mcu_deploy.pipelines.providers import NAMES

if TYPE_CHECKING:
    from mcu_deploy.pipelines.result import BuildOutcome, PipelineResult


RESULTS = "results.jsonl"  # in the output folder


@with_workers
def ci(
    init: Annotated[
        str | None,
        typer.Option(
            metavar=either(NAMES),
            help="Write the files of a pipeline, and do nothing else.",
            autocompletion=completing(lambda: NAMES),
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC", help="With --init: what pip installs on the runner to get mcu-deploy."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="mcu-deploy.toml by default."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Renew the table with the numbers of now.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write before, after and percent here, as Markdown."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where builds go, and the new numbers.")
    ] = Path("build/ci"),
    *,
    workers: Workers,
    as_json: JsonOption = False,
) -> None:
    """Build, check, validate and count all models of mcu-deploy.toml; compare with the table.

    Ends in 1 where anything fails, or costs more than the table and the threshold allow.
    """
    from mcu_deploy.errors import UsageError

    if init is not None:
        if config is not None or update or report is not None or workers.are_asked_for:
            raise UsageError("--init writes files and does nothing else; give it alone.")
        _init(init, source, as_json)
        return
    if source is not None:
        raise UsageError("--source is for the files that --init writes; give that, too.")
    _run(config, update, report, output, workers, as_json)


def _init(provider: str, source: str | None, as_json: bool) -> None:
    from mcu_deploy.pipelines.first import write_pipeline
    from mcu_deploy.pipelines.provider import provider_named

    written = write_pipeline(provider_named(provider), Path(), source)
    if as_json:
        print_json({"files": [str(file) for file in written.files], "notes": [*written.notes]})
        return
    say(*(f"wrote {file}" for file in written.files), *written.notes)
    say("`mcu-deploy ci --update` writes the table; commit it with these files.")


def _run(
    config: Path | None, update: bool, report: Path | None, output: Path, workers: Workers,
    as_json: bool,
) -> None:  # fmt: skip
    from mcu_deploy.api.pipelines import run_pipeline
    from mcu_deploy.errors import McuDeployError, RequestError
    from mcu_deploy.output import require_writable, write_file
    from mcu_deploy.pipelines.configuration import FILE, read_configuration
    from mcu_deploy.pipelines.markdown import markdown, not_begun, remove_report
    from mcu_deploy.pipelines.table import renew_table, require_table, table_text

    if report is not None:
        remove_report(report)  # a runner shows what it finds, also where this is stopped
    try:
        configuration = read_configuration(config or Path(FILE))
        if update:
            require_table(configuration.table)
            require_writable(configuration.table)
    except McuDeployError as error:
        if report is not None and not report.exists():
            write_file(report, not_begun(str(error)).encode())
        raise
    now = output / configuration.table.name
    if now.exists() and configuration.table.exists() and now.samefile(configuration.table):
        raise RequestError(
            f"{now} is the table itself, and --output's folder gets the new numbers by that name: "
            "give another folder."
        )
    if report is not None:
        inputs = [job.model.file for job in configuration.jobs]
        require_writable(report, [configuration.path, configuration.table, *inputs])
    require_writable(now)
    now.unlink(missing_ok=True)

    def show(outcome: BuildOutcome) -> None:
        if not as_json:
            text = f"{outcome.job}: {outcome.done or 'not built'}"
            say(text, before="[red]" if outcome.failures else "")

    with working("building and running"):
        result = run_pipeline(
            configuration, output, finished=show, workers=workers,
            results=output / RESULTS if workers.are_asked_for else None,
        )  # fmt: skip
    write_file(now, table_text(result.rows).encode())
    if report is not None:
        write_file(report, markdown(result).encode())
    renewed = update and not result.failures
    if renewed:
        renew_table(configuration.table, result.rows)
    if as_json:
        print_json(result.as_json() | {"renewed": renewed})
    else:
        _print(result, renewed)
        if update and not renewed:
            err.print(f"{escape(configuration.table.name)} is as it was, as something failed.")
    if result.failures or not (renewed or result.passed):
        raise typer.Exit(1)


def _print(result: PipelineResult, renewed: bool) -> None:
    from mcu_deploy.pipelines.comparing import NUMBERS
    from mcu_deploy.pipelines.result import named, percent
    from mcu_deploy.pipelines.table import title

    compared = result.comparison
    numbers = table("", *NUMBERS.values(), right=NUMBERS.values())
    for row in result.rows:
        values = (getattr(row, number) for number in NUMBERS)
        numbers.add_row(title(row.key), *("" if v is None else f"{v:,}" for v in values))
    out.print(numbers)
    if compared.changes:
        changes = table("changed", "", "before", "after", "", right=("before", "after", ""))
        for change in compared.changes:
            cells = ("" if v is None else f"{v:,}" for v in (change.before, change.after))
            style = "bold red" if change.grew else None
            changes.add_row(title(change.row), change.title, *cells, percent(change), style=style)
        out.print(changes)
    name = result.configuration.table.name
    if compared.removed:
        gone = named(row.key for row in compared.removed)
        say(f"{name} has {gone}, which nothing asks for any more.")
    if renewed:
        say(f"{name} is renewed: commit it.")
        return
    missing = [result.no_table] if result.no_table else []
    say(*result.failures, *missing, *result.growth, before=FAILED)
    say(*result.advice(name))
    verdict = "[bold green]passed[/]" if result.passed else "[bold red]failed[/]"
    say(f": {result.verdict}", before=verdict)
