"""What a cover is chosen for: `--optimize-for`.

Figures are the backends' prices, so a goal is exact where these add up: time does; flash does but
for functions that several layers share, which count once; memory is what the planner says, and it
is asked about at most four covers that look best by a guess (the tensors that live at once).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mcu_deploy.choose.model import Cover, Problem
from mcu_deploy.choose.paths import Path, Totals, Weigh
from mcu_deploy.choose.search import Search

# How many covers the planner is asked about.
PLANS = 4

Goal = Callable[[Problem, Callable[[Weigh], list[Path]]], Cover]


def _speed(problem: Problem, run: Callable[[Weigh], list[Path]]) -> Cover:
    """Least time."""
    return run(lambda t: (t.cost,))[0].cover()


def _size(problem: Problem, run: Callable[[Weigh], list[Path]]) -> Cover:
    """Least flash, of equals the least time."""
    return run(_by_flash)[0].cover()


def _ram(problem: Problem, run: Callable[[Weigh], list[Path]]) -> Cover:
    """Least planned peak, of equals the least time."""
    return _leanest(problem, run(lambda t: ((t.peak,), t.cost)), lambda t: t.cost)


def _balanced(problem: Problem, run: Callable[[Weigh], list[Path]]) -> Cover:
    """Least time with flash at most 25 % above what `size` reaches; of all within 2 % of that time
    the least planned peak; of equals what gives least of time and flash, where a hundredth of the
    flash is worth a thousandth of the time: a function more for a few cycles is no bargain."""
    smallest, fastest = run(_by_flash)[0], run(lambda t: (t.cost,))[0]
    least, most = smallest.totals, fastest.totals
    slower, larger = least.time - most.time, max(1, most.flash - least.flash)

    def weigh(totals: Totals) -> tuple[tuple[int, ...], ...]:
        # By the last alone none is better: a search that is cut keeps by it what lies between the
        # fastest, which are too large, and the smallest, at what a byte saves on the way there.
        both = larger * totals.time + slower * totals.flash
        return (totals.cost, (totals.flash,), (totals.peak,), (both,))

    paths = [p for p in run(weigh) if 4 * p.totals.flash <= 5 * least.flash]
    if not paths:  # a search that was cut may have lost them all
        return smallest.cover()
    best = min(p.totals.time for p in paths)
    near = [p for p in paths if 50 * p.totals.time <= 51 * best]

    def worth(totals: Totals) -> tuple[int, ...]:
        both = 10 * totals.time * max(1, least.flash) + totals.flash * max(1, best)
        return (both, *totals.cost)

    return _leanest(problem, near, worth)


def _by_flash(totals: Totals) -> tuple[tuple[int, ...], ...]:
    return ((totals.flash, *totals.cost),)


def _leanest(
    problem: Problem, paths: Sequence[Path], worth: Callable[[Totals], tuple[int, ...]]
) -> Cover:
    """The cover that needs the least memory, as the planner says of those that seem to; of equals
    the one that is worth most, which has the least `worth`."""
    likely = sorted(paths, key=lambda p: (p.totals.peak, worth(p.totals), p.totals.flash))[:PLANS]
    if problem.peak is None or len(likely) == 1:
        return likely[0].cover()
    peak = problem.peak
    planned = [(peak(p.cover()), worth(p.totals), k) for k, p in enumerate(likely)]
    return likely[min(planned)[-1]].cover()


GOALS: Mapping[str, Goal] = {
    "balanced": _balanced, "speed": _speed, "size": _size, "ram": _ram,
}  # fmt: skip


def looks_at_flash(goal: str) -> bool:
    """Whether functions that layers share make a difference."""
    return goal in ("balanced", "size")


def find(problem: Problem, search: Search, width: int) -> Cover:
    """The best cover for the problem's goal that a search of a width finds."""
    return GOALS[problem.goal](problem, lambda weigh: search.run(weigh, width))
