"""Compaction at compile time: an arena that holds no more than the largest sum of live tensors.

ppl.nn's `compact` maps blocks of memory to consecutive virtual addresses, so that what is
free is always one stretch. A microcontroller has no virtual addresses; but here all lifetimes are
known, so the compiler itself says which tensors move where before which step (memmove), and only
where a new one finds no gap in an arena of this size.

The search goes through the steps with the best few layouts (a beam), and takes the one that moves
the fewest bytes. Before it, `placement` looks for offsets without any move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from mcu_deploy.plan.alignment import ALIGNMENT, aligned
from mcu_deploy.plan.clearing import Extent, Layout, gaps, ordered, place
from mcu_deploy.plan.placement import PlacementProblem, solve

BEAM = 12  # layouts that are kept at each step
BRANCHES = 24  # layouts that are kept while the buffers of one step are placed


@dataclass(frozen=True)
class Interval:
    """A buffer that is needed from step `first` to step `last`, both included.

    bytes: rounded up to ALIGNMENT here. movable: whether it may move between two steps.
    """

    bytes: int
    first: int
    last: int
    movable: bool = True

    def meets(self, other: Interval) -> bool:
        """Whether both are needed at one step."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Move:
    """A memmove before a step, from and to offsets in the arena; the two places may meet."""

    before_step: int
    buffer: int
    source: int
    target: int
    bytes: int


@dataclass(frozen=True)
class Compaction:
    """Where each buffer lies from which step on, the moves in their order, the arena's bytes.

    offsets: of each buffer, pairs of (from this step on, offset), the first at its first step.
    """

    offsets: tuple[tuple[tuple[int, int], ...], ...]
    moves: tuple[Move, ...]
    bytes: int


def lower_bound(buffers: Sequence[Interval]) -> int:
    """The largest sum of the buffers that live at one step, in bytes."""
    return max(
        (
            sum(aligned(b.bytes) for b in buffers if b.first <= step <= b.last)
            for step in {b.first for b in buffers}
        ),
        default=0,
    )


def compact(buffers: Sequence[Interval]) -> Compaction:
    """An arena of the lower bound, with few bytes moved; of little more where fixed ones stand in
    the way.

    Buffers that do not move lie at the arena's ends: those of the first step at its begin, others
    at its end.
    """
    rounded = [Interval(aligned(b.bytes), b.first, b.last, b.movable) for b in buffers]
    bound = lower_bound(rounded)
    still = _without_moves(rounded, bound)
    if still.bytes == bound:
        return still
    made = _within(rounded, bound)
    if made is not None:
        return made
    # In multiples of the alignment: `low` is too little, `high` is enough, if only without moves.
    low, high, best = 0, (still.bytes - bound) // ALIGNMENT, still
    while high - low > 1:
        middle = (low + high) // 2
        smaller = _within(rounded, bound + middle * ALIGNMENT)
        if smaller is None:
            low = middle
        else:
            high, best = middle, smaller
    return best


def _without_moves(buffers: Sequence[Interval], bound: int) -> Compaction:
    """The smallest arena that is found in which nothing moves."""
    conflicts = [
        (i, j, -first.bytes, second.bytes)
        for (i, first), (j, second) in combinations(enumerate(buffers), 2)
        if first.meets(second)
    ]
    placed = solve(PlacementProblem(tuple(b.bytes for b in buffers), conflicts, lower_bound=bound))
    places = zip(buffers, placed.offsets, strict=True)
    return Compaction(tuple(((b.first, at),) for b, at in places), (), placed.bytes)


def _within(buffers: Sequence[Interval], size: int) -> Compaction | None:
    """The one with the fewest bytes moved that is found in an arena of this size."""
    found = [_search(buffers, fixed, size) for fixed in _fixed_places(buffers, size)]
    best = min((s for s in found if s is not None), key=lambda s: s.moved, default=None)
    return None if best is None else _compaction(buffers, best, size)


