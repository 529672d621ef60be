"""What changed between a table and the numbers of now, and what grew too much."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.pipelines.table import CostRow, Key

# The numbers of a row that have a threshold, and their names for people.
NUMBERS: Mapping[str, str] = {
    "flash_bytes": "flash",
    "ram_bytes": "RAM",
    "stack_bytes": "stack",
    "instructions": "instructions",
    "cycles": "modelled cycles",
}
# These only show that the model is another one.
_SHOWN = {**NUMBERS, "macs": "MACs"}


@dataclass(frozen=True)
class Change:
    """A number of a row that is another one now; None where there is none.

    number: its column. threshold: the growth in percent that is allowed; None for MACs.
    """

    row: Key
    number: str
    before: int | None
    after: int | None
    threshold: float | None

    @property
    def title(self) -> str:
        return _SHOWN[self.number]

    @property
    def percent(self) -> float | None:
        """The growth; None where one of both is not there, or it was 0."""
        if not self.before or self.after is None:
            return None
        return 100 * (self.after - self.before) / self.before

    @property
    def grew(self) -> bool:
        """Whether it grew by more than is allowed."""
        if self.threshold is None or self.before is None or self.after is None:
            return False
        return self.after > self.before and (self.percent is None or self.percent > self.threshold)


@dataclass(frozen=True)
class TableComparison:
    """A table beside the rows of now.

    changes: number by number. added: rows that the table has not; removed: rows of the table that
    nothing asks for any more. unchanged: how many rows are the same. other_tools: what made rows
    of the table that were compared, and did not make those of now: "gcc 12.2.1".
    """

    changes: tuple[Change, ...]
    added: tuple[CostRow, ...]
    removed: tuple[CostRow, ...]
    unchanged: int
    other_tools: tuple[str, ...]

    @property
    def grown(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.grew)

    @property
    def changed_rows(self) -> int:
        return len({change.row for change in self.changes})


def compare(
    before: Mapping[Key, CostRow],
    now: Sequence[CostRow],
    wanted: Collection[Key],
    thresholds: Mapping[str, float],
) -> TableComparison:
    """Compares rows with those of a table.

    wanted: the keys of all that was asked for, also of what could not be measured. thresholds: by
    column, in percent.
    """
    changes: list[Change] = []
    compared = [row for row in now if row.key in before]
    for row in compared:
        earlier = before[row.key]
        for number in _SHOWN:
            then, here = getattr(earlier, number), getattr(row, number)
            if then != here:
                changes.append(Change(row.key, number, then, here, thresholds.get(number)))
    tools = {tool: None for row in compared for tool in _tools(before[row.key])}
    ours = {tool for row in compared for tool in _tools(row)}
    return TableComparison(
        changes=tuple(changes),
        added=tuple(row for row in now if row.key not in before),
        removed=tuple(row for key, row in before.items() if key not in wanted),
        unchanged=len(compared) - len({change.row for change in changes}),
        other_tools=tuple(tool for tool in tools if tool not in ours),
    )


def _tools(row: CostRow) -> tuple[str, str]:
    return f"gcc {row.gcc}", f"mcu-deploy {row.mcu_deploy}"
