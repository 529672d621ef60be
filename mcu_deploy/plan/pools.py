"""Several memories: which buffers the fast one gets, and where they lie in it.

Buffers of one pool share its bytes when they live at other times, as in a single arena, so whether
a set fits is a placement (`placement`), not a sum. Which set earns the most is a knapsack on top
of that: first by a few orders, then by taking back what was taken, within a fixed number of
placements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcu_deploy.errors import FitError, RequestError
from mcu_deploy.plan.placement import EFFORT, Placement, PlacementProblem, solve
from mcu_deploy.plan.placement.bound import greedy_bound
from mcu_deploy.plan.placement.model import Instance, Work

PLACEMENTS = 300  # how many sets of buffers are tried for a pool, beside those of the orders
FIT_EFFORT = 10_000  # the effort of a placement that only tells whether a set fits


@dataclass(frozen=True)
class Pool:
    """A memory that buffers may lie in.

    capacity: bytes, None for one that is checked later. speed: the larger, the faster; only
    the order counts.
    """

    name: str
    capacity: int | None
    speed: float = 1.0


@dataclass(frozen=True)
class PoolPlacement:
    """For each buffer the index of its pool and its offset in it; for each pool the bytes used."""

    pools: tuple[int, ...]
    offsets: tuple[int, ...]
    bytes: tuple[int, ...]


def assign(
    problem: PlacementProblem,
    benefits: Sequence[int],
    pools: Sequence[Pool],
    pinned: Mapping[int, str],
    labels: Sequence[str] = (),
) -> PoolPlacement:
    """Places all buffers, those with the most benefit in the fastest pool that has room.

    benefits: bytes that are read and written in a buffer over a run. pinned: the name of the pool
    that a buffer must lie in. labels: what errors call the buffers. If the fastest pool has room
    for all that may lie in it, it gets all. Raises UsageError where a pool that is named is not
    there, and FitError, which names pools, buffers and sizes, where something fits nowhere.
    """
    names = [pool.name for pool in pools]
    for buffer, name in pinned.items():
        if name not in names:
            raise RequestError(
                f"{_label(labels, buffer)} cannot lie in {name!r}: there is no such memory here; "
                f"choose one of: {', '.join(names)}."
            )
    filling = _Filling(problem, benefits, pools, labels)
    fixed = {buffer: names.index(name) for buffer, name in sorted(pinned.items())}
    filling.require_pinned_fit(fixed)
    # From the fastest pool on, each gets what earns the most of what is left. Where that leaves
    # something without room, what is hard to place comes first, from either end.
    fastest_first = filling.by_speed
    left_over: list[int] = []
    for order, choose in (
        (fastest_first, filling.most_benefit),
        (fastest_first, filling.largest),
        (fastest_first[::-1], filling.largest),
    ):
        placed, rest = filling.divide(fixed, order, choose)
        if not rest:
            return filling.place(placed)
        left_over = left_over or rest
    raise FitError(filling.complaint(left_over))


class _Filling:
    """Ways to divide the buffers among the pools. A division is the pool's index by buffer."""

    def __init__(
        self,
        problem: PlacementProblem,
        benefits: Sequence[int],
        pools: Sequence[Pool],
        labels: Sequence[str],
    ) -> None:
        self._problem = problem
        self._benefits = benefits
        self._pools = pools
        self._labels = labels
        self.by_speed = sorted(range(len(pools)), key=lambda p: (-pools[p].speed, p))
        self._known: dict[tuple[int, frozenset[int]], Placement] = {}
        self._degree = [1] * len(problem.sizes)
        for pair in {(i, j) for i, j, _, _ in problem.conflicts}:
            for buffer in pair:
                self._degree[buffer] += 1

    def divide(
        self,
        fixed: Mapping[int, int],
        order: Sequence[int],
        choose: Callable[[int, frozenset[int], Sequence[int]], frozenset[int]],
    ) -> tuple[dict[int, int], list[int]]:
        """A division, and who is left without a pool."""
        placed = dict(fixed)
        rest = [buffer for buffer in range(len(self._problem.sizes)) if buffer not in fixed]
        for pool in order:
            own = frozenset(buffer for buffer, p in fixed.items() if p == pool)
            everything = own | set(rest)
            if self._fits(pool, everything, thorough=True):
                chosen = everything
            else:
                chosen = choose(pool, own, rest)
            placed |= dict.fromkeys(sorted(chosen), pool)
            rest = [buffer for buffer in rest if buffer not in chosen]
        return placed, rest

    def most_benefit(self, pool: int, own: frozenset[int], rest: Sequence[int]) -> frozenset[int]:
        sizes, benefits, degree = self._problem.sizes, self._benefits, self._degree

        def by_density(buffer: int) -> float:
            return benefits[buffer] / max(sizes[buffer], 1)

        def by_area(buffer: int) -> float:
            # Who lives long stands in the way of many.
            return benefits[buffer] / max(sizes[buffer], 1) / degree[buffer]

        orders = [
            sorted(rest, key=lambda b: (-key(b), b))
            for key in (by_density, by_area, benefits.__getitem__)
        ]
        best = max((self._greedy(pool, own, order) for order in orders), key=self._worth)
        best = self._improve(pool, own, orders[0], best)
        return self._greedy(pool, best, [buffer for buffer in rest if buffer not in best])

    def largest(self, pool: int, own: frozenset[int], rest: Sequence[int]) -> frozenset[int]:
        order = sorted(rest, key=lambda b: (-self._problem.sizes[b], b))
        return self._greedy(pool, own, order)

    def _greedy(self, pool: int, own: frozenset[int], order: Iterable[int]) -> frozenset[int]:
        """Takes each buffer of the order that fits with those that were taken before."""
        chosen = own
        for buffer in order:
            if self._fits(pool, chosen | {buffer}):
                chosen |= {buffer}
        return chosen

    def _improve(
        self, pool: int, own: frozenset[int], order: Sequence[int], best: frozenset[int]
    ) -> frozenset[int]:
        """Branches on taking a buffer or not; what cannot earn more than the best is given up."""
        after = [0] * (len(order) + 1)
        for index in reversed(range(len(order))):
            after[index] = after[index + 1] + self._benefits[order[index]]
        waiting = [(0, own, self._worth(own))]
        most, tries = self._worth(best), PLACEMENTS
        while waiting and tries:
            index, chosen, worth = waiting.pop()
            if worth > most:
                best, most = chosen, worth
            if worth + after[index] <= most:
                continue
            waiting.append((index + 1, chosen, worth))
            tries -= 1
            buffer = order[index]
            if self._fits(pool, chosen | {buffer}):
                waiting.append((index + 1, chosen | {buffer}, worth + self._benefits[buffer]))
        return best

    def _worth(self, chosen: Iterable[int]) -> int:
        return sum(self._benefits[buffer] for buffer in chosen)

    def _fits(self, pool: int, members: frozenset[int], thorough: bool = False) -> bool:
        capacity, unit = self._pools[pool].capacity, self._problem.alignment
        if capacity is None or not members:
            return True
        placement = self._known.get((pool, members))
        if placement is None or (thorough and placement.bytes > capacity):
            part = part_of(self._problem, sorted(members))
            if greedy_bound(Instance.of(part), Work(FIT_EFFORT)) * unit > capacity:
                return False
            # To fit is enough here: `place` looks for the smallest.
            part = replace(part, lower_bound=max(part.lower_bound, capacity // unit * unit))
            placement = solve(part, effort=EFFORT if thorough else FIT_EFFORT)
            self._known[pool, members] = placement
        return placement.bytes <= capacity

    def require_pinned_fit(self, fixed: Mapping[int, int]) -> None:
        """Raises FitError where what must lie in a pool does not fit into it."""
        for number, pool in enumerate(self._pools):
            own = frozenset(buffer for buffer, p in fixed.items() if p == number)
            if not self._fits(number, own, thorough=True):
                verb = "does not fit" if len(own) == 1 else "do not fit together"
                raise FitError(
                    f"{self._list(sorted(own))} {verb} into {pool.name!r}, which has "
                    f"{pool.capacity} bytes; let another memory have some."
                )

    def place(self, placed: Mapping[int, int]) -> PoolPlacement:
        """The placement of a division in which everything fits."""
        offsets = [0] * len(self._problem.sizes)
        used = []
        for number in range(len(self._pools)):
            members = sorted(buffer for buffer, p in placed.items() if p == number)
            placement = solve(part_of(self._problem, members))
            fitting = self._known.get((number, frozenset(members)), placement)
            placement = min(placement, fitting, key=lambda found: found.bytes)
            for buffer, offset in zip(members, placement.offsets, strict=True):
                offsets[buffer] = offset
            used.append(placement.bytes)
        return PoolPlacement(
            tuple(placed[buffer] for buffer in range(len(offsets))), tuple(offsets), tuple(used)
        )

    def complaint(self, rest: Sequence[int]) -> str:
        """The sentence that says what fits nowhere."""
        pools = ", ".join(
            f"{pool.name!r} has {'no limit' if pool.capacity is None else f'{pool.capacity} bytes'}"
            for pool in (self._pools[p] for p in self.by_speed)
        )
        return (
            f"There is no room for {self._list(rest)} beside what lives at the same time: {pools}. "
            "Use a board with more memory, or a smaller model."
        )

    def _list(self, buffers: Sequence[int]) -> str:
        largest = sorted(buffers, key=lambda b: (-self._problem.sizes[b], b))
        named = [f"{_label(self._labels, b)} ({self._problem.sizes[b]} bytes)" for b in largest[:4]]
        if len(largest) > len(named):
            named.append(f"{len(largest) - len(named)} others")
        return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def part_of(problem: PlacementProblem, members: Sequence[int]) -> PlacementProblem:
    """Some buffers of a problem alone, in the order of `members` (ascending).

    The bound is that of the whole where all are in it, else 0: it says nothing of a part.
    """
    if len(members) == len(problem.sizes):
        return problem
    number = {buffer: index for index, buffer in enumerate(members)}
    conflicts = [
        (number[i], number[j], low, high)
        for i, j, low, high in problem.conflicts
        if i in number and j in number
    ]
    return PlacementProblem(tuple(problem.sizes[b] for b in members), conflicts, problem.alignment)


def _label(labels: Sequence[str], buffer: int) -> str:
    return repr(labels[buffer]) if labels else f"buffer {buffer}"
