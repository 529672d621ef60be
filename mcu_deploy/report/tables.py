"""Tables of what the API returns: aligned text at a prompt, HTML in a notebook.

A cell may hold what a model calls things, so in both it is one line of bounded length without
control characters, and in HTML it is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from mcu_deploy.errors import one_line, shorten

_LONGEST_CELL = 48
_LONGEST_LINE = 400


@dataclass(frozen=True)
class Table:
    """Rows under columns, a title above and notes below them.

    numbers: the columns that are set to the right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = field(default=frozenset())
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        rows = [self.columns, *(tuple(map(_cell, row)) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = (
            "  ".join(
                text.rjust(width) if title in self.numbers else text.ljust(width)
                for title, text, width in zip(self.columns, row, widths, strict=True)
            )
            for row in rows
        )
        around = [_line(self.title)], [*map(_line, self.notes)]
        return "\n".join([*around[0], *(line.rstrip() for line in lines), *around[1]])

    def _repr_html_(self) -> str:
        """The table as a notebook shows it, after IPython's display protocol."""
        return "\n".join(
            [
                f"<p>{escape(_line(self.title))}</p>",
                "<table>",
                f"<thead>{self._row('th', self.columns)}</thead>",
                "<tbody>",
                *(self._row("td", tuple(map(_cell, row))) for row in self.rows),
                "</tbody>",
                "</table>",
                *(f"<p>{escape(_line(note))}</p>" for note in self.notes),
            ]
        )

    def _row(self, tag: str, cells: tuple[str, ...]) -> str:
        sides = ("right" if title in self.numbers else "left" for title in self.columns)
        made = (
            f'<{tag} style="text-align: {side}">{escape(text)}</{tag}>'
            for side, text in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"


class Tabled:
    """A value that shows itself as a table."""

    def table(self) -> Table:
        """What it shows."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def number(value: int | None) -> str:
    """A count with commas; empty for None."""
    return "" if value is None else f"{value:,}"


def shown(value: float | None, places: int = 0) -> str:
    """A figure, or a dash where it is not known."""
    return "–" if value is None else f"{value:,.{places}f}"


def signed(value: float | None, places: int = 0) -> str:
    """A difference with its sign."""
    if value is None:
        return "–"
    return "0" if not value else f"{'+' if value > 0 else '−'}{abs(value):,.{places}f}"


def _cell(text: str) -> str:
    return shorten(one_line(text), _LONGEST_CELL)


def _line(text: str) -> str:
    return one_line(text, _LONGEST_LINE)
