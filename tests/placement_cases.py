"""Placement problems for tests: made at random, from lives, and answered by trying everything."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from mcu_deploy.plan.placement import PlacementProblem

UNIT = 16


@st.composite
def problems(
    draw: st.DrawFn, buffers: int = 10, units: int = 12, overlaps: bool = True
) -> PlacementProblem:
    """Buffers in any conflict relation, also with outputs that overlap inputs by any distance, or
    exactly."""
    sizes = [UNIT * n for n in draw(st.lists(st.integers(0, units), min_size=1, max_size=buffers))]
    conflicts = []
    for j in range(len(sizes)):
        for i in range(j):
            kind = draw(st.sampled_from("-##<>=" if overlaps else "-##"))
            distance = draw(st.integers(-UNIT * units, UNIT * units)) if kind in "<>" else 0
            if kind == "#":
                conflicts.append((i, j, -sizes[i], sizes[j]))
            elif kind == "<":
                conflicts.append((i, j, -distance, sizes[j]))
            elif kind == ">":
                conflicts.append((i, j, -sizes[i], distance))
            elif kind == "=":
                conflicts += [(i, j, -sizes[i], 0), (i, j, 0, sizes[j])]
    return PlacementProblem(tuple(sizes), conflicts, UNIT)


def from_lives(sizes: Sequence[int], lives: Sequence[tuple[int, int]]) -> PlacementProblem:
    """Buffers that live from a first to a last step; the bound is that of the fullest step."""
    count = range(len(sizes))
    conflicts = [
        (i, j, -sizes[i], sizes[j])
        for i in count
        for j in count
        if i < j and lives[i][0] <= lives[j][1] and lives[j][0] <= lives[i][1]
    ]
    steps = {first for first, _ in lives}
    bound = max(sum(sizes[i] for i in count if lives[i][0] <= s <= lives[i][1]) for s in steps)
    return PlacementProblem(tuple(sizes), conflicts, UNIT, bound)


def violations(problem: PlacementProblem, offsets: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs that lie where they must not."""
    return [(i, j) for i, j, low, high in problem.conflicts if low < offsets[i] - offsets[j] < high]


def least_bytes(problem: PlacementProblem) -> int:
    """What a placement needs at least: every place of every buffer is tried."""
    top = sum(problem.sizes) + UNIT * len(problem.sizes)
    height = max(problem.sizes, default=0)
    while not _fits(problem, height, []):
        height += problem.alignment
        assert height <= 2 * top, "side by side, far enough apart, all fit"
    return height


def _fits(problem: PlacementProblem, height: int, places: list[int]) -> bool:
    j = len(places)
    if j == len(problem.sizes):
        return True
    for place in range(0, height - problem.sizes[j] + 1, problem.alignment):
        legal = all(
            other != j or not low < places[i] - place < high
            for i, other, low, high in problem.conflicts
        )
        if legal and _fits(problem, height, [*places, place]):
            return True
    return False
