"""What does not fit, with the place where it stands."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from mcu_deploy.errors import one_line


class Misfit(Exception):
    """What does not fit. place: of the table, as a file has it; empty for the outermost one."""

    def __init__(self, place: str, clause: str) -> None:
        super().__init__(clause)
        self.place = place
        self._clause = clause

    @property
    def clause(self) -> str:
        return self._clause

    def inside(self, step: str) -> None:
        """Says where it stands: a key, or an index in brackets, of what was read before it."""
        dot = "" if self.place[:1] in ("", "[") else "."
        self.place = f"{step}{dot}{self.place}"

    def __str__(self) -> str:
        return f"{self.place}: {self.clause}" if self.place else self.clause

    @property
    def sentence(self) -> str:
        """The place and the clause, which ends as a sentence does."""
        return f"{self}" if self.clause.endswith(("?", ".", "!")) else f"{self}."

    def of(self, file: Path) -> str:
        """The sentence of a TOML file: its path, the table in brackets, and the clause."""
        place = f" [{self.place}]" if self.place else ""
        return f"{file}{place}: {Misfit('', one_line(self.clause)).sentence}"


class Clause(Misfit):
    """What is wrong with what was read, whose place is said by who reads it."""

    def __init__(self, clause: str) -> None:
        super().__init__("", clause)


class Unfit(Clause):
    """What is wrong with one value: a clause that goes on behind its key. It is one of the place
    of the table that has the key."""

    key, before = "", ""

    @property
    def clause(self) -> str:
        return f"{self.before}{self.key or 'it'} {self._clause}"

    def inside(self, step: str) -> None:
        if self.key[:1] in ("", "["):
            self.key = step + self.key
        else:
            super().inside(step)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error sentence: the nearest known word, or all of them."""
    words = list(known)
    plain = {known.lower(): known for known in words}
    near = difflib.get_close_matches(word.lower(), plain, n=1)
    if near:
        return f"did you mean {plain[near[0]]!r}?"
    return f"known here: {', '.join(words) or 'nothing'}"
