"""`mcu-deploy export`: a build's networks for other ecosystems' tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mcu_deploy.cli.console import print_json, say
from mcu_deploy.cli.options import JsonOption, completing, named_by, with_about
from mcu_deploy.cli.progress import working
from mcu_deploy.errors import UsageError
from mcu_deploy.exports.package import About


@with_about
def export(
    source: Annotated[Path, typer.Argument(help="A build folder, of a board or of --core.")],
    format: Annotated[
        str,
        typer.Option(
            "--format", "-f", help="Who takes it (docs/exports.md).",
            autocompletion=completing(named_by("exports.formats", "formats")),
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="The folder or the archive.", show_default="build/FORMAT/NAME"
        ),
    ] = None,
    *,
    about: About,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data", metavar="[NETWORK::]FILE",
            help="An .npz whose first sample the example runs; a made-up one by default.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Write a build's networks as a library or package for other ecosystems' tools."""
    from mcu_deploy.api import exporting

    if output == "":
        raise UsageError("The name of the output is empty; give one with -o.")
    with working(f"exporting {source}"):
        done = exporting.export(source, format, output, data=_data(data or []), **vars(about))
    if as_json:
        print_json(asdict(done) | {"path": str(done.path)})
        return
    networks = ", ".join(done.networks)
    say(f"{networks} for {done.format}, in {done.path}:")
    say(*(f"  {file}" for file in done.files))


def _data(given: list[str]) -> str | Mapping[str, str] | None:
    from mcu_deploy.api.several import SEPARATOR

    named = {}
    for text in given:
        network, separator, file = text.partition(SEPARATOR)
        if not separator and len(given) > 1:
            raise UsageError(f"Say of which network {text} holds samples: --data NETWORK::{text}.")
        if not separator:
            return text
        if network in named:
            raise UsageError(f"--data names the network {network} twice; give it one file.")
        named[network] = file
    return named or None
