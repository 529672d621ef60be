"""First fit, the orders that it is tried in, and which buffers a search may leave for last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from mcu_deploy.plan.placement.model import Instance, Work

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


def orders(instance: Instance) -> Iterator[list[int]]:
    """The orders in which first fit is tried."""
    sizes, bans = instance.sizes, instance.bans
    near = [sum(sizes[other] for other, _, _ in ban) for ban in bans]
    keys: list[Callable[[int], tuple[int, ...]]] = [
        # The buffers' numbers, which is the order of their lives. Backwards is the better way where
        # outputs overlap inputs: an output, which starts below, must lie before the input does.
        lambda i: (i,),
        lambda i: (-i,),
        # The largest first; among equals the one with more neighbours, or the later.
        lambda i: (-sizes[i], i),
        lambda i: (-sizes[i], -i),
        lambda i: (-sizes[i], -len(bans[i]), i),
        # Those in most conflict: by number of neighbours, by their bytes, by area, as a buffer with
        # many neighbours lives long.
        lambda i: (-len(bans[i]), -sizes[i], i),
        lambda i: (-near[i], -sizes[i], i),
        lambda i: (-len(bans[i]) * sizes[i], i),
    ]
    for key in keys:
        yield sorted(range(len(sizes)), key=key)


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
