"""What a pipeline found, as Markdown for a comment or a summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mcu_deploy.pipelines.comparing import NUMBERS, Change
from mcu_deploy.pipelines.result import PipelineResult, percent
from mcu_deploy.pipelines.table import CostRow

# The first line, by which an earlier comment is found again.
MARKER = "<!-- mcu-deploy ci -->"

# A comment on GitHub has at most 65,536 characters.
_MOST_ROWS = 150
_MOST_TEXT = 12_000

_KEY = ("model", "board", "goal")


def markdown(result: PipelineResult) -> str:
    """The whole report: what failed, what changed with before, after and percent, what is new."""
    compared = result.comparison
    sign = "✅" if result.passed else "❌"
    parts = [[MARKER, f"### {sign} mcu-deploy: {result.verdict}"]]
    if failed := [*result.failures, *([result.no_table] if result.no_table else [])]:
        parts.append(_fenced(failed))
    if compared.changes:
        titles = (*_KEY, "", "before", "after", "change", "")
        parts.append(_table(titles, map(_change, compared.changes)))
    if compared.added and not result.no_table:
        parts += [["New:"], _numbers(compared.added)]
    if compared.removed:
        parts += [["In the table, and no longer asked for:"], _numbers(compared.removed)]
    if count := compared.unchanged:
        parts.append([f"{count} {'build is' if count == 1 else 'builds are'} unchanged."])
    parts += [[text] for text in result.advice(_cell(result.configuration.table.name))]
    if result.rows:
        parts += [["<details><summary>All numbers</summary>"], _all(result), ["</details>"]]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def not_begun(why: str) -> str:
    """The report of a run that could not begin."""
    lines = [MARKER, "### ❌ mcu-deploy: it could not begin", "", *_fenced([why])]
    return "\n".join(lines) + "\n"


def remove_report(path: Path) -> None:
    """Removes an earlier report, and no other file."""
    try:
        with path.open("rb") as file:
            is_report = file.read(len(MARKER)) == MARKER.encode()
    except OSError:
        return
    if is_report:
        path.unlink(missing_ok=True)


def _change(change: Change) -> tuple[str, ...]:
    over = f"over {change.threshold:g} %" if change.grew else ""
    before, after = _number(change.before), _number(change.after)
    return (*change.row, change.title, before, after, percent(change), over)


def _all(result: PipelineResult) -> list[str]:
    """Every build that was counted, and what was done with it."""
    counted = [(outcome.row, outcome.done) for outcome in result.outcomes if outcome.row]
    cells = ((*row.key, *map(_number, _values(row)), done) for row, done in counted)
    return _table((*_KEY, *NUMBERS.values(), ""), cells)


def _numbers(rows: Sequence[CostRow]) -> list[str]:
    cells = ((*row.key, *map(_number, _values(row))) for row in rows)
    return _table((*_KEY, *NUMBERS.values()), cells)


def _values(row: CostRow) -> list[int | None]:
    return [getattr(row, number) for number in NUMBERS]


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; a column with a title of numbers is to the right."""
    cells = [*rows]
    rules = ["---" if name in (*_KEY, "") else "--:" for name in titles]
    lines = [titles, rules, *([_cell(text) for text in row] for row in cells[:_MOST_ROWS])]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    more = len(cells) - _MOST_ROWS
    return [*shown, *(["", f"And {more} rows more."] if more > 0 else [])]


def _cell(text: str) -> str:
    """Text in a cell: no markup, no link, no person to be told."""
    return re.sub(r"([\\`\[\]<>|@#*])", r"\\\1", text)


def _fenced(sentences: Iterable[str]) -> list[str]:
    """Sentences as they are: they may name anything, and nothing in a fence is markup."""
    text = "\n".join(sentences)
    if len(text) > _MOST_TEXT:
        text = f"{text[:_MOST_TEXT]} ..."
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *text.splitlines(), fence]
