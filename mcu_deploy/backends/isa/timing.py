"""Modelled cycles: what instructions take by the table, between their neighbours.

Zero wait states, no cache, no contention for a bus: figures of one core compare with each other,
and are no measurement of a chip.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mcu_deploy.backends.isa.instruction import Instruction, Shape
from mcu_deploy.backends.isa.table import TABLE, TimingRule, split
from mcu_deploy.elf import disassembly


@dataclass(frozen=True, eq=False)
class Timings:
    """A core whose cycles are known: the column of its numbers in the table, how many cycles its
    pipeline takes to refill behind a branch, whether a load behind a load takes one cycle, and
    whether nearly all instructions have 16 bits, which name r0 to r7; has_vectors: whether it has
    Helium, whose instructions count one here."""

    core: str
    column: int
    refill: int
    pairs_loads: bool
    is_narrow: bool = False
    has_vectors: bool = False


_M4 = Timings("cortex-m4", 2, 2, True)
# The M7, M33, M55 and M85 stand here as cores whose cycles are known: they have models of their own
# (models.py).
_M55 = Timings("cortex-m55", 2, 2, True, has_vectors=True)
TIMINGS = {
    "cortex-m0plus": Timings("cortex-m0plus", 0, 1, False, is_narrow=True),
    "cortex-m3": Timings("cortex-m3", 1, 2, True),
    "cortex-m4": _M4,
    "cortex-m7": _M4,
    "cortex-m33": _M4,
    "cortex-m55": _M55,
    "cortex-m85": _M55,
}


def cycles(
    timings: Timings, mnemonic: str, operands: str = "", before: str = "", taken: float = 1.0
) -> float:
    """The cycles of an instruction as objdump prints it.

    before: the mnemonic that stands in front of it; taken: of a conditional branch, in which share
    of its executions it is taken. ValueError, a sentence: the table has no cycles of it.
    """
    shape = Shape(
        operands=operands.count(",") + 1,
        words=_words(operands) if "{" in operands else 0,
        is_jump=operands.startswith("pc"),
        lists_pc="pc" in operands.partition("{")[2],
    )
    return _cycles(timings, mnemonic, shape, before, taken)


def cycles_of(
    timings: Timings, instruction: Instruction, before: str = "", taken: float = 1.0
) -> float:
    """As `cycles`, of an instruction of a kernel."""
    return _cycles(timings, instruction.mnemonic, instruction.shape, before, taken)


@functools.lru_cache(1 << 12)
def _cycles(timings: Timings, mnemonic: str, shape: Shape, before: str, taken: float) -> float:
    name, condition = split(mnemonic)
    row = TABLE.get(name)
    known = row.cycles[timings.column] if row is not None else None
    if row is not None and known is None and timings.has_vectors:
        known = 1.0
    if row is None or known is None:
        raise ValueError(
            f"the table of instructions has no cycles of {mnemonic!r} on {timings.core}: "
            "correct the mnemonic, or give it a row in backends/isa/table.py"
        )
    if shape.is_jump:
        return known + timings.refill
    match row.rule:
        case TimingRule.LOAD:
            earlier = TABLE.get(split(before)[0])
            if timings.pairs_loads and earlier is not None and earlier.rule is TimingRule.LOAD:
                return known - 1
        case TimingRule.LIST:
            return known + shape.words + (2 if shape.lists_pc else 0)
        case TimingRule.BRANCH:
            is_conditional = condition or name in ("cbz", "cbnz")
            return known + timings.refill * (taken if is_conditional else 1)
        case TimingRule.MOVE:
            return known + (shape.operands > 2)
    return known


def _words(operands: str) -> int:
    """How many words a list of registers has: "r0!, {r1, r4-r7, lr}" has 6."""
    words = 0
    for part in operands.partition("{")[2].rstrip("}").split(","):
        kind, *numbers = re.findall(r"^[a-z]+|\d+", part.strip())
        first, last = (*numbers, *numbers)[:2] if "-" in part else (0, 0)
        words += (int(last) - int(first) + 1) * (2 if kind == "d" else 1)
    return words


class TimedProgram:
    """The instructions of a linked file in the order of their addresses, with a core's timings."""

    def __init__(self, timings: Timings, code: Iterable[disassembly.Disassembled]) -> None:
        self._timings = timings
        self.core = timings.core
        self._before: dict[int, str] = {}
        self._at: dict[int, disassembly.Disassembled] = {}
        last = ""
        for instruction in sorted(code, key=lambda i: i.address):
            self._at[instruction.address] = instruction
            self._before[instruction.address] = last
            last = instruction.mnemonic

    def costs(self) -> Iterator[tuple[int, float, float]]:
        """Of each instruction that the table has cycles of: its address, its cycles where the code
        goes on behind it, and how many more it takes where it jumps."""
        for address, code in self._at.items():
            before = self._before[address]
            try:
                stays, jumps = (
                    cycles(self._timings, code.mnemonic, code.operands, before, taken)
                    for taken in (0.0, 1.0)
                )
            except ValueError:
                continue
            yield address, stays, jumps - stays

    def cycles(self, counts: Mapping[int, int]) -> int:
        """The modelled cycles of a run that executed each address so often.

        A branch was taken where the instruction behind it was executed less often. ValueError, a
        sentence: an instruction without cycles was executed.
        """
        total = 0.0
        for address, count in counts.items():
            code = self._at.get(address)
            if code is None:
                raise ValueError(
                    f"there is no known instruction at {address:#x}, which was executed"
                )
            taken = max(0.0, 1 - counts.get(code.next, 0) / count)
            before = self._before[address]
            total += count * cycles(self._timings, code.mnemonic, code.operands, before, taken)
        return round(total)
