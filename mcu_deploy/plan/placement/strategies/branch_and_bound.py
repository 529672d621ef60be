"""Exact: which of two buffers lies above the other is decided pair by pair, and taken back.

The question "do all fit within this height?" is asked for the known bound first, then by bisection.
Buffers that always find a place are left aside (`peel`), the rest falls apart into components, and
each of these is searched on its own (`Component`). A height that is disproved raises the bound;
when the budget ends, what was found until then counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcu_deploy.plan.placement.disjunctions import Component
from mcu_deploy.plan.placement.first_fit import UNPLACED, first_fit, peel
from mcu_deploy.plan.placement.model import Found, Instance, OutOfWork, Search, Work

NAME, RANK, SHARE = "branch-and-bound", 3, 0.7


def look(search: Search) -> Found:
    instance, best, left = search.instance, search.best, search.work.left
    # Nothing below `bound` is possible, nothing below `target` is worth a question any more.
    bound = low = target = search.bound
    while low < instance.height(best) and left > 0:
        # A hard height must not eat the time of the others.
        work = Work(left // 3 + 1)
        left -= work.left
        try:
            placed = within(instance, target, work)
            if placed:
                best = placed
            else:
                bound = low = target + 1
        except OutOfWork:
            low = target + 1
        left += max(work.left, 0)
        target = (low + instance.height(best) - 1) // 2
    return Found(best, bound)


def within(instance: Instance, height: int, work: Work) -> tuple[int, ...]:
    """Places within this height; empty where there are none. Raises OutOfWork where neither is
    known in time."""
    core, aside = peel(instance, height, work)
    places = [UNPLACED] * len(instance.sizes)
    for members in _components(instance, core):
        found = Component(instance, members, height, work).places()
        if not found:
            return ()
        for buffer, place in zip(members, found, strict=True):
            places[buffer] = place
    return tuple(first_fit(instance, aside, places))


def _components(instance: Instance, core: Sequence[int]) -> Iterator[list[int]]:
    """The parts of the core that have no pair in common, the smallest part first."""
    waiting, parts = set(core), []
    for start in core:
        if start in waiting:
            waiting.remove(start)
            part = [start]
            for buffer in part:  # grows while it is read
                near = [other for other, _, _ in instance.bans[buffer] if other in waiting]
                waiting.difference_update(near)
                part += near
            parts.append(sorted(part))
    yield from sorted(parts, key=len)
