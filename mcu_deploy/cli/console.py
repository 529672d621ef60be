"""How the commands print: rich for people, JSON for machines."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mcu_deploy.errors import McuDeployError, Refusal, escaped
from mcu_deploy.output.json_text import json_text

if TYPE_CHECKING:
    from mcu_deploy.report.floats import FloatLayer
    from mcu_deploy.report.tables import Table as Tabulated

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

# What lines begin with, for `say`.
FAILED, WARNING = "[bold red]failed:[/] ", "[yellow]warning:[/] "
_LEAST_NAME = 12
# So many layers in float are listed.
_MOST_FLOATS = 12


def say(*lines: str, before: str = "") -> None:
    """Prints lines, of which nothing is markup. before: markup in front of each."""
    for line in lines:
        out.print(before + escape(line))


def fold(line: str, indent: int = 0) -> None:
    """Prints a line, which is markup; a terminal gets it folded between words, all of it indented.

    Not for what has commands in it: where these are folded they cannot be copied.
    """
    if out.is_terminal:
        out.print(Padding.indent(line, indent), soft_wrap=False)
    else:
        out.print(" " * indent + line)


def fail(error: McuDeployError, as_json: bool = False) -> int:
    """Prints an error as one sentence, as JSON too where that is asked for; returns the exit code.

    With MCU_DEPLOY_DEBUG set in the environment the traceback is shown, for developers.
    """
    if os.environ.get("MCU_DEPLOY_DEBUG"):
        err.print_exception()
    err.print(f"[bold red]error:[/] {safe(str(error))}")
    try:
        if as_json:
            print_json({"error": _told(error)})
        print(end="", flush=True)
    except OSError:  # a full disk, or nobody reads: Python would say so once more when it ends
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    return error.exit_code


def _told(error: McuDeployError) -> dict[str, object]:
    told: dict[str, object] = {"kind": error.kind, "message": str(error)}
    if isinstance(error, Refusal):
        words = ("operator", "node", "reason")
        told["nodes"] = [dict(zip(words, node, strict=True)) for node in error.nodes]
        told["problems"] = list(error.problems)
    return told


def safe(text: str) -> str:
    """A text without markup, and without what a terminal obeys: files may be called anything."""
    return escape("\n".join(map(escaped, text.split("\n"))))


class _Warnings(logging.Handler):
    """Shows what the library warns of, one line each."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(WARNING + safe(record.getMessage()))


def show_warnings() -> None:
    """Lets warnings of the library reach the user."""
    logger = logging.getLogger("mcu_deploy")
    if not any(isinstance(handler, _Warnings) for handler in logger.handlers):
        logger.addHandler(_Warnings())
        logger.propagate = False
    warnings.showwarning = _show_warning


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    err.print(WARNING + escape(str(message)))


def layer_lines(
    titles: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str], wide: bool,
    spare: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """A table of layers as lines: the titles, then the rows.

    The last column holds the model's names and gets what the terminal leaves it, of each the end of
    its first part. Where that is too little, it is left out, and then the columns that are `spare`,
    one after the other, until the rest has room; with `wide` all are whole. numbers: the titles of
    the columns to the right.
    """
    columns = {title: cells for title, *cells in zip(titles, *rows, strict=True)}
    widths = {title: max(map(len, (title, *cells))) for title, cells in columns.items()}
    name = titles[-1]
    if not wide:
        widths[name] = min(widths[name], _LEAST_NAME)
        for title in (name, *spare):
            if sum(widths.values()) + 2 * (len(widths) - 1) > out.width:
                widths.pop(title, None)
        if name in widths:
            room = out.width - sum(widths.values()) - 2 * (len(widths) - 1) + widths[name]
            columns[name] = [_ending(text, room) for text in columns[name]]
            widths[name] = 0  # the last one needs no filling
    aligned = (
        [f"{text:{'>' if title in numbers else '<'}{width}}" for text in (title, *columns[title])]
        for title, width in widths.items()
    )
    return ["  ".join(row).rstrip() for row in zip(*aligned, strict=True)]


def _ending(name: str, longest: int) -> str:
    """The end of a name; of names that TFLite's converter joined by semicolons, of the first."""
    first = name.partition(";")[0] or name
    return first if len(first) <= longest else f"...{first[3 - longest :]}"


class _Table(Table):
    """A table that folds text only: a number that is folded reads as another one."""

    def add_row(self, *cells: Any, **style: Any) -> None:
        super().add_row(*cells, **style)
        for column, cell in zip(self.columns, cells, strict=False):
            if column.justify == "right":
                column.min_width = max(column.min_width or 0, len(Text.from_markup(cell)))


def table(*titles: str, right: Collection[str] = ()) -> Table:
    """An empty table; right: the titles of the columns of numbers."""
    made = _Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        side: Literal["left", "right"] = "right" if title in right else "left"
        made.add_column(title, justify=side, overflow="fold", min_width=len(title))
    return made


def drawn(given: Tabulated) -> Table:
    """A table of the API's, without its title and notes."""
    made = table(*given.columns, right=given.numbers)
    for row in given.rows:
        made.add_row(*map(escape, row))
    return made


def print_json(value: Any) -> None:
    """Prints a value as JSON on standard output, keys in the order given."""
    print(json_text(value, getattr(sys.stdout, "encoding", None) or "utf-8"), flush=True)


def float_lines(layers: Sequence[FloatLayer], count: int, network: str) -> list[str]:
    """What `float_layers` of a report says of one network: a headline, and a line for each."""
    if not layers:
        return []
    constants = sum(layer.constant_bytes for layer in layers)
    verb = "runs" if len(layers) == 1 else "run"
    lines = [
        f"{len(layers)} of {count} layers of this quantized model ({network}) {verb} in float, "
        f"with {constants:,} bytes of float constants:"
    ]
    for layer in layers[:_MOST_FLOATS]:
        lines.append(
            f"  {layer.short} ({layer.op}): {layer.reason}; it writes "
            f"{layer.tensor_bytes:,} bytes of float tensors"
        )
    if len(layers) > _MOST_FLOATS:
        lines.append(f"  and {len(layers) - _MOST_FLOATS} more; --json lists them all")
    return lines
