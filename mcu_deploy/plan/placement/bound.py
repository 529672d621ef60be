"""What no placement can do without: buffers that all live together, less what pairs may share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcu_deploy.plan.placement.model import Instance, OutOfWork, PlacementProblem, Work

# By the number of another buffer, how many units a buffer can share with it.
_Shared = dict[int, int]


def clique_bound(problem: PlacementProblem, cliques: Iterable[Iterable[int]]) -> int:
    """The bytes that the largest of these sets of buffers covers at least, however it is placed.

    A set covers at least the sum of its sizes less what every two of it can share (Bonferroni's
    inequality), so the bound holds with overlaps too. For sets of buffers that must all be apart,
    such as those that live at one step, it is their sum.
    """
    instance = Instance.of(problem)
    shared = _shared(instance)
    covers = (_cover(instance.sizes, shared, sorted(set(c))) for c in cliques)
    return problem.alignment * max(covers, default=0)


def greedy_bound(instance: Instance, work: Work) -> int:
    """The bound of cliques that are grown from each buffer, largest neighbours first, in units."""
    best, shared = max(instance.sizes, default=0), _shared(instance)
    covered: set[int] = set()
    try:
        for buffer in sorted(range(len(instance.sizes)), key=lambda i: (-instance.sizes[i], i)):
            if buffer not in covered:
                clique, size = _grow(instance, shared, buffer, work)
                covered |= clique
                best = max(best, size)
    except OutOfWork:
        pass
    return best


def _grow(
    instance: Instance, shared: Sequence[_Shared], buffer: int, work: Work
) -> tuple[set[int], int]:
    """A clique around a buffer, and what it covers."""
    clique, size = {buffer}, instance.sizes[buffer]
    near = {other for other, _, _ in instance.bans[buffer]}
    for other in sorted(near, key=lambda i: (-instance.sizes[i], i)):
        work.spend(len(instance.bans[other]))
        gain = instance.sizes[other] - _with_all(instance.sizes, shared[other], other, clique)
        if gain > 0:
            clique.add(other)
            size += gain
    return clique, size


def _cover(sizes: Sequence[int], shared: Sequence[_Shared], clique: Sequence[int]) -> int:
    together = sum(sizes[buffer] for buffer in clique)
    return together - sum(
        _with_all(sizes, shared[buffer], buffer, clique[:number])
        for number, buffer in enumerate(clique)
    )


def _with_all(sizes: Sequence[int], shared: _Shared, buffer: int, others: Iterable[int]) -> int:
    """What a buffer can share at most with each of others, summed."""
    size = sizes[buffer]
    return sum(shared[o] if o in shared else min(size, sizes[o]) for o in others)


def _shared(instance: Instance) -> list[_Shared]:
    """For each buffer what it can share at most with each that it may not lie anywhere beside."""
    found: list[_Shared] = []
    for size, bans in zip(instance.sizes, instance.bans, strict=True):
        most: _Shared = {}
        for other, low, high in bans:  # each of a pair's intervals alone is a bound
            both = _overlap(size, instance.sizes[other], low, high)
            most[other] = min(most.get(other, both), both)
        found.append(most)
    return found


def _overlap(size: int, other: int, low: int, high: int) -> int:
    """The most that [d, d + size) and [0, other) share over all d that are not in (low, high)."""
    # It falls on both sides of the ds at which the smaller one lies inside of the larger one.
    inside = (min(0, other - size), max(0, other - size))
    if low < inside[0] and inside[1] < high:
        return max(0, min(low + size, other), min(size, other - high))
    return min(size, other)
