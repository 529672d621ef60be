"""mcu-deploy check: are these objects safe to link, together, for this board?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from mcu_deploy.cli import check_parts
from mcu_deploy.cli.console import fold, out, print_json, safe, table
from mcu_deploy.cli.options import JsonOption, with_processor

if TYPE_CHECKING:
    from mcu_deploy.boards import Processor
    from mcu_deploy.hygiene import CheckReport, FileReport, Finding


@with_processor
def check(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Objects (.o), archives (.a), a firmware.elf."),
    ],
    *,
    processor: Processor | None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Nothing of files without findings.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Hold every object to the rules for a network's object."),
    ] = False,
    link_map: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE",
            help="The linker's map of the firmware (-Wl,-Map=FILE -Wl,--cref): what each network "
            "takes. By default the one beside it.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check objects: hygiene of each, collisions and ABI clashes of all.

    --board or --core says which core must be able to run the code. Of a firmware and its map: flash
    and RAM of each network, of what they share, of the program.

    Exit code: 0 clean, 1 findings, 2 for a file that is no object or is damaged.
    """
    from mcu_deploy.hygiene import check_files

    report = check_files(files, processor, strict=strict, link_map=link_map)
    if as_json:
        print_json(report.as_json())
    else:
        _print(report, quiet)
    raise typer.Exit(report.exit_code)


def _print(report: CheckReport, quiet: bool) -> None:
    by_file: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_file.setdefault(finding.file, []).append(finding)
    for file in report.files:
        findings = by_file.pop(file.file, [])
        if quiet and not findings:
            continue
        mark = f"[bold red]{_count(len(findings), 'finding')}[/]" if findings else "[green]ok[/]"
        fold(f"{mark}  [bold]{safe(file.file)}[/]  {safe(_summary(file))}")
        for finding in findings:
            where = f" {safe(finding.member)}:" if finding.member else ""
            fold(
                f"[red]{finding.rule}[/]{where} {safe(finding.message)}"
                f" [cyan]{safe(finding.remedy)}[/]",
                4,
            )
        for note in file.notes:
            fold(f"[yellow]note:[/] {safe(note)}", 4)
        if file.parts:
            check_parts.show(file)
        elif file.kind == "firmware" and file.models:
            out.print(_map_table(file))
    if len(report.files) > 1 and not quiet:
        total = len(report.findings)
        files = _count(len(report.files), "file")
        out.print(f"{files} checked: {_count(total, 'finding') if total else 'nothing found'}.")


def _summary(file: FileReport) -> str:
    """What the file is and what was checked, in one line."""
    if file.kind == "unreadable":
        return ""
    names = ", ".join(model.name for model in file.models)
    words = {
        "network": f"network {names}: symbols, sections, descriptor",
        "object": "object without a network" + (": ABI, collisions" if file.target else ""),
        "archive": f"archive of {_count(file.members, 'object')}"
        + (f" with {names}" if names else "")
        + ": ABI, collisions",
        "firmware": f"image with {_count(len(file.models), 'network')}: descriptors",
    }[file.kind]
    if file.instructions:
        words += f", {_count(file.instructions, 'instruction')}"
        words += f" against {file.core}" if file.core else ""
    return f"{words} ({file.target})" if file.target else words


def _map_table(file: FileReport) -> Table:
    sections = table("network", "section", "bytes", "memory", "symbols", right=("bytes", "symbols"))
    for model in file.models:
        for position, (section, size, writable) in enumerate(model.sections):
            sections.add_row(
                safe(model.name) if position == 0 else "",
                safe(section),
                f"{size:,}",
                "ram" if writable else "flash",
                f"{model.symbols}" if position == 0 else "",
            )
    return sections


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
