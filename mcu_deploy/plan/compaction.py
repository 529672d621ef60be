"""Compaction at compile time: an arena that holds no more than the largest sum of live tensors.

Document 002's `compact` maps blocks of memory to consecutive virtual addresses, so that what is
free is always one stretch. A microcontroller has no virtual addresses; but here all lifetimes are
known, so the compiler itself says which tensors move where before which step (memmove), and only
where a new one finds no gap in an arena of this size.

The search goes through the steps with the best few layouts (a beam), and takes the one that moves
the fewest bytes. Before it, `placement` looks for offsets without any move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.clearing import Block, Layout, largest_gap, ordered, place
from mcu_deploy.plan.placement import Problem, solve

BEAM = 12  # layouts that are kept at each step
BRANCHES = 24  # layouts that are kept while the buffers of one step are placed


@dataclass(frozen=True)
class Interval:
    """A buffer that is needed from step `first` to step `last`, both included.

    bytes: rounded up to the alignment here. movable: whether it may move between two steps.
    """

    bytes: int
    first: int
    last: int
    movable: bool = True


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

    def offset(self, buffer: int, step: int) -> int:
        """Where a buffer lies during a step of its life."""
        found = [offset for since, offset in self.offsets[buffer] if since <= step]
        return found[-1]

    @property
    def moved_bytes(self) -> int:
        """What all moves together copy."""
        return sum(move.bytes for move in self.moves)


def lower_bound(buffers: Sequence[Interval], alignment: int = 16) -> int:
    """The largest sum of the buffers that live at one step, in bytes."""
    return max(
        (
            sum(aligned(b.bytes, alignment) for b in buffers if b.first <= step <= b.last)
            for step in {b.first for b in buffers}
        ),
        default=0,
    )


def compact(buffers: Sequence[Interval], alignment: int = 16) -> Compaction:
    """An arena of the lower bound, with few bytes moved; of little more where fixed ones stand in
    the way.

    Buffers that do not move lie at the arena's ends: those of the first step at its begin, others
    at its end.
    """
    rounded = [Interval(aligned(b.bytes, alignment), b.first, b.last, b.movable) for b in buffers]
    bound = lower_bound(rounded, alignment)
    still = _without_moves(rounded, alignment, bound)
    if still.bytes == bound:
        return still
    made = _within(rounded, bound)
    if made is not None:
        return made
    # In multiples of the alignment: `low` is too little, `high` is enough, if only without moves.
    low, high, best = 0, (still.bytes - bound) // alignment, still
    while high - low > 1:
        middle = (low + high) // 2
        smaller = _within(rounded, bound + middle * alignment)
        if smaller is None:
            low = middle
        else:
            high, best = middle, smaller
    return best


def _without_moves(buffers: Sequence[Interval], alignment: int, bound: int) -> Compaction:
    """The smallest arena that is found in which nothing moves."""
    conflicts = {
        (i, j): (-first.bytes, second.bytes)
        for i, first in enumerate(buffers)
        for j, second in enumerate(buffers)
        if i < j and first.first <= second.last and second.first <= first.last
    }
    sizes = tuple(buffer.bytes for buffer in buffers)
    placed = solve(Problem(sizes, conflicts, alignment, bound))
    places = zip(buffers, placed.offsets, strict=True)
    return Compaction(tuple(((b.first, at),) for b, at in places), (), placed.bytes)


def _within(buffers: Sequence[Interval], size: int) -> Compaction | None:
    """The one with the fewest bytes moved that is found in an arena of this size."""
    best: _State | None = None
    for fixed in _fixed_places(buffers, size):
        found = _search(buffers, fixed, size)
        if found is not None and (best is None or found.moved < best.moved):
            best = found
    return None if best is None else _compaction(buffers, best, size)


# ---- What does not move ----


def _fixed_places(buffers: Sequence[Interval], size: int) -> Iterator[dict[int, int]]:
    """Offsets for the buffers that stay, several ways; only ways in which all of them fit."""
    start = min((b.first for b in buffers), default=0)
    fixed = [i for i, b in enumerate(buffers) if not b.movable]
    by_life = sorted(fixed, key=lambda i: (buffers[i].first - buffers[i].last, i))
    ways: list[tuple[list[int], Callable[[int], bool]]] = [
        (by_life, lambda i: buffers[i].first > start),
        (fixed, lambda i: buffers[i].first > start),
        (by_life, lambda i: False),
        (by_life, lambda i: buffers[i].first <= start),
    ]
    seen: list[dict[int, int]] = []
    for order, at_the_end in ways:
        places = _in_order(buffers, {}, order, size, at_the_end)
        if places is not None and places not in seen:
            seen.append(places)
            yield places


def _in_order(
    buffers: Sequence[Interval],
    places: dict[int, int],
    order: Sequence[int],
    size: int,
    at_the_end: Callable[[int], bool] = lambda i: False,
) -> dict[int, int] | None:
    """`places` and those of more buffers, one after the other; None where one finds no gap."""
    found: dict[int, int] | None = places
    for i in order:
        if found is None:
            break
        found = _first_fit(buffers, found, i, size, at_the_end(i))
    return found


def _first_fit(
    buffers: Sequence[Interval],
    places: dict[int, int],
    new: int,
    size: int,
    at_the_end: bool,
) -> dict[int, int] | None:
    """`places` and the first gap from one end between those that live when `new` does."""
    life, needed = buffers[new], buffers[new].bytes
    taken = sorted(
        Block(at, buffers[i].bytes, i)
        for i, at in places.items()
        if buffers[i].first <= life.last and life.first <= buffers[i].last
    )
    found = [gap for gap in _gaps_between(taken, size) if gap[1] - gap[0] >= needed]
    if not found:
        return {**places, new: 0} if needed == 0 else None
    return {**places, new: found[-1][1] - needed if at_the_end else found[0][0]}


def _gaps_between(taken: Sequence[Block], size: int) -> Iterator[tuple[int, int]]:
    """As `gaps`, of blocks that may meet, as not all of them live at one time."""
    at = 0
    for block in taken:
        if at < block.start:
            yield at, block.start
        at = max(at, block.end)
    if at < size:
        yield at, size


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
    return state.moved, -largest_gap(staying, size), state.layout


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
        new = Block(fixed.get(i, 0), buffers[i].bytes, i, i in fixed)
        if new.bytes == 0:
            continue
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
    for buffer, known in zip(buffers, places, strict=True):
        if not known:  # of no bytes
            known.append((buffer.first, 0))
    return Compaction(tuple(map(tuple, places)), tuple(moves), size)
