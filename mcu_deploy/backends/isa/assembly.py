"""Assembler text that knows how often each instruction runs: a kernel's code and price in one.

Cycles are the Cortex-M4's (table.py, timing.py); the other cores of a kernel are priced like it.
"""

from __future__ import annotations

import functools
import hashlib
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from mcu_deploy.backends.isa.encoding import size
from mcu_deploy.backends.isa.timing import TIMINGS, cycles

_TIMINGS = TIMINGS["cortex-m4"]
_LARGEST_ADDED = 4095
NOTE = "/*"
_WIDTH = 92  # of a row with its indentation, without quotes and the end of its line
# s16-s31; of "vcvt.f32.s32" s32 is a type.
_SAVED_FLOATS = re.compile(r"(?<![.\w])(?:s(?:1[6-9]|2\d|3[01])|d(?:[89]|1[0-5]))\b")


class Assembly:
    """Statements in their order. `cycles` are of all that was added.

    A statement that the table of instructions does not have is a ValueError.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._times = 1.0
        self._before = ""
        self._labels = 0
        self.cycles = 0.0

    def __call__(self, *statements: str) -> None:
        for statement in statements:
            self._add(statement, taken=0.0)

    def note(self, text: str) -> None:
        """A comment in the C text, for who reads the function. It is a part of the text by which
        functions are known to be equal, so it says nothing of one layer alone."""
        self._lines.append(f"{NOTE} {text} */")

    def _add(self, statement: str, taken: float) -> None:
        mnemonic, known = _cycles(statement, self._before, taken)
        self.cycles += self._times * known
        self._before = mnemonic
        self._lines.append(statement)

    def number(self, register: str, value: int) -> None:
        """A register becomes a number that is not negative."""
        self(f"movw {register}, #{value & 0xFFFF}")
        if value >> 16:
            self(f"movt {register}, #{value >> 16}")

    def add(self, register: str, value: int, free: str, source: str = "") -> None:
        """A register becomes the source, which is itself if none is given, plus any number. Where
        that is too large for an instruction, the register `free` is lost."""
        size, of = abs(value), source or register
        if size > _LARGEST_ADDED:
            self.number(free, size)
        if value or of != register:
            amount = free if size > _LARGEST_ADDED else f"#{size}"
            self(f"{'sub' if value < 0 else 'add'} {register}, {of}, {amount}")

    @property
    def bytes(self) -> int:
        """Of the code, all encodings taken as short as they can be."""
        return size([line for line in self._lines if not line.startswith(NOTE)])

    @contextmanager
    def repeat(self, times: float, again: str = "bne") -> Iterator[None]:
        """A loop, which runs so often, or does on average. Its statements end with what sets the
        flags; the branch is added."""
        label = self.label()
        self.place(label)
        self._times *= times
        yield
        # The branch is taken but for the last time.
        self._add(f"{again} {label}b", (times - 1) / times)
        self._times /= times

    def unroll(self, times: int, most: int, body: Callable[[], None], *again: str) -> None:
        """`body` so often: each by itself, or where these are more than `most`, half as many in a
        loop, behind those that it leaves. again: the flags of its branch."""
        together = most // 2
        has_loop = times > most
        for _ in range(times % together if has_loop else times):
            body()
        if has_loop:
            with self.repeat(times // together):
                for _ in range(together):
                    body()
                self(*again)

    @contextmanager
    def times(self, times: float) -> Iterator[None]:
        """Statements that run so often for each run of those around them, by their own branches."""
        outside, self._times = self._times, self._times * times
        yield
        self._times = outside

    @contextmanager
    def rarely(self) -> Iterator[None]:
        """Statements that hardly ever run."""
        with self.times(0):
            yield

    def label(self) -> str:
        self._labels += 1
        return str(self._labels)

    def place(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._before = ""

    @property
    def digest(self) -> str:
        """Of the text, to know equal functions by."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]

    def text(self, indent: int = 8) -> str:
        return rows_of(self._lines, indent)


@functools.lru_cache(1 << 14)  # the same statements are written for many layers and prices
def _cycles(statement: str, before: str, taken: float) -> tuple[str, float]:
    """A statement's mnemonic and cycles."""
    mnemonic, _, operands = statement.partition(" ")
    return mnemonic, cycles(_TIMINGS, mnemonic, operands, before, taken)


def rows_of(lines: Sequence[str], indent: int) -> str:
    """C string literals, a few statements each, and comments between them."""
    rows: list[str] = []
    row: list[str] = []  # the statements of the last one
    width, used, is_full = _WIDTH - indent, 0, True
    for line in lines:
        if line.startswith(NOTE):
            rows += ["; ".join(row)] if row else []
            rows += _comment(line, width)
            row, is_full = [], True
            continue
        is_label = line.endswith(":")
        if is_full or is_label or used + len(line) + 2 > width:
            rows += ["; ".join(row)] if row else []
            row, used = [line], len(line)
        else:
            row.append(line)
            used += len(line) + 2
        is_full = is_label
    rows += ["; ".join(row)] if row else []
    at = " " * indent
    return "\n".join(f"{at}{row}" if row.startswith(NOTE) else f'{at}"{row}\\n"' for row in rows)


@functools.lru_cache(1 << 10)
def _comment(note: str, width: int) -> list[str]:
    return [f"{NOTE} {part} */" for part in textwrap.wrap(note[3:-3], width - 4)]


def statement(code: Assembly, *values: str, indent: int = 4) -> str:
    """The C statement of a kernel's assembly, which gets four values in r0-r3, in any order.

    All other registers are the assembly's, so that these four are where they are, and lost.
    """
    operands = ", ".join(f'"+r"({value})' for value in values)
    # What the caller need not save is lost in any case.
    floats = 32 if _SAVED_FLOATS.search(code.text()) else 16
    lost = [*(f"r{n}" for n in range(4, 13)), "lr", *(f"s{n}" for n in range(floats))]
    lost += ["cc", "memory"]
    at = " " * (indent + 4)
    clobbers = textwrap.fill(
        ", ".join(f'"{name}"' for name in lost) + ");", 100,
        initial_indent=f"{at}: ", subsequent_indent=f"{at}  ",
    )  # fmt: skip
    begin = f"{' ' * indent}__asm__ volatile("
    return f"{begin}\n{code.text(indent + 4)}\n{at}: {operands}\n{at}:\n{clobbers}\n"


Statements = Mapping[str, tuple[Assembly, Sequence[str]]]


def placed(text: str, statements: Statements) -> str:
    """C with a statement for each line `@name` of it, indented as that is."""

    def of(match: re.Match[str]) -> str:
        code, values = statements[match[2]]
        return statement(code, *values, indent=len(match[1])).rstrip("\n")

    return re.sub(r"^( *)@(\w+)$", of, text, flags=re.MULTILINE)
