"""The words of a schedule: jobs, and stages of lanes that run at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """A layer. needs: the jobs (by number, all smaller) that must have run before it.

    cost: how long it takes, in any unit that all jobs share. alone: nothing may run beside it.
    """

    needs: frozenset[int]
    cost: int
    alone: bool = False


@dataclass(frozen=True)
class Stage:
    """Lanes that run at once, each a sequence of jobs by number; the next stage begins when all
    are done. No job of a lane needs one of another lane of the same stage."""

    lanes: tuple[tuple[int, ...], ...]


Schedule = Callable[[Sequence[Job]], tuple[Stage, ...]]
