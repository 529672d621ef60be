"""Which buffers meet because two cores are at work, though no position has both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mcu_deploy.plan.model import Parallel

Mark = tuple[int, int]  # a stretch of the program with several lanes, and the lane


def marks_of(stretches: Sequence[Parallel]) -> Mapping[int, Mark]:
    """By position: in which stretch and lane it runs; positions that run alone have no mark."""
    return {
        position: (number, lane)
        for number, stretch in enumerate(stretches)
        for lane, positions in enumerate(stretch.lanes)
        for position in positions
    }


def clash(first: Iterable[Mark], second: Iterable[Mark]) -> bool:
    """Whether what is used under these marks may be used at one time.

    Within one lane the positions say who is first. What two lanes of a stretch use, or one lane
    each, is used at one time, whatever the positions are.
    """
    lanes: dict[int, tuple[set[int], set[int]]] = {}
    for side, marks in enumerate((first, second)):
        for stretch, lane in marks:
            lanes.setdefault(stretch, (set(), set()))[side].add(lane)
    return any(a and b and (a != b or len(a) > 1) for a, b in lanes.values())
