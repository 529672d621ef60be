"""The table of costs: a CSV file in the user's repository, a row a model, board and goal."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from mcu_deploy.errors import RequestError, one_line
from mcu_deploy.files.given import is_file, why_no_file
from mcu_deploy.output import write_file
from mcu_deploy.schema import Misfit, keys_of, made

Key = tuple[str, str, str]

_MOST_BYTES = 1 << 24
_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
_RENEW = "Renew it with `mcu-deploy ci --update`, or take it back from version control."


@dataclass(frozen=True)
class CostRow:
    """What a model costs on a board, built for a goal.

    flash, RAM and stack in bytes, of the network and the runtime alone, as in report.json;
    instructions and modelled cycles of one inference, None where nothing counts them, or the core
    has no timings. gcc, mcu_deploy: the versions that made the code.
    """

    model: str
    board: str
    goal: str
    flash_bytes: int
    ram_bytes: int
    stack_bytes: int
    instructions: int | None
    cycles: int | None
    macs: int
    gcc: str
    mcu_deploy: str

    @property
    def key(self) -> Key:
        return self.model, self.board, self.goal


COLUMNS = tuple(field.name for field in fields(CostRow))
_KEY = COLUMNS[:3]


def title(key: Key) -> str:
    """How people read about a row: kws on mps2-an386, kws on mps2-an386 for size."""
    model, board, goal = key
    return f"{model} on {board}" if goal == "balanced" else f"{model} on {board} for {goal}"


def table_text(rows: Iterable[CostRow]) -> str:
    """The table as CSV, rows in the order given; what is None is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(astuple(row) for row in rows)
    return text.getvalue()


def read_table(path: Path) -> dict[Key, CostRow]:
    """The rows of a table by their keys, in the order of the file.

    Raises RequestError for a file that is missing, no table, damaged, or of another version.
    """
    lines = _lines(path)
    head = lines[0] if lines else []
    if tuple(head[:3]) != _KEY:
        raise RequestError(
            f"{path} is no table of `mcu-deploy ci`: its first line does not begin with "
            f"{','.join(_KEY)}. Give another file as `table` in mcu-deploy.toml."
        )
    if tuple(head) != COLUMNS:
        raise RequestError(
            f"{path} was written by another version of mcu-deploy: it has the columns "
            f"{one_line(', '.join(head), 200)}, and this version's are {', '.join(COLUMNS)}. "
            f"{_RENEW}"
        )
    rows: dict[Key, CostRow] = {}
    for number, cells in enumerate(lines[1:], 2):
        row = _row(cells)
        if isinstance(row, str):
            raise RequestError(f"{path} is damaged: line {number} {row}. {_RENEW}")
        if row.key in rows:
            raise RequestError(
                f"{path} is damaged: line {number} has {' '.join(row.key)} again. {_RENEW}"
            )
        rows[row.key] = row
    return rows


def require_table(path: Path) -> None:
    """Raises RequestError where a file is in the place of a table that is none; a table may be
    damaged, or of another version."""
    if path.exists() and tuple((_lines(path) or [[]])[0][:3]) != _KEY:
        raise RequestError(
            f"{path} is no table of `mcu-deploy ci`, and is not overwritten. Give another file as "
            "`table` in mcu-deploy.toml, or remove it yourself."
        )


def renew_table(path: Path, rows: Iterable[CostRow]) -> None:
    """Writes a table. An earlier one is replaced, damaged or not."""
    require_table(path)
    write_file(path, table_text(rows).encode())


def _lines(path: Path) -> list[list[str]]:
    """The cells of the file's lines; empty lines are left out."""
    if not is_file(path):
        raise RequestError(
            f"The table {path} {why_no_file(path)}. `mcu-deploy ci --update` writes it: commit it."
        )
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES)
        return [line for line in csv.reader(io.StringIO(content.decode("utf-8-sig"))) if line]
    except (UnicodeDecodeError, csv.Error):
        return []


def _row(cells: list[str]) -> CostRow | str:
    """A row, or the clause that says what is wrong with it."""
    if len(cells) != len(COLUMNS):
        return f"has {len(cells)} cells and not {len(COLUMNS)}"
    given: dict[str, str | int | None] = {}
    for column, hint, cell in zip(COLUMNS, keys_of(CostRow).hints.values(), cells, strict=True):
        is_number = hint is not str and _NUMBER.fullmatch(cell)
        given[column] = int(cell) if is_number else cell
        if not cell and hint == int | None:
            given[column] = None
    try:
        row: CostRow = made(CostRow, given)
    except Misfit as misfit:
        return f"is wrong: {misfit}"
    return row
