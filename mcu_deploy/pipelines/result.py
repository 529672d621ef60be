"""What a pipeline found, and the sentences that say what of it is bad."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from mcu_deploy.output.json_text import picked
from mcu_deploy.pipelines.comparing import Change, TableComparison
from mcu_deploy.pipelines.configuration import BuildJob, Configuration
from mcu_deploy.pipelines.table import CostRow, title

_MOST_NAMED = 5


@dataclass(frozen=True)
class BuildOutcome:
    """What came of one build.

    row: its numbers; None where it was not built or not counted. done: what was done with it, in
    words. failures: sentences that begin with the step.
    """

    job: BuildJob
    row: CostRow | None
    done: str
    failures: tuple[str, ...]


@dataclass(frozen=True)
class PipelineResult:
    """What came of all builds, beside the table. no_table: a sentence, where it cannot be read."""

    configuration: Configuration
    outcomes: tuple[BuildOutcome, ...]
    comparison: TableComparison
    no_table: str = ""

    @property
    def rows(self) -> tuple[CostRow, ...]:
        """The numbers of all that was counted, in the order of the configuration."""
        return tuple(outcome.row for outcome in self.outcomes if outcome.row is not None)

    @property
    def failures(self) -> tuple[str, ...]:
        """What could not be built, checked or counted, or computes something else."""
        return tuple(f"{o.job}: {text}" for o in self.outcomes for text in o.failures)

    @property
    def growth(self) -> tuple[str, ...]:
        """What grew more than is allowed."""
        return tuple(
            f"{title(change.row)}: {change.title} grew by {percent(change).lstrip('+')}, from "
            f"{change.before:,} to {change.after:,}; allowed is {change.threshold:g} %."
            for change in self.comparison.grown
        )

    def advice(self, table: str) -> tuple[str, ...]:
        """What to do where the result is not that of the table; table: how that file is called."""
        compared, found = self.comparison, []
        update = self.configuration.update
        if compared.changes and compared.other_tools:
            tools = " and ".join(compared.other_tools)
            found.append(f"{table} was made with {tools}, and this is not: numbers change by that.")
        if self.failures:
            if self.no_table or compared.grown or compared.added:
                found.append(f"Mend what failed first: {update} renews {table} only without that.")
            return tuple(found)
        if self.no_table:
            return ()
        if compared.grown:
            found.append(f"Where it is wanted, {update} renews {table}: commit it.")
        if compared.added:
            keys = named(row.key for row in compared.added)
            found.append(f"{table} lacks {keys}: {update} adds that; commit it.")
        return tuple(found)

    @property
    def passed(self) -> bool:
        return not (self.failures or self.no_table or self.growth or self.comparison.added)

    @property
    def verdict(self) -> str:
        """The whole result in one clause."""
        count = len(self.outcomes)
        if failed := sum(bool(outcome.failures) for outcome in self.outcomes):
            return f"{failed} of {_builds(count)} failed"
        if self.no_table:
            return "there is no table to compare with"
        if grown := len({change.row for change in self.comparison.grown}):
            return f"{grown} of {_builds(count)} grew too much"
        if added := len(self.comparison.added):
            return f"{added} of {_builds(count)} not in the table"
        if changed := self.comparison.changed_rows:
            return f"{changed} of {_builds(count)} changed, none grew too much"
        return f"{_builds(count)}, as before"

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        compared = self.comparison
        return {
            "passed": self.passed,
            "verdict": self.verdict,
            "table": str(self.configuration.table),
            "failures": list(self.failures),
            "no_table": self.no_table or None,
            "growth": list(self.growth),
            "builds": [
                {
                    "model": outcome.job.model.name,
                    "board": outcome.job.board.name,
                    "goal": outcome.job.goal,
                    "done": outcome.done,
                    "failures": list(outcome.failures),
                    "numbers": None if outcome.row is None else asdict(outcome.row),
                }
                for outcome in self.outcomes
            ],
            "changes": [
                {
                    **dict(zip(("model", "board", "goal"), change.row, strict=True)),
                    **picked(change, "number", "before", "after", "percent", "threshold", "grew"),
                }
                for change in compared.changes
            ],
            "added": [asdict(row) for row in compared.added],
            "removed": [asdict(row) for row in compared.removed],
            "unchanged": compared.unchanged,
        }


def percent(change: Change) -> str:
    """The growth as text; empty where there is none in percent."""
    value = change.percent
    if value is None:
        return ""
    return f"{value:+.2f} %" if abs(value) >= 0.01 else f"{value:+.1g} %"


def named(keys: Iterable[tuple[str, str, str]]) -> str:
    """The first few rows by name, and how many more there are."""
    titles = [title(key) for key in keys]
    more = len(titles) - _MOST_NAMED
    return ", ".join(titles[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _builds(count: int) -> str:
    return f"{count} build" if count == 1 else f"{count} builds"
