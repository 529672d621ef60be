"""What a firmware is made of, as `mcu-deploy check` prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcu_deploy.cli.console import out, safe, table

if TYPE_CHECKING:
    from mcu_deploy.hygiene import FileReport, ImagePart

_NUMBERS = ("flash", "RAM")
_TITLES = {
    "runtime": "runtime",
    "library": "C library",
    "program": "program",
    "fill": "stacks, heap, alignment",
}


def show(file: FileReport) -> None:
    """Two tables: the parts, and the C library's functions that networks need."""
    networks = [name for part in file.parts if part.kind == "network" for name in part.networks]
    for model in file.models:
        own = [p for p in file.parts if p.kind == "network" and model.name in p.networks]
        if model.workspace_bytes and not sum(part.ram_bytes for part in own):
            out.print(
                f"    [yellow]note:[/] the workspace of {safe(model.name)}, "
                f"{model.workspace_bytes:,} bytes of RAM, is counted to the program that gives it"
            )
    shown = table("part", "flash", "RAM", "for", right=_NUMBERS)
    for part in file.parts:
        if part.flash_bytes or part.ram_bytes:
            is_network = part.kind == "network"
            shown.add_row(
                safe(", ".join(part.networks)) if is_network else _TITLES[part.kind],
                f"{part.flash_bytes:,}", f"{part.ram_bytes:,}",
                _users(part, networks) if part.kind in ("runtime", "library") else "",
            )  # fmt: skip
    flash, ram = sum(p.flash_bytes for p in file.parts), sum(p.ram_bytes for p in file.parts)
    shown.add_row("[bold]all[/]", f"[bold]{flash:,}[/]", f"[bold]{ram:,}[/]", "")
    out.print(shown)
    _show_functions(file.parts, networks)


def _show_functions(parts: Sequence[ImagePart], networks: Sequence[str]) -> None:
    libraries = [part for part in parts if part.kind == "library"]
    symbols = {piece.name: piece.symbol for part in libraries for piece in part.pieces}
    shown = table("C library", "flash", "RAM", "for", "asked for by", right=_NUMBERS)
    for part in libraries:
        for piece in part.pieces if part.networks else ():
            shown.add_row(
                safe(piece.symbol or piece.name), f"{piece.flash_bytes:,}",
                f"{piece.ram_bytes:,}", _users(part, networks),
                safe(symbols.get(piece.asked_by) or piece.asked_by),
            )  # fmt: skip
    if shown.row_count:
        out.print(shown)


def _users(part: ImagePart, networks: Sequence[str]) -> str:
    """Those that need a part, in words."""
    names = list(part.networks)
    if len(names) > 1 and len(names) == len(networks):
        names = ["all networks"]
    return safe(", ".join([*names, "program"] if part.program else names))
