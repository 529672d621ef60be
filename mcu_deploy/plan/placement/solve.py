"""The best of several placements: first fit in several orders, and two searches where these are not
known to be the smallest.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.plan.placement import exact, hill_climb
from mcu_deploy.plan.placement.bound import greedy_bound
from mcu_deploy.plan.placement.first_fit import first_fit, orders
from mcu_deploy.plan.placement.model import Instance, Placement, PlacementProblem, Work

EFFORT = 800_000  # units of work: see Work
# The parts of the effort that go into a bound before the searches, and into these.
BOUND_SHARE, EXACT_SHARE, CLIMB_SHARE = 0.125, 0.7, 0.3


def solve(problem: PlacementProblem, *, effort: int = EFFORT) -> Placement:
    """Places the buffers of a problem in as few bytes as it finds.

    effort: units of work (about one pair of buffers that is looked at) for the searches; first fit
    always runs. The same problem and effort give the same placement, on every machine.
    """
    instance, unit = Instance.of(problem), problem.alignment
    bound = max(-(-problem.lower_bound // unit), max(instance.sizes, default=0))
    best: Sequence[int] = ()
    method = "first-fit"
    for order in orders(instance):
        places = first_fit(instance, order)
        if not best or instance.height(places) < instance.height(best):
            best = places
        if instance.height(best) <= bound:
            break
    else:
        # Only now: most problems end before anyone has to search.
        bound = max(bound, greedy_bound(instance, Work(int(effort * BOUND_SHARE))))
        found, bound = exact.search(instance, best, bound, int(effort * EXACT_SHARE))
        if instance.height(found) < instance.height(best):
            best, method = found, "branch-and-bound"
        found = hill_climb.search(instance, best, bound, int(effort * CLIMB_SHARE))
        if instance.height(found) < instance.height(best):
            best, method = found, "hill-climb"
    height = instance.height(best)
    return Placement(tuple(at * unit for at in best), height * unit, method, height <= bound)
