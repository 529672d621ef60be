"""Changes the order of first fit little by little, as long as the result is no worse.

After Vela's hill-climb allocation (Arm, ethos-u-vela, hillclimb_allocation.py): whoever reaches
too high is what is wrong with an order, together with those that it rests upon. One of them gets
another turn. Only the core is searched (`peel`), for one unit less than the best until now.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from mcu_deploy.plan.placement.first_fit import UNPLACED, first_fit, peel
from mcu_deploy.plan.placement.model import Instance, OutOfWork, Work

# So many moves in a row without a lower result, and the climb starts from another order.
PATIENCE = 60


def search(instance: Instance, best: Sequence[int], bound: int, effort: int) -> Sequence[int]:
    """Places no worse than `best`; the search ends at the bound."""
    work, generator = Work(effort), random.Random(0)
    try:
        while (target := instance.height(best) - 1) >= bound:
            core, aside = peel(instance, target, work)
            order = sorted(core, key=lambda i: (best[i], i))
            places = _climb(instance, order, target, generator, work)
            best = first_fit(instance, aside, places)
    except OutOfWork:
        pass
    return best


def _climb(
    instance: Instance, order: list[int], target: int, generator: random.Random, work: Work
) -> list[int]:
    """Places of the core within the target. Raises OutOfWork when none was found in time."""
    cost = sum(len(instance.bans[i]) for i in order) + len(order) + 1
    places, height = _place(instance, order)
    lowest, since = height, 0
    while height > target:
        work.spend(cost)
        changed = list(order)
        guilty = _guilty(instance, order, places, target)
        moves = 1 if since < PATIENCE else 1 + _draw(generator, len(order))
        for _ in range(moves):
            buffer = guilty[_draw(generator, len(guilty))]
            changed.remove(buffer)
            changed.insert(_draw(generator, len(order)), buffer)
        tried, reached = _place(instance, changed)
        if reached <= height or moves > 1:
            order, places, height = changed, tried, reached
        since = 0 if height < lowest or moves > 1 else since + 1
        lowest = height if moves > 1 else min(lowest, height)
    return places


def _place(instance: Instance, order: list[int]) -> tuple[list[int], int]:
    places = first_fit(instance, order)
    return places, max((places[i] + instance.sizes[i] for i in order), default=0)


def _guilty(instance: Instance, order: list[int], places: list[int], target: int) -> list[int]:
    """Who reaches above the target, and all on whose account they could lie no lower."""
    guilty = [i for i in order if places[i] + instance.sizes[i] > target]
    seen = set(guilty)
    for buffer in guilty:  # grows while it is read
        for other, _, high in instance.bans[buffer]:
            rests = places[other] != UNPLACED and places[buffer] == places[other] + high
            if rests and other not in seen:
                seen.add(other)
                guilty.append(other)
    return guilty


def _draw(generator: random.Random, count: int) -> int:
    """A number below count. `random()` alone gives the same numbers in every version of Python."""
    return int(generator.random() * count)
