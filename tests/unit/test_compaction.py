"""Compaction at compile time, checked by carrying contents through an arena."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples

from mcu_deploy.plan import compaction
from mcu_deploy.plan.alignment import ALIGNMENT, aligned
from mcu_deploy.plan.compaction import Compaction, Interval, compact
from mcu_deploy.plan.placement import PlacementProblem, solve


def live_bytes(buffers: Sequence[Interval]) -> int:
    """The largest sum of live buffers, from the definition, at every step that there is."""
    steps = range(min(b.first for b in buffers), max(b.last for b in buffers) + 1)
    return max(sum(aligned(b.bytes) for b in buffers if b.first <= s <= b.last) for s in steps)


def check(buffers: Sequence[Interval], made: Compaction) -> None:
    """Runs the steps in a real arena: what is live keeps its contents where the plan says it is.

    A buffer is written at its first step, whole; before each step the moves are made, in order.
    """
    if not buffers:
        assert made.bytes == 0
        return
    arena = bytearray(made.bytes)
    moves = list(made.moves)
    for step in range(min(b.first for b in buffers), max(b.last for b in buffers) + 1):
        while moves and moves[0].before_step == step:
            move = moves.pop(0)
            buffer = buffers[move.buffer]
            assert buffer.movable
            assert buffer.first < step <= buffer.last
            assert offset(made, move.buffer, step) == move.target or any(
                m.buffer == move.buffer and m.before_step == step for m in moves
            )
            assert buffer.bytes <= move.bytes <= buffer.bytes + ALIGNMENT
            contents = bytes(arena[move.source : move.source + move.bytes])
            assert len(contents) == move.bytes
            assert move.target + move.bytes <= made.bytes
            arena[move.target : move.target + move.bytes] = contents
        live = [i for i, b in enumerate(buffers) if b.first <= step <= b.last]
        for i in live:
            at, size = offset(made, i, step), buffers[i].bytes
            assert at % ALIGNMENT == 0
            assert 0 <= at <= at + size <= made.bytes
            if buffers[i].first == step:
                arena[at : at + size] = pattern(i, size)
        for i in live:
            at, size = offset(made, i, step), buffers[i].bytes
            assert arena[at : at + size] == pattern(i, size), f"buffer {i} at step {step}"
    assert not moves
    for i, buffer in enumerate(buffers):
        assert buffer.movable or len(made.offsets[i]) == 1


def offset(made: Compaction, buffer: int, step: int) -> int:
    """Where a buffer lies during a step of its life."""
    return [at for since, at in made.offsets[buffer] if since <= step][-1]


def pattern(buffer: int, size: int) -> bytes:
    return random.Random(buffer).randbytes(size)


def intervals(movable: st.SearchStrategy[bool]) -> st.SearchStrategy[list[Interval]]:
    """Buffers that live for short, mostly, at steps 0 to 12."""
    one = st.builds(
        lambda size, first, length, moves: Interval(size, first, first + length, moves),
        st.one_of(st.integers(1, 40), st.integers(1, 400)),
        st.integers(0, 12),
        st.one_of(st.integers(0, 3), st.integers(0, 12)),
        movable,
    )
    return st.lists(one, max_size=16)


@contextmanager
def offsets_alone_are_bad() -> Iterator[None]:
    """Nearly always offsets without moves do; here they never do, so that moves are looked for."""

    def scattered(buffers: Sequence[Interval], bound: int) -> Compaction:
        places = [sum(b.bytes for b in buffers[:i]) for i in range(len(buffers))]
        size = bound + sum(b.bytes for b in buffers) + ALIGNMENT
        each = zip(buffers, places, strict=True)
        return Compaction(tuple(((b.first, at),) for b, at in each), (), size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compaction, "_without_moves", scattered)
        yield


@settings(max_examples=examples(150), deadline=None)
@given(intervals(st.just(True)))
def test_the_arena_is_the_largest_sum_of_live_buffers(buffers: list[Interval]) -> None:
    with offsets_alone_are_bad():
        made = compact(buffers)
    check(buffers, made)
    assert made.bytes == (live_bytes(buffers) if buffers else 0)
    assert compact(buffers).bytes == made.bytes


@settings(max_examples=examples(150), deadline=None)
@given(intervals(st.integers(0, 3).map(bool)))
def test_what_must_stay_stays(buffers: list[Interval]) -> None:
    with offsets_alone_are_bad():
        made = compact(buffers)
    check(buffers, made)
    better = compact(buffers)
    check(buffers, better)
    if buffers:
        assert live_bytes(buffers) <= min(better.bytes, made.bytes)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 4)), min_size=2, max_size=12))
def test_inputs_outputs_and_private_memory_at_the_ends_cost_nothing(
    layers: list[tuple[int, int]],
) -> None:
    """A network's own case: inputs, outputs and what is kept between runs do not move."""
    end = len(layers)
    inner = [
        Interval(size, step, min(step + 1 + reach, end - 1))
        for step, (size, reach) in enumerate(layers[:-1])
    ]
    fixed = [
        Interval(100, -1, 0, movable=False),
        Interval(60, -1, end, movable=False),
        Interval(layers[-1][0], end - 1, end, movable=False),
    ]
    buffers = [*inner, *fixed]
    with offsets_alone_are_bad():
        made = compact(buffers)
    check(buffers, made)
    assert made.bytes == live_bytes(buffers)


