"""Assembler text that knows how often each instruction runs: a kernel's code and price in one.

Cycles are those of the Cortex-M4's manual (100166, table 3-1) with zero wait states: the other
cores of this backend are priced like it. Branches take one cycle, and two more when taken.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

_MULTIPLE = re.compile(r"(ldm|stm)")
_LOAD = re.compile(r"ldr[bh]?$")
_BRANCH = re.compile(r"(b|beq|bne|cbz)$")
_WIDTH = 84


class Assembly:
    """Statements in their order. `cycles` and `bytes` are of all that was added."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._times = 1.0
        self._before = ""
        self._labels = 0
        self.cycles = 0.0
        self.bytes = 0

    def __call__(self, *statements: str) -> None:
        for statement in statements:
            self._lines.append(statement)
            self.bytes += 4
            self.cycles += self._times * self._cost(statement, 0.0)

    @contextmanager
    def repeat(self, times: int, again: str = "bne") -> Iterator[None]:
        """A loop. Its statements end with what sets the flags; the branch is added."""
        label = self.label()
        self.place(label)
        self._times *= times
        yield
        self.cycles += self._times * self._cost(again, (times - 1) / times)
        self._times /= times
        self._lines.append(f"{again} {label}b")
        self.bytes += 4

    @contextmanager
    def rarely(self) -> Iterator[None]:
        """Statements that hardly ever run."""
        times, self._times = self._times, 0.0
        yield
        self._times = times

    def label(self) -> str:
        self._labels += 1
        return str(self._labels)

    def place(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._before = ""

    def _cost(self, statement: str, taken: float) -> float:
        name = statement.split()[0].split(".")[0]
        before, self._before = self._before, name
        if _MULTIPLE.match(name):
            return 1 + sum(_registers(r) for r in statement.split("{")[1].rstrip("}").split(","))
        if name in ("ldrd", "strd"):
            return 3
        if _LOAD.match(name):
            return 1 if _LOAD.match(before) else 2
        if _BRANCH.match(name):
            return 3 if name == "b" else 1 + 2 * taken
        return 2 if name == "vmov" and statement.count(",") == 2 else 1

    @property
    def digest(self) -> str:
        """Of the text, to know equal functions by."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]

    def text(self) -> str:
        """C string literals, a few statements each."""
        rows: list[str] = []
        for line in self._lines:
            is_apart = not rows or line.endswith(":") or rows[-1].endswith(":")
            if is_apart or len(rows[-1]) + len(line) + 2 > _WIDTH:
                rows.append(line)
            else:
                rows[-1] += f"; {line}"
        return "\n".join(f'        "{row}\\n"' for row in rows)


def _registers(names: str) -> int:
    first, *last = (int(n) for n in re.findall(r"\d+", names.replace("lr", "14")))
    return last[0] - first + 1 if last else 1


def statement(code: Assembly, *values: str) -> str:
    """The C statement of a kernel's assembly, which gets four values in r0-r3, in any order.

    All other registers are the assembly's, so that these four are where they are, and lost.
    """
    operands = ", ".join(f'"+r"({value})' for value in values)
    lost = [*(f"r{n}" for n in range(4, 13)), "lr", *(f"s{n}" for n in range(16)), "cc", "memory"]
    clobbers = textwrap.fill(
        ", ".join(f'"{name}"' for name in lost) + ");", 100,
        initial_indent="        : ", subsequent_indent=" " * 10,
    )  # fmt: skip
    return f"    __asm__ volatile(\n{code.text()}\n        : {operands}\n        :\n{clobbers}\n"
