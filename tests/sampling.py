"""What of a list is in the sample that `make test` runs; the rest is for the whole matrix."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

import hypothesis
import hypothesis.strategies
import pytest

from mcu_deploy.boards import Board, list_boards

T = TypeVar("T")

# All that UTF-8 has, as `text` takes it by itself, which looks at each of the million for it.
CHARACTERS = hypothesis.strategies.characters(exclude_categories=("Cs",))


def first(names: Sequence[Any], count: int = 1) -> list[Any]:
    """The first of these are in the sample."""
    rest = (name if isinstance(name, tuple) else (name,) for name in names[count:])
    return [*names[:count], *(pytest.param(*name, marks=pytest.mark.matrix) for name in rest)]


@functools.cache
def every_board() -> tuple[Board, ...]:
    """All boards, read once for the lists of parameters of all files of tests."""
    return tuple(list_boards())


def one_of_each_core(boards: Sequence[str]) -> set[str]:
    """The first board of each core."""
    return _one_of_each(boards, lambda board: board.core)


def _one_of_each(boards: Sequence[str], kind: Callable[[Board], str]) -> set[str]:
    seen: dict[str, str] = {}
    for name in boards:
        seen.setdefault(kind(_by_name()[name]), name)
    return set(seen.values())


def on_renode() -> list[Any]:
    """The boards that Renode has; those with Helium where it has that."""
    marks = pytest.mark.needs_renode_helium
    return [
        pytest.param(board.name, marks=marks) if board.mve else board.name
        for board in every_board()
        if board.renode is not None
    ]


@functools.cache
def _by_name() -> dict[str, Board]:
    return {board.name: board for board in every_board()}


def by_core(boards: Sequence[str]) -> list[Any]:
    """One board of each core is in the sample: cores stand for boards."""
    return chosen(boards, one_of_each_core(boards))


def by_driver(boards: Sequence[str]) -> list[Any]:
    """One board of each driver of a serial line is in the sample."""
    return chosen(boards, _one_of_each(boards, lambda board: board.serial.driver))


def chosen(names: Iterable[T], sample: Collection[T]) -> list[Any]:
    """Of these names those are in the sample."""
    return [
        name if name in sample else pytest.param(name, marks=pytest.mark.matrix) for name in names
    ]


def examples(every: int, few: int = 15) -> int:
    """How many examples of a property are tried: a few in the sample, every with `--all`.

    For properties of which each example is dear.
    """
    return min(every, few) if is_sample() else every


def dear(every: int, few: int = 15) -> hypothesis.settings:
    """The settings of a property of which each example is dear: so many, always the same."""
    return hypothesis.settings(
        max_examples=examples(every, few), deadline=None, derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip


def is_sample() -> bool:
    """The sample repeats its examples, which tests/conftest.py says to hypothesis."""
    return hypothesis.settings.default.derandomize


def part(cases: Sequence[T], every: int, always: Collection[T] = ()) -> list[T]:
    """In the sample one of so many cases, and those that are asserted more of; all with `--all`.

    The first is the second: where kernels are run on the interpreter, the sample takes those from
    the first on, so that between them more of the cases are tried.
    """
    if not is_sample():
        return list(cases)
    return [c for n, c in enumerate(cases) if n % every == 1 or c in always]
