"""First fit in an order, and which buffers a search may leave for last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mcu_deploy.plan.placement.model import Found, Instance, Work

UNPLACED = -1


def first_fit(instance: Instance, order: Iterable[int], places: Sequence[int] = ()) -> list[int]:
    """Puts each buffer at the lowest place that its neighbours, placed before, leave free.

    places: those of buffers that lie already; UNPLACED for others. This is "greedy by order" of
    Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference (2020), section 5,
    with intervals instead of sizes: what may overlap bans fewer places.
    """
    found = list(places) or [UNPLACED] * len(instance.sizes)
    for buffer in order:
        spans = [
            (found[other] + low, found[other] + high)
            for other, low, high in instance.bans[buffer]
            if found[other] >= 0
        ]
        spans.sort()
        at = 0
        for low, high in spans:
            if at <= low:
                break
            at = max(at, high)
        found[buffer] = at
    return found


def best_order(instance: Instance, keys: Sequence[Callable[[int], object]]) -> Found:
    """First fit in the orders that the keys sort the buffers into: the lowest result."""
    count = range(len(instance.sizes))
    placed = [tuple(first_fit(instance, sorted(count, key=key))) for key in keys]  # type: ignore[arg-type]
    return Found(min(placed, key=instance.height))


def peel(instance: Instance, height: int, work: Work) -> tuple[list[int], list[int]]:
    """The core of the problem "place all within this height", and the buffers that are left aside.

    A buffer whose neighbours ban fewer places than there are will find one wherever they lie. Left
    aside, it counts no more for its neighbours, of which others may follow: so does Chaitin's
    register allocation (1982) remove nodes of low degree. First fit of the second list in its order
    completes every placement of the first within the height.
    """
    sizes, bans = instance.sizes, instance.bans
    free = [
        height - size + 1 - sum(high - low - 1 for _, low, high in near)
        for size, near in zip(sizes, bans, strict=True)
    ]
    aside = [i for i, places in enumerate(free) if places > 0]
    gone = set(aside)
    for buffer in aside:  # grows while it is read
        work.spend(len(bans[buffer]) + 1)
        for other, low, high in bans[buffer]:
            free[other] += high - low - 1
            if free[other] > 0 and other not in gone:
                gone.add(other)
                aside.append(other)
    return [i for i in range(len(sizes)) if i not in gone], aside[::-1]