def _fixed_places(buffers: Sequence[Interval], size: int) -> Iterator[dict[int, int]]:
    """Offsets for the buffers that stay, two ways, the longest life first; only those that fit."""
    start = min((b.first for b in buffers), default=0)
    fixed = [i for i, b in enumerate(buffers) if not b.movable]
    fixed.sort(key=lambda i: buffers[i].first - buffers[i].last)
    for at_the_end in (True, False):
        places: dict[int, int] = {}
        for i in fixed:
            own = buffers[i]
            taken = sorted(
                Extent(at, buffers[j].bytes, j) for j, at in places.items() if own.meets(buffers[j])
            )
            fitting = [gap for gap in gaps(taken, size) if gap[1] - gap[0] >= own.bytes]
            if not fitting:
                break
            last = at_the_end and own.first > start
            places[i] = fitting[-1][1] - own.bytes if last else fitting[0][0]
        else:
            yield places


# ---- The search with moves ----


@dataclass(frozen=True)
class _State:
    """A layout after the buffers of `step` have come, and the way to it."""

    step: int
    layout: Layout
    moved: int
    moves: tuple[Move, ...]
    before: _State | None


def _search(buffers: Sequence[Interval], fixed: dict[int, int], size: int) -> _State | None:
    """The state after the last step; None where an arena of this size does not do."""
    states = [_State(0, (), 0, (), None)]
    for step in sorted({b.first for b in buffers}):
        come = [i for i, b in enumerate(buffers) if b.first == step]
        come.sort(key=lambda i: (i not in fixed, -buffers[i].bytes, i))
        found: dict[Layout, _State] = {}
        for state in states:
            alive = tuple(b for b in state.layout if buffers[b.buffer].last >= step)
            for layout, moves in _arrivals(buffers, fixed, alive, come, size, step):
                moved = state.moved + sum(move.bytes for move in moves)
                if layout not in found or moved < found[layout].moved:
                    found[layout] = _State(step, layout, moved, moves, state)
        if not found:
            return None
        states = sorted(found.values(), key=lambda s: _rank(buffers, s, size))[:BEAM]
    return states[0]


def _rank(buffers: Sequence[Interval], state: _State, size: int) -> tuple[object, ...]:
    """Few bytes moved first; then what leaves the largest gap when the step is over."""
    staying = tuple(b for b in state.layout if buffers[b.buffer].last > state.step)
    largest = max((end - start for start, end in gaps(staying, size)), default=0)
    return state.moved, -largest, state.layout


def _arrivals(
    buffers: Sequence[Interval],
    fixed: dict[int, int],
    alive: Layout,
    come: Sequence[int],
    size: int,
    step: int,
) -> Iterator[tuple[Layout, tuple[Move, ...]]]:
    """Layouts with the new buffers, and the moves that lead there."""
    before = {block.buffer: block for block in alive}

    def cost(layout: Layout) -> int:
        """What is moved; the new ones have no contents yet."""
        return sum(
            b.bytes for b in layout if b.buffer in before and before[b.buffer].start != b.start
        )

    layouts = [alive]
    for i in come:
        new = Extent(fixed.get(i, 0), buffers[i].bytes, i, i in fixed)
        found = {made: cost(made) for layout in layouts for made in place(layout, new, size)}
        layouts = sorted(found, key=lambda made: (found[made], made))[:BRANCHES]
    for layout in layouts:
        moved = ordered(before, layout)
        if moved is not None:
            yield (
                layout,
                tuple(
                    Move(step, b.buffer, before[b.buffer].start, b.start, b.bytes) for b in moved
                ),
            )


def _compaction(buffers: Sequence[Interval], last: _State, size: int) -> Compaction:
    states: list[_State] = []
    state: _State | None = last
    while state is not None:
        states.append(state)
        state = state.before
    places: list[list[tuple[int, int]]] = [[] for _ in buffers]
    moves: list[Move] = []
    for state in reversed(states):
        moves += state.moves
        for block in state.layout:
            known = places[block.buffer]
            if not known or known[-1][1] != block.start:
                known.append((state.step, block.start))
    return Compaction(tuple(map(tuple, places)), tuple(moves), size)
