"""`--memory compact`: buffers that move between layers, so that little more is needed than lives.

What may move is decided here; where to and when, by `compaction`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.compaction import Compaction, Interval, compact
from mcu_deploy.plan.lifetimes import Lifetimes
from mcu_deploy.plan.managed import buffers_of, exposed
from mcu_deploy.plan.model import Copy
from mcu_deploy.plan.storage import Run


def arrange(lives: Lifetimes, runs: Sequence[Run], members: Sequence[int]) -> Compaction:
    """Places some of the buffers in one pool, with moves where these save memory.

    In what comes out steps are positions of the program, and buffers are told by their index among
    the members.
    """
    staying = _staying(lives, runs)
    return compact([_interval(lives, runs, buffer, buffer not in staying) for buffer in members])


def _staying(lives: Lifetimes, runs: Sequence[Run]) -> set[int]:
    """The buffers that never move: those that somebody reaches between runs, and those that live
    across layers which a partition leaves out, with the moves before them.
    """
    staying = exposed(lives, runs)
    touched = [set(buffers_of(lives, item)) for item in lives.program]
    for item in lives.program:
        if isinstance(item, Copy):
            staying |= {lives.tensors[item.source].buffer, lives.tensors[item.target].buffer}
    for run in runs:
        used = set().union(*(touched[position] for position in run.positions))
        for buffer in used - staying:
            life = lives.buffers[buffer]
            if not run.positions >= set(range(life.first, life.last + 1)):
                staying.add(buffer)
    return staying


def _interval(lives: Lifetimes, runs: Sequence[Run], buffer: int, movable: bool) -> Interval:
    """The life of a buffer in all ways of running the network together."""
    life = lives.buffers[buffer]
    first, last = life.first, life.last
    for run in runs:
        if any(lives.tensors[edge].buffer == buffer for edge in run.begin):
            first = -1
        if any(lives.tensors[edge].buffer == buffer for edge in run.end):
            last = len(lives.program)
    return Interval(aligned(life.bytes), first, last, movable)
