"""What of a list is in the sample that `make test` runs; the rest is for the whole matrix."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import hypothesis
import pytest

from mcu_deploy.boards import load_board


def first(names: Sequence[Any], count: int = 1) -> list[Any]:
    """The first of these are in the sample."""
    rest = (name if isinstance(name, tuple) else (name,) for name in names[count:])
    return [*names[:count], *(pytest.param(*name, marks=pytest.mark.matrix) for name in rest)]


def one_of_each_core(boards: Sequence[str]) -> set[str]:
    """The first board of each core."""
    seen: dict[str, str] = {}
    for name in boards:
        seen.setdefault(_core(name), name)
    return set(seen.values())


@functools.cache
def _core(board: str) -> str:
    return load_board(board).core


def by_core(boards: Sequence[str]) -> list[Any]:
    """One board of each core is in the sample: cores stand for boards."""
    stand_in = one_of_each_core(boards)
    return [
        name if name in stand_in else pytest.param(name, marks=pytest.mark.matrix)
        for name in boards
    ]


def examples(every: int, few: int = 15) -> int:
    """How many examples of a property are tried: a few in the sample, every with `--all`.

    For properties of which each example is dear. The sample repeats its examples, which
    tests/conftest.py says to hypothesis, so this asks hypothesis which of the two it is.
    """
    return min(every, few) if hypothesis.settings.default.derandomize else every
