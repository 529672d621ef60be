"""What no placement can do without: buffers that all live together, less what pairs may share."""

from __future__ import annotations

from collections.abc import Iterable

from mcu_deploy.plan.placement.model import Instance, OutOfWork, PlacementProblem, Work


def clique_bound(problem: PlacementProblem, cliques: Iterable[Iterable[int]]) -> int:
    """The bytes that the largest of these sets of buffers covers at least, however it is placed.

    A set covers at least the sum of its sizes less what every two of it can share (Bonferroni's
    inequality), so the bound holds with overlaps too. For sets of buffers that must all be apart,
    such as those that live at one step, it is their sum.
    """
    instance = Instance.of(problem)
    return problem.alignment * max((_cover(instance, set(c)) for c in cliques), default=0)


def greedy_bound(instance: Instance, work: Work) -> int:
    """The bound of cliques that are grown from each buffer, largest neighbours first, in units."""
    best = max(instance.sizes, default=0)
    covered: set[int] = set()
    try:
        for buffer in sorted(range(len(instance.sizes)), key=lambda i: (-instance.sizes[i], i)):
            if buffer not in covered:
                clique, size = _grow(instance, buffer, work)
                covered |= clique
                best = max(best, size)
    except OutOfWork:
        pass
    return best


def _grow(instance: Instance, buffer: int, work: Work) -> tuple[set[int], int]:
    """A clique around a buffer, and what it covers."""
    clique, size = {buffer}, instance.sizes[buffer]
    near = {other for other, _, _ in instance.bans[buffer]}
    for other in sorted(near, key=lambda i: (-instance.sizes[i], i)):
        work.spend(len(instance.bans[other]))
        gain = instance.sizes[other] - _shared(instance, other, clique)
        if gain > 0:
            clique.add(other)
            size += gain
    return clique, size


def _cover(instance: Instance, clique: set[int]) -> int:
    together = sum(instance.sizes[i] for i in clique)
    # Each pair is seen from both of its ends.
    return together - sum(_shared(instance, i, clique - {i}) for i in clique) // 2


def _shared(instance: Instance, buffer: int, others: set[int]) -> int:
    """What a buffer can share at most with each of others, summed."""
    size, sizes = instance.sizes[buffer], instance.sizes
    most = {other: min(size, sizes[other]) for other in others}
    for other, low, high in instance.bans[buffer]:
        if other in most:  # each of a pair's intervals alone is a bound
            most[other] = min(most[other], _overlap(size, sizes[other], low, high))
    return sum(most.values())


def _overlap(size: int, other: int, low: int, high: int) -> int:
    """The most that [d, d + size) and [0, other) share over all d that are not in (low, high)."""
    # It falls on both sides of the ds at which the smaller one lies inside of the larger one.
    inside = (min(0, other - size), max(0, other - size))
    if low < inside[0] and inside[1] < high:
        return max(0, min(low + size, other), min(size, other - high))
    return min(size, other)
