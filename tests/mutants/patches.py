"""The table of mistakes in C sources: one line of a file, and what stands there instead."""

from __future__ import annotations

from pathlib import Path

from mutants.mutations import Mutation

TABLE = "tests/mutants/patches.tsv"


def patches(root: Path) -> list[Mutation]:
    """The table's, in its order. AssertionError: a line is not there, or more than once."""
    found = []
    for row in (root / TABLE).read_text(encoding="utf-8").splitlines():
        file, old, new = row.split("\t")
        text = (root / file).read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        (number,) = [n for n, line in enumerate(lines) if line.strip() == old] or [None]
        assert number is not None, f"{file} has no line `{old}`, which {TABLE} changes."
        lines[number] = lines[number].replace(old, new)
        found.append(Mutation(file, number + 1, "", old, new, "".join(lines)))
    return found
