"""The best of several placements."""

from __future__ import annotations

from dataclasses import replace

from mcu_deploy.plan.placement import strategies
from mcu_deploy.plan.placement.bound import greedy_bound
from mcu_deploy.plan.placement.model import Instance, Placement, Problem, Search, Work

EFFORT = 800_000  # units of work: see Work
BOUND_SHARE = 8  # the part of the effort that goes into a bound before the searches: 1 / 8


def solve(problem: Problem, *, effort: int = EFFORT, seed: int = 0) -> Placement:
    """Places the buffers of a problem in as few bytes as the strategies find.

    effort: units of work (about one pair of buffers that is looked at) for the strategies that
    search; those that only sort and place always run. The same problem, effort and seed give the
    same placement, on every machine.
    """
    instance = Instance.of(problem)
    bound = max(-(-problem.lower_bound // problem.alignment), max(instance.sizes, default=0))
    search = Search(instance, (), bound, Work(0), seed)
    method, height, bounded = "", 0, False
    for strategy in strategies.by_rank():
        if search.best and height <= search.bound:
            break
        if strategy.share and not bounded:
            # Only now: most problems end before anyone has to search.
            bounded = True
            bound = greedy_bound(instance, Work(effort // BOUND_SHARE))
            search = replace(search, bound=max(search.bound, bound))
        found = strategy.look(replace(search, work=Work(int(effort * strategy.share))))
        if not search.best or instance.height(found.places) < height:
            search, method = replace(search, best=found.places), strategy.name
            height = instance.height(found.places)
        search = replace(search, bound=max(search.bound, found.bound))
    unit = problem.alignment
    return Placement(
        tuple(place * unit for place in search.best), height * unit, method, height <= search.bound
    )
