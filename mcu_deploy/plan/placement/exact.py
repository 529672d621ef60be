"""Exact: which of two buffers lies above the other is decided pair by pair, and taken back.

The question "do all fit within this height?" is asked for the known bound first, then by bisection.
Buffers that always find a place are left aside (`peel`), the rest falls apart into components, and
each of these is searched on its own. A height that is disproved raises the bound; when the budget
ends, what was found until then counts.

Within a height each buffer has a lowest and a highest place. A pair whose one way has become
impossible goes the other way, which narrows the places of both, and so on until nothing changes.
When all lie legally at their lowest places, these are the answer; if not, a pair that does not is
decided one way, and the other way is tried when the first fails. Every step rules out one way of
one pair, so the search ends. It is exact with overlaps too, where first fit in the best of all
orders may not be.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.ir.groups import connected
from mcu_deploy.plan.placement.first_fit import UNPLACED, first_fit, peel
from mcu_deploy.plan.placement.model import Instance, OutOfWork, Work

_OPEN, _BELOW, _ABOVE = 0, 1, 2


def search(
    instance: Instance, best: Sequence[int], bound: int, effort: int
) -> tuple[Sequence[int], int]:
    """Places no worse than `best`, and a bound no lower than `bound`."""
    # Nothing below `bound` is possible, nothing below `target` is worth a question any more.
    low, target, left = bound, bound, effort
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
    return best, bound


def within(instance: Instance, height: int, work: Work) -> list[int]:
    """Places within this height; empty where there are none. Raises OutOfWork where neither is
    known in time."""
    core, aside = peel(instance, height, work)
    places = [UNPLACED] * len(instance.sizes)
    inside = set(core)
    pairs = ((a, b) for a in core for b, _, _ in instance.bans[a] if b in inside)
    parts = (sorted(part) for part in connected(core, pairs))
    for members in sorted(parts, key=len):  # the smallest first
        found = _Component(instance, members, height, work).places()
        if not found:
            return []
        for buffer, place in zip(members, found, strict=True):
            places[buffer] = place
    return first_fit(instance, aside, places)


class _Component:
    """Buffers that hang together, to be placed within a height. One search, then it is used up."""

    def __init__(self, instance: Instance, members: Sequence[int], height: int, work: Work) -> None:
        number = {buffer: n for n, buffer in enumerate(members)}
        self._work = work
        self._low = [0] * len(members)
        self._high = [height - instance.sizes[buffer] for buffer in members]
        # Pairs (a, b, below, above): place[a] - place[b] is at most `below` or at least `above`.
        # Buffers with several intervals are a pair for each.
        self._pairs = [
            (number[a], number[b], below, above)
            for a in members for b, below, above in instance.bans[a] if a < b and b in number
        ]  # fmt: skip
        self._ways = [_OPEN] * len(self._pairs)
        self._near: list[list[int]] = [[] for _ in members]
        for pair, (a, b, _, _) in enumerate(self._pairs):
            self._near[a].append(pair)
            self._near[b].append(pair)
        # What was overwritten, newest last: (list, index, old value).
        self._trail: list[tuple[list[int], int, int]] = []

    def places(self) -> list[int]:
        """A place for each member, in their order; empty where there is none.

        Raises OutOfWork when the budget is spent before it is known.
        """
        if min(self._high) < 0 or not self._narrow(range(len(self._low))):
            return []
        decided: list[tuple[int, int, int]] = []  # (pair, the way that is left, length of trail)
        while (pair := self._next()) is not None:
            way = self._roomier(pair)
            decided.append((pair, _ABOVE + _BELOW - way, len(self._trail)))
            while not self._decide(pair, way):
                if not decided:
                    return []
                pair, way, length = decided.pop()
                self._undo(length)
        return self._low

    def _next(self) -> int | None:
        """The pair to decide: one that is illegal at the lowest places, and has the least room.

        Smith and Cheng, Slack-based heuristics for constraint satisfaction scheduling (1993).
        """
        low, high = self._low, self._high
        self._work.spend(len(self._pairs))
        best, least = None, 0
        for pair, (a, b, below, above) in enumerate(self._pairs):
            if below < low[a] - low[b] < above:
                room = min(below - low[a] + high[b], high[a] - low[b] - above)
                if best is None or room < least:
                    best, least = pair, room
        return best

    def _roomier(self, pair: int) -> int:
        a, b, below, above = self._pairs[pair]
        if below - self._low[a] + self._high[b] >= self._high[a] - self._low[b] - above:
            return _BELOW
        return _ABOVE

    def _decide(self, pair: int, way: int) -> bool:
        """Lets a pair go one way; False where that leaves a buffer without a place."""
        self._set(self._ways, pair, way)
        return self._narrow(self._pairs[pair][:2])

    def _narrow(self, changed: Sequence[int]) -> bool:
        """Carries the bounds of these members on to their neighbours until nothing changes."""
        low, high, ways, pairs = self._low, self._high, self._ways, self._pairs
        queue = list(changed)
        waiting = set(queue)
        for member in queue:  # grows while it is read
            waiting.discard(member)
            self._work.spend(len(self._near[member]))
            for pair in self._near[member]:
                a, b, below, above = pairs[pair]
                way = ways[pair]
                if way == _OPEN:
                    can_below = low[a] - high[b] <= below
                    can_above = high[a] - low[b] >= above
                    if can_below and can_above:
                        continue
                    if not can_below and not can_above:
                        return False
                    way = _BELOW if can_below else _ABOVE
                    self._set(ways, pair, way)
                # place[lower] + gap <= place[upper]
                lower, upper, gap = (a, b, -below) if way == _BELOW else (b, a, above)
                if low[lower] + gap > low[upper]:
                    self._set(low, upper, low[lower] + gap)
                    if low[upper] > high[upper]:
                        return False
                    if upper not in waiting:
                        waiting.add(upper)
                        queue.append(upper)
                if high[upper] - gap < high[lower]:
                    self._set(high, lower, high[upper] - gap)
                    if low[lower] > high[lower]:
                        return False
                    if lower not in waiting:
                        waiting.add(lower)
                        queue.append(lower)
        return True

    def _set(self, values: list[int], index: int, value: int) -> None:
        self._trail.append((values, index, values[index]))
        values[index] = value

    def _undo(self, length: int) -> None:
        while len(self._trail) > length:
            values, index, old = self._trail.pop()
            values[index] = old
