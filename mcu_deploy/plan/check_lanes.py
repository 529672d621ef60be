"""Proves that lanes which run at once leave each other alone.

Lanes that touch nothing of each other's may run in any interleaving with the same result as one
after the other. It is enough that whole lanes give every reader its value in both orders: then no
lane waits for what another computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mcu_deploy.plan.check_places import Stretch
from mcu_deploy.plan.model import Parallel, PlanError

Touched = tuple[Sequence[Stretch], Sequence[Stretch]]  # what a position reads, and what it writes


def exchanged(parallel: Sequence[Parallel], items: Iterable[int]) -> list[int]:
    """The positions with the lanes of every stretch in the opposite order.

    Raises PlanError where a stretch is none of the program.
    """
    order = list(items)
    for stretch in parallel:
        positions = stretch.positions
        start = order.index(positions[0]) if positions and positions[0] in order else len(order)
        if tuple(order[start : start + len(positions)]) != positions:
            raise PlanError(f"positions {positions} are no stretch of the program")
        backwards = [position for lane in reversed(stretch.lanes) for position in lane]
        order[start : start + len(positions)] = backwards
    return order


def require_apart(parallel: Sequence[Parallel], touched: Callable[[int], Touched]) -> None:
    """Raises PlanError where a lane writes what another lane of its stretch reads or writes."""
    for stretch in parallel:
        if len(stretch.lanes) != 2:
            raise PlanError(f"a stretch has {len(stretch.lanes)} lanes; there are two cores")
        lanes = [[touched(position) for position in lane] for lane in stretch.lanes]
        for number, lane in enumerate(lanes):
            writes = [place for _, written in lane for place in written]
            others = [
                place
                for other, positions in enumerate(lanes)
                if other != number
                for read, written in positions
                for place in (*read, *written)
            ]
            for place in writes:
                if any(place.meets(other) for other in others):
                    raise PlanError(
                        f"lane {stretch.lanes[number]} writes bytes {place.start} to {place.end}, "
                        "which another lane uses at the same time"
                    )
