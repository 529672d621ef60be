"""Laying out C text: wrapped lists, calls, commands and tables, as clang-format would."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

COLUMNS = 100


def wrap(head: str, items: Sequence[str], end: str, declaration: bool = False) -> str:
    """`head` (which ends in a bracket), the items separated by commas, and `end`.

    Continued lines are aligned behind the bracket. Where an item would not fit so, and in a call
    where it takes fewer lines, all items are in lines of their own, indented by four.
    """
    aligned = _lines(head, items, end, len(head))
    below = " " * (len(head) - len(head.lstrip()) + 4)
    broken = [head, *_lines(below, items, end, len(below))]
    fits = all(len(line) <= COLUMNS for line in aligned)
    fewer = len(aligned) <= len(broken) or declaration
    return "\n".join(aligned if fits and fewer else broken)


def _lines(first: str, items: Sequence[str], end: str, indent: int) -> list[str]:
    """The items behind `first`, as many in a line as fit."""
    lines = [first]
    for index, item in enumerate(items):
        text = item + (end if index == len(items) - 1 else ",")
        space = "" if index == 0 else " "
        if index and len(lines[-1] + space + text) > COLUMNS:
            lines.append(" " * indent)
            space = ""
        lines[-1] += space + text
    return lines if items else [first + end]


def fill(items: Iterable[str], indent: int = 4) -> str:
    """Items, a comma behind each, in lines that are as full as they can be."""
    lines: list[str] = []
    for item in items:
        text = f"{item},"
        if lines and len(lines[-1]) + 1 + len(text) <= COLUMNS:
            lines[-1] += f" {text}"
        else:
            lines.append(" " * indent + text)
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = (), gap: int = 2) -> list[str]:
    """Rows with their columns aligned and `gap` spaces between them; `right`: which flush right.

    Raises ValueError where rows differ in length.
    """
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((" " * gap).join(cells).rstrip())
    return lines


def paragraph(text: str) -> str:
    """A paragraph of a block comment at the left margin, each line with its asterisk."""
    lines = textwrap.wrap(text, COLUMNS - 3, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f" * {line}" for line in lines)


def macro_lines(lines: Sequence[str]) -> str:
    """The lines of a preprocessor definition, with aligned backslashes."""
    width = max(len(line) for line in lines) + 1
    return "\n".join([*(f"{line.ljust(width)}\\" for line in lines[:-1]), lines[-1]])


def shell_lines(words: Sequence[str], columns: int) -> list[str]:
    """A command in lines of at most `columns` that a shell joins again by their backslashes."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) + 2 <= columns:
            lines[-1] += f" {word}"
        else:
            lines.append(word if not lines else f"    {word}")
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def thousands(number: int) -> str:
    """A number as persons read it: 2,656,768."""
    return f"{number:,}"
