"""Assembler text that knows how often each instruction runs: a kernel's code and price in one.

Cycles are the Cortex-M4's (table.py, timing.py); the other cores of a kernel are priced like it.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mcu_deploy.backends.isa.encoding import size
from mcu_deploy.backends.isa.timing import TIMINGS, cycles

_TIMINGS = TIMINGS["cortex-m4"]
_LARGEST_ADDED = 4095
NOTE = "/*"


class Assembly:
    """Statements in their order. `cycles` are of all that was added.

    A statement that the table of instructions does not have is a ValueError.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._times = 1.0
        self._before = ""
        self._labels = 0
        self._targets = 0
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

    def target(self) -> None:
        """A place where a computed jump (BX) of this kernel goes to. The object keeps its name,
        `<function>.to<number>`: the analysis of the stack follows such jumps there alone."""
        self._targets += 1
        self._lines.append(f"$.to{self._targets}:")

    @property
    def digest(self) -> str:
        """Of the text, to know equal functions by."""
        return hashlib.sha256("\n".join(self._lines).encode()).hexdigest()[:16]

    @property
    def lines(self) -> tuple[str, ...]:
        """Statements, labels ("1:") and comments, each one a line."""
        return tuple(self._lines)


@functools.lru_cache(1 << 14)  # the same statements are written for many layers and prices
def _cycles(statement: str, before: str, taken: float) -> tuple[str, float]:
    """A statement's mnemonic and cycles."""
    mnemonic, _, operands = statement.partition(" ")
    return mnemonic, cycles(_TIMINGS, mnemonic, operands, before, taken)