def test_a_chain_and_a_residual_move_nothing() -> None:
    chain = [Interval(100 + 30 * (k % 4), k, k + 1) for k in range(20)]
    assert compact(chain).moves == ()
    residual = [*chain, Interval(64, 3, 9)]
    made = compact(residual)
    check(residual, made)
    assert made.moves == ()


# (bytes, first, last): no offsets without moves reach the bound of 272, as an exact search proves.
FRAGMENTED = [
    Interval(*numbers)
    for numbers in (
        (32, 0, 1), (64, 1, 2), (112, 2, 3), (112, 3, 5), (64, 4, 7), (64, 5, 6),
        (96, 6, 7), (112, 7, 8), (112, 8, 9), (16, 9, 11), (80, 10, 12), (96, 11, 12),
    )
]  # fmt: skip


def test_the_small_one_moves_where_something_must() -> None:
    """Two holes with a small buffer between them: 16 bytes are moved, not the large neighbours."""
    buffers = [
        Interval(160, 0, 1, movable=False),
        Interval(16, 0, 5),
        Interval(160, 0, 5, movable=False),
        Interval(160, 2, 2),
        Interval(144, 3, 5),
        Interval(160, 4, 5),
    ]
    with offsets_alone_are_bad():
        made = compact(buffers)
    check(buffers, made)
    assert sum(move.bytes for move in made.moves) <= 16


def test_of_what_comes_together_the_largest_is_placed_first() -> None:
    buffers = [
        Interval(48, 3, 5),
        Interval(64, 0, 0),
        Interval(48, 1, 1, movable=False),
        Interval(80, 2, 2),
        Interval(48, 1, 2),
        Interval(16, 0, 1),
    ]
    with offsets_alone_are_bad():
        made = compact(buffers)
    check(buffers, made)
    assert (made.bytes, made.moves) == (128, ())


def test_one_move_where_offsets_alone_need_more() -> None:
    sizes = tuple(b.bytes for b in FRAGMENTED)
    conflicts = [
        (i, j, -a.bytes, b.bytes)
        for i, a in enumerate(FRAGMENTED)
        for j, b in enumerate(FRAGMENTED)
        if i < j and a.first <= b.last and b.first <= a.last
    ]
    still = solve(PlacementProblem(sizes, conflicts))
    assert (still.bytes, still.optimal) == (288, True)
    made = compact(FRAGMENTED)
    check(FRAGMENTED, made)
    assert made.bytes == live_bytes(FRAGMENTED) == 272
    assert [move.bytes for move in made.moves] == [64]
    assert made == compact(FRAGMENTED)


@pytest.mark.parametrize("buffers", [[], [Interval(0, 0, 3)], [Interval(1, 2, 2, False)]])
def test_the_least_of_cases(buffers: list[Interval]) -> None:
    made = compact(buffers)
    check(buffers, made)
    assert made.bytes == sum(-(-b.bytes // 16) * 16 for b in buffers)
    assert made.moves == ()
