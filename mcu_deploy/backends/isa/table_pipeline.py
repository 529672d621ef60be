"""When a Cortex-M0+, M3 or M4 issues a kernel's instructions: one behind the other, each in the
cycles that Arm's manuals have for it (table.py), with zero wait states.

Beside its row an instruction's time depends on little:

- A load right behind a load takes one cycle, but on the Cortex-M0+.
- A list takes a cycle more for each register, and two more where PC is among them.
- A branch that is taken refills the pipeline, in two cycles, on the Cortex-M0+ in one.

What the manuals leave out is not in it: that an address or an operand is not there yet, and what
lies off a word.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.isa.instruction import Instruction, Shape
from mcu_deploy.backends.isa.model import Model, one_by_one
from mcu_deploy.backends.isa.table import TimingRule, row_of, split


@dataclass(frozen=True)
class Column:
    """A core of the table: its place in each row, the cycles in which its pipeline refills behind a
    branch, whether a load behind a load takes one cycle."""

    core: str
    place: int
    refill: int
    pairs_loads: bool = True


@dataclass(frozen=True)
class Issue:
    """An instruction as the core sees it. held: the cycles until the next one, where it does not
    jump by a condition; is_paired: whether that is one less behind a load."""

    held: float
    is_load: bool = False
    is_paired: bool = False


class Pipeline:
    """The core while it issues: `cycle` is the present one."""

    def __init__(self) -> None:
        self.cycle = 0.0
        self._loads = False

    def issue(self, issue: Issue) -> None:
        self.cycle += issue.held - (issue.is_paired and self._loads)
        self._loads = issue.is_load


def cycles(issues: Sequence[Issue], is_loop: bool) -> float:
    """As `one_by_one`."""
    return one_by_one(Pipeline(), issues, is_loop)


@functools.lru_cache(1 << 12)
def timed(column: Column, mnemonic: str, shape: Shape) -> Issue:
    """An instruction by its mnemonic and what its time depends on. ValueError, a sentence: the
    table has no cycles of it."""
    row = row_of(mnemonic, column.core, column.place)
    held = row.cycles[column.place]
    assert held is not None
    if shape.is_jump:
        return Issue(held + column.refill)
    match row.rule:
        case TimingRule.LOAD:
            return Issue(held, is_load=True, is_paired=column.pairs_loads)
        case TimingRule.LIST:
            return Issue(held + shape.words + (2 if shape.lists_pc else 0))
        case TimingRule.BRANCH:
            name, condition = split(mnemonic)
            may_stay = condition or name in ("cbz", "cbnz")
            return Issue(held if may_stay else held + column.refill)
        case TimingRule.MOVE:
            return Issue(held + (shape.operands > 2))
    return Issue(held)


def timed_text(column: Column, mnemonic: str, operands: str) -> Issue:
    """As `timed`, of an instruction as objdump prints it."""
    shape = Shape(
        operands=operands.count(",") + 1,
        words=_words(operands) if "{" in operands else 0,
        is_jump=operands.startswith("pc"),
        lists_pc="pc" in operands.partition("{")[2],
    )
    return timed(column, mnemonic, shape)


def _words(operands: str) -> int:
    """How many words a list of registers has: "r0!, {r1, r4-r7, lr}" has 6."""
    words = 0
    for part in operands.partition("{")[2].rstrip("}").split(","):
        kind, *numbers = re.findall(r"^[a-z]+|\d+", part.strip())
        first, last = (*numbers, *numbers)[:2] if "-" in part else (0, 0)
        words += (int(last) - int(first) + 1) * (2 if kind == "d" else 1)
    return words


def _model(column: Column, *, is_narrow: bool = False) -> Model:
    def issue_of(instruction: Instruction) -> Issue:
        return timed(column, instruction.mnemonic, instruction.shape)

    return Model(
        column.core, issue_of, Pipeline, cycles, taken=column.refill, left=0, counted_left=0,
        column=column.place, is_narrow=is_narrow,
    )  # fmt: skip


COLUMNS = {
    core: Column(core, place, refill, pairs_loads)
    for place, (core, refill, pairs_loads) in enumerate(
        (("cortex-m0plus", 1, False), ("cortex-m3", 2, True), ("cortex-m4", 2, True))
    )
}
M0PLUS = _model(COLUMNS["cortex-m0plus"], is_narrow=True)
M3, M4 = _model(COLUMNS["cortex-m3"]), _model(COLUMNS["cortex-m4"])
