"""What a cover is chosen for: `--optimize-for`.

Figures are the backends' prices, so a goal is exact where these add up: time does; flash does but
for functions that several layers share, which count once; memory is what the planner says, and it
is asked about a few covers that look best by a guess (the tensors that live at once).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence

from mcu_deploy.choose.model import Cover, Problem
from mcu_deploy.choose.paths import Path, Totals
from mcu_deploy.choose.search import Search

# How many covers the planner is asked about at a time.
PLANS = 4

# Ways that a search of time and flash in one figure follows.
NARROW = 8
_ANY_PEAK = 2**62
# Bytes of the runtime, and of a layer's call and its words in the descriptor. Measured on the
# networks of MLPerf Tiny, whose 10 to 29 layers agree within 700 bytes.
_RUNTIME, _CALL = 1500, 90
# 1.01 to the power of it is 1.5.
_PERCENT_FOR_A_THIRD = 40
# What `balanced` may take above the least flash: a quarter, of a small network so many bytes; and
# where these are more than a quarter, bytes above that for which the time must fall by a hundredth.
_FLOOR = 8 * 1024
BYTES_FOR_A_HUNDREDTH = 512

Goal = Callable[[Problem, Search], Cover]


def _speed(problem: Problem, search: Search) -> Cover:
    """Least time."""
    return search.run(_by_time)[0].cover()


def _size(problem: Problem, search: Search) -> Cover:
    """Least flash; at most 2 % more where each percent of it saves a third of the time."""
    smallest = search.run(_by_flash)[0]
    most = smallest.totals.flash + (smallest.totals.flash + around(problem)) // 50
    paths = search.run(lambda t: ((t.flash,), t.cost), whole=True)
    paths = paths or _fitting(search, most, _ANY_PEAK)[1]
    near = [p for p in (smallest, *paths) if p.totals.flash <= most]
    return min(near, key=lambda p: smallness(problem, p.totals)).cover()


def smallness(problem: Problem, totals: Totals) -> float:
    """What `size` makes least."""
    flash = totals.flash + around(problem)
    return _PERCENT_FOR_A_THIRD * math.log(flash) + math.log(max(1, totals.time))


def around(problem: Problem) -> int:
    """About how many bytes of flash a network has besides the figures of a cover."""
    return _RUNTIME + _CALL * len(problem.candidates)


def _ram(problem: Problem, search: Search) -> Cover:
    """Least planned peak; at most a tenth more where each percent of it saves two of the time."""
    paths = search.run(lambda t: ((t.peak,), t.cost))
    # The guess knows of no overlap: the shortest kernels, which need little scratch, are asked
    # about as well.
    simple = search.run(_by_flash)[0]
    if len(paths) == 1 and paths[0].totals == simple.totals:
        return simple.cover()
    likely = _likely(paths, lambda t: t.cost)
    near = [p for p in paths if 10 * p.totals.peak <= 11 * likely[0].totals.peak]
    near.sort(key=lambda p: leanness(p.totals.time, p.totals.peak))
    tried = list({id(p): p for p in (*likely, *near[:PLANS], simple)}.values())
    peaks = [_planned(problem, path) for path in tried]
    fits = [n for n, peak in enumerate(peaks) if 10 * peak <= 11 * min(peaks)]
    best = min(fits, key=lambda n: (leanness(tried[n].totals.time, peaks[n]), peaks[n]))
    return tried[best].cover()


def leanness(time: int, peak: int) -> int:
    """What `ram` makes least, of what is near the least peak."""
    return max(1, time) * max(1, peak) ** 2


def _balanced(problem: Problem, search: Search) -> Cover:
    """Least time with flash at most 25 % or 8 KB above the least that the same proposals reach,
    where what is above the 25 % must pay for itself; of all within 2 % of that time the least
    planned peak; of equals what gives least of time and flash, where a hundredth of the flash is
    worth two thousandths of the time: a function more for a few cycles is no bargain."""
    smallest = search.run(_by_flash)[0]
    least = smallest.totals
    quarter, most = allowances(problem, least.flash)
    paths = search.run(lambda t: (t.cost, (t.flash,), (t.peak,)), whole=True)
    if not paths:
        paths = [smallest, *_near(search, quarter)]
        if most > quarter:
            paths += [*_near(search, most), *_paying(search, min(p.totals.time for p in paths))]
    paths = [p for p in paths if p.totals.flash <= most]
    best = min(dearness(p.totals, quarter) for p in paths)
    near = [p for p in paths if 50 * dearness(p.totals, quarter) <= 51 * best]
    quickest = min(p.totals.time for p in near)

    def worth(totals: Totals) -> tuple[int, ...]:
        both = 5 * totals.time * max(1, least.flash) + totals.flash * max(1, quickest)
        return (both, *totals.cost)

    return _leanest(problem, near, worth)


def allowances(problem: Problem, least: int) -> tuple[int, int]:
    """The bytes of flash that `balanced` takes for whatever they buy, and those that it takes at
    all, where `least` are needed; without what is around the figures of a cover."""
    quarter = (least + around(problem)) // 4
    return least + quarter, least + max(quarter, _FLOOR)


def dearness(totals: Totals, quarter: int) -> int:
    """What `balanced` makes least: the time, a hundredth more for so many bytes above `quarter`."""
    return totals.time * (100 * BYTES_FOR_A_HUNDREDTH + max(0, totals.flash - quarter))


def _paying(search: Search, time: int) -> list[Path]:
    """The ways that are best where a byte is worth what it must buy, of about `time` in all."""
    rate = max(1, 1000 * time // (100 * BYTES_FOR_A_HUNDREDTH))
    return search.run(lambda t: (_by_both(t, rate), (t.peak,)), NARROW)


def _near(search: Search, most: int) -> list[Path]:
    """The fastest ways that come near to `most` bytes of flash: of all, and of those with the least
    peak that leaves them within 2 % of that time."""
    rate, found = _fitting(search, most, _ANY_PEAK)
    rivals = search.run(lambda t: (_by_both(t, rate), (t.peak,)), 2 * NARROW)
    peaks = sorted({p.totals.peak for p in rivals})

    def is_quick(peak: int) -> bool:
        found.extend(_fitting(search, most, peak)[1])
        fits = [p.totals for p in found if p.totals.flash <= most]
        best = min((t.time for t in fits), default=0)
        return any(t.peak <= peak and 50 * t.time <= 51 * best for t in fits)

    bisect.bisect_left(peaks, True, key=is_quick)
    return found


def _fitting(search: Search, most: int, peak: int) -> tuple[int, list[Path]]:
    """What a byte of flash is worth, in thousandths of a unit of time, where the least of both
    together comes nearest to `most` bytes; and ways on both sides of it.

    It is found by halving, in searches that are narrow: with time and flash in one figure these
    find what wide ones do.
    """
    found: list[Path] = []
    low, high = 1, 2**30

    def weigh(totals: Totals) -> tuple[tuple[int, ...], ...]:
        return ((totals.peak > peak, *_by_both(totals, rate)),)

    while high > low + low // 32 + 1:
        rate = math.isqrt(low * high)
        found.append(search.run(weigh, NARROW)[0])
        low, high = (low, rate) if found[-1].totals.flash <= most else (rate, high)
    rate = high
    return rate, found + search.run(lambda t: (*weigh(t), (t.flash,)), NARROW)


def _by_both(totals: Totals, rate: int) -> tuple[int, ...]:
    return (1000 * totals.time + rate * totals.flash, *totals.cost)


def _by_time(totals: Totals) -> tuple[tuple[int, ...], ...]:
    return (totals.cost,)


def _by_flash(totals: Totals) -> tuple[tuple[int, ...], ...]:
    return ((totals.flash, *totals.cost),)


def _leanest(
    problem: Problem, paths: Sequence[Path], worth: Callable[[Totals], tuple[int, ...]]
) -> Cover:
    """The cover that needs the least memory, as the planner says of those that seem to; of equals
    the one that is worth most, which has the least `worth`."""
    likely = _likely(paths, worth)
    if len(likely) == 1:
        return likely[0].cover()
    planned = [(_planned(problem, p), worth(p.totals), k) for k, p in enumerate(likely)]
    return likely[min(planned)[-1]].cover()


def _likely(paths: Sequence[Path], worth: Callable[[Totals], tuple[int, ...]]) -> list[Path]:
    """Those that the planner is asked about, the leanest by the guess first."""
    return sorted(paths, key=lambda p: (p.totals.peak, worth(p.totals), p.totals.flash))[:PLANS]


def _planned(problem: Problem, path: Path) -> int:
    """The peak that the planner says; without one the guess."""
    return path.totals.peak if problem.peak is None else problem.peak(path.cover())


GOALS: Mapping[str, Goal] = {
    "balanced": _balanced, "speed": _speed, "size": _size, "ram": _ram,
}  # fmt: skip


def looks_at_flash(goal: str) -> bool:
    """Whether functions that layers share make a difference."""
    return goal in ("balanced", "size")


def find(problem: Problem, search: Search) -> Cover:
    """The best cover for the problem's goal that a search finds."""
    return GOALS[problem.goal](problem, search)
