"""Independent parts of the network at once, on two cores.

Between a fork and the first layer that comes after all its branches lie parts that do not need
each other: the weakly connected components of the layers between. They are given to two lanes, the
costliest part first and each to the lane that has less to do (LPT; Graham, Bounds on
Multiprocessing Timing Anomalies, 1969). A part that costs less than a hand-over between cores is
not worth one.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.ir.groups import connected
from mcu_deploy.plan.schedules.model import Job, Stage

NAME = "parallel"
# A hand-over to the other core and back is some hundred instructions (crt/include/mcu/parallel.h).
LEAST_COST = 2000


def arrange(jobs: Sequence[Job]) -> tuple[Stage, ...]:
    """Stages of two lanes where the network forks, and of one where it does not."""
    followers = [frozenset(n for n, j in enumerate(jobs) if i in j.needs) for i in range(len(jobs))]
    behind = _reachable(followers)
    done: set[int] = set()
    stages: list[Stage] = []
    while len(done) < len(jobs):
        region = _region(jobs, behind, done)
        parts = _parts(jobs, region)
        lanes = _lanes(jobs, parts)
        if lanes is None and len(parts) > 1 and not any(jobs[n].alone for n in region):
            # Not worth two cores: the cheapest part first, and the others may fork again.
            cheapest = min(parts, key=lambda part: (sum(jobs[n].cost for n in part), part))
            lanes, region = (tuple(cheapest),), set(cheapest)
        elif lanes is None:
            # Nothing to divide here: the first layer that can run runs alone.
            first = min(n for n, job in enumerate(jobs) if n not in done and job.needs <= done)
            lanes, region = ((first,),), {first}
        if len(lanes) == 1 and stages and len(stages[-1].lanes) == 1:
            stages[-1] = Stage((stages[-1].lanes[0] + lanes[0],))
        else:
            stages.append(Stage(lanes))
        done |= region
    return tuple(stages)


def _reachable(followers: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """For each job those that come after it, at any distance."""
    found: list[frozenset[int]] = [frozenset()] * len(followers)
    for number in reversed(range(len(followers))):
        found[number] = followers[number].union(*(found[f] for f in followers[number]))
    return found


def _region(jobs: Sequence[Job], behind: Sequence[frozenset[int]], done: set[int]) -> set[int]:
    """The jobs that are left before the nearest one that comes after all that can run now."""
    ready = [n for n, job in enumerate(jobs) if n not in done and job.needs <= done]
    common = frozenset.intersection(*(behind[n] for n in ready))
    left = set(range(len(jobs))) - done
    if not common:
        return left
    join = min(common)
    return {n for n in left if n != join and n not in behind[join]}


def _parts(jobs: Sequence[Job], region: set[int]) -> list[list[int]]:
    """The weakly connected components of a region, each in the jobs' order."""
    pairs = ((n, need) for n in region for need in jobs[n].needs & region)
    return connected(sorted(region), pairs)


def _lanes(
    jobs: Sequence[Job], parts: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], ...] | None:
    """Two lanes of about equal cost; None where it does not pay, or something must be alone."""
    if len(parts) < 2 or any(jobs[n].alone for part in parts for n in part):
        return None
    costs = [sum(jobs[n].cost for n in part) for part in parts]
    lanes: tuple[list[int], list[int]] = ([], [])
    loads = [0, 0]
    for index in sorted(range(len(parts)), key=lambda i: (-costs[i], i)):
        lane = 0 if loads[0] <= loads[1] else 1
        lanes[lane].extend(parts[index])
        loads[lane] += costs[index]
    if min(loads) < LEAST_COST:
        return None
    return tuple(tuple(sorted(lane)) for lane in lanes)
