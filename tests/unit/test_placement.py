"""Placements are legal, never worse than first fit, and the smallest where that can be known."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement_cases import UNIT, from_lives, least_bytes, problems, violations
from sampling import examples

from mcu_deploy.plan.placement import PlacementProblem, clique_bound, solve
from mcu_deploy.plan.placement.bound import greedy_bound
from mcu_deploy.plan.placement.exact import search, within
from mcu_deploy.plan.placement.first_fit import first_fit, orders, peel
from mcu_deploy.plan.placement.hill_climb import PATIENCE, _climb
from mcu_deploy.plan.placement.model import Instance, OutOfWork, Work


@settings(max_examples=examples(200), deadline=None)
@given(problems(14, 40), st.sampled_from([0, 100, 5000]))
def test_every_placement_is_legal(problem: PlacementProblem, effort: int) -> None:
    placed = solve(problem, effort=effort)
    assert violations(problem, placed.offsets) == []
    assert all(offset >= 0 and offset % UNIT == 0 for offset in placed.offsets)
    ends = [o + s for o, s in zip(placed.offsets, problem.sizes, strict=True)]
    assert placed.bytes == max(ends)


@settings(max_examples=examples(150), deadline=None)
@given(problems(5, 3))
def test_the_exact_search_finds_what_trying_everything_finds(problem: PlacementProblem) -> None:
    placed = solve(problem)
    assert placed.optimal
    assert placed.bytes == least_bytes(problem)


@settings(max_examples=examples(100), deadline=None)
@given(problems(6, 6, overlaps=False))
def test_without_overlaps_the_best_of_all_orders_is_the_smallest(problem: PlacementProblem) -> None:
    instance = Instance.of(problem)
    orders = permutations(range(len(problem.sizes)))
    least = min(instance.height(first_fit(instance, order)) for order in orders)
    assert solve(problem).bytes == least * UNIT


@settings(max_examples=examples(100), deadline=None)
@given(problems(12, 30))
def test_nothing_is_worse_than_first_fit_in_any_order_that_is_tried(
    problem: PlacementProblem,
) -> None:
    instance = Instance.of(problem)
    tried = list(orders(instance))
    assert len(tried) == 8
    greedy = min(instance.height(first_fit(instance, order)) for order in tried)
    assert solve(problem, effort=0).bytes <= greedy * UNIT
    assert solve(problem, effort=3000).bytes <= greedy * UNIT


@settings(max_examples=examples(150), deadline=None)
@given(problems(5, 3), st.sets(st.integers(0, 4)))
def test_bounds_hold(problem: PlacementProblem, clique: set[int]) -> None:
    least = least_bytes(problem)
    assert clique_bound(problem, [clique & set(range(len(problem.sizes)))]) <= least
    assert greedy_bound(Instance.of(problem), Work(10_000)) * UNIT <= least


def test_bounds_of_buffers_that_live_together() -> None:
    apart = from_lives([32, 48, 64, 16], [(0, 1), (1, 2), (1, 1), (2, 3)])
    assert apart.lower_bound == clique_bound(apart, [{0, 1, 2}, {1, 3}]) == 144
    assert greedy_bound(Instance.of(apart), Work(1000)) * UNIT == 144
    assert clique_bound(apart, [{0, 3}]) == 32, "these two may lie on each other"
    # The output of 48 bytes starts 16 bytes below the input of 64: together they cover 80.
    overlap = PlacementProblem((64, 48), [(0, 1, -64, 16)], UNIT)
    assert clique_bound(overlap, [{0, 1}]) == solve(overlap).bytes == 80
    assert clique_bound(overlap, []) == 0
    # Exactly on the input, or apart from it.
    exactly = PlacementProblem((64, 48), [(0, 1, -64, 0), (0, 1, 0, 48)], UNIT)
    assert clique_bound(exactly, [{0, 1}]) == solve(exactly).bytes == 64
    assert greedy_bound(Instance.of(exactly), Work(1000)) * UNIT == 64


@settings(max_examples=examples(150), deadline=None)
@given(problems(12, 20), st.integers(20, 200))
def test_what_is_left_aside_always_finds_a_place(problem: PlacementProblem, height: int) -> None:
    """Even where the core lies as badly as it can within the height."""
    instance = Instance.of(problem)
    core, aside = peel(instance, height, Work(10_000))
    assert sorted([*core, *aside]) == list(range(len(problem.sizes)))
    generator = random.Random(height)
    places = [-1] * len(instance.sizes)
    for buffer in core:
        places[buffer] = generator.randrange(height)
    placed = first_fit(instance, aside, places)
    assert all(placed[i] + instance.sizes[i] <= height for i in aside)


def test_a_buffer_is_left_aside_where_one_place_is_free() -> None:
    """Of two units beside two: in five the other leaves one place, in four it may leave none."""
    instance = Instance.of(from_lives([32, 32], [(0, 0), (0, 0)]))
    assert peel(instance, 5, Work(100)) == ([], [1, 0])
    assert peel(instance, 4, Work(100)) == ([0, 1], [])
    alone = Instance.of(PlacementProblem((16,) * 10, ()))
    assert peel(alone, 1, Work(10)) == ([], [*range(9, -1, -1)])
    with pytest.raises(OutOfWork):
        peel(alone, 1, Work(9))


def test_a_height_that_is_not_decided_in_time_rules_out_no_other() -> None:
    """One unit above such a height everything fits, and that is asked for too."""
    sizes = [32, 128, 16, 16, 48, 96, 64, 48]
    lives = [(4, 5), (5, 6), (6, 6), (5, 7), (1, 1), (1, 1), (6, 7), (3, 6)]
    instance = Instance.of(from_lives(sizes, lives))
    found, _ = search(instance, first_fit(instance, range(8)), 1, 1600)
    assert instance.height(found) == 17


def test_a_climb_changes_one_turn_at_a_time_until_its_patience_ends() -> None:
    """Each turn takes two numbers by chance; a new start takes one more for its length."""

    class Counted(random.Random):
        count = 0

        def random(self) -> float:
            self.count += 1
            return super().random()

    instance, generator = Instance.of(from_lives([16, 16], [(0, 0), (0, 0)])), Counted(0)
    with pytest.raises(OutOfWork):  # a turn costs 2 buffers, 2 neighbours, and 1
        _climb(instance, [0, 1], 1, generator, Work(PATIENCE * 5))
    assert generator.count == 2 * PATIENCE


def test_a_search_that_gets_no_time_says_so() -> None:
    problem = from_lives([16 * n for n in range(1, 13)], [(n // 2, n // 2 + 2) for n in range(12)])
    instance = Instance.of(problem)
    assert within(instance, problem.lower_bound // UNIT, Work(100_000))
    assert not within(instance, problem.lower_bound // UNIT - 1, Work(100_000))
    with pytest.raises(OutOfWork):
        within(instance, problem.lower_bound // UNIT, Work(5))


def test_runs_repeat() -> None:
    generator = random.Random(1)
    lives = [(n, n + 1 + generator.randrange(12)) for n in range(60)]
    problem = from_lives([16 * generator.randrange(1, 64) for _ in lives], lives)
    first = solve(problem, effort=100_000)
    assert first == solve(problem, effort=100_000)
    assert first.method in ("hill-climb", "branch-and-bound")
    mixed = PlacementProblem(problem.sizes, problem.conflicts[::-1], UNIT, problem.lower_bound)
    assert solve(mixed, effort=100_000) == first, "the order of the pairs does not matter"


def chain(sizes: tuple[int, ...], highs: tuple[int, ...]) -> PlacementProblem:
    """Buffers of which only neighbours conflict; `highs` ends their intervals."""
    pairs = [(i, i + 1, -sizes[i], high) for i, high in enumerate(highs)]
    return PlacementProblem(sizes, pairs, UNIT)


# Found by searching 30,000 random problems each for the largest loss of the best greedy order.
FOOLS_GREEDY = {
    "a chain without overlaps": (
        chain((80, 16, 96, 80, 80, 96, 80), (16, 96, 80, 80, 96, 80)), 256, 176
    ),
    "a chain with overlaps": (chain((80, 16, 48, 32, 80), (16, 192, 128, 16)), 176, 96),
}  # fmt: skip


@pytest.mark.parametrize("name", FOOLS_GREEDY)
def test_problems_that_fool_every_greedy_order_are_solved(name: str) -> None:
    problem, greedy, least = FOOLS_GREEDY[name]
    assert solve(problem, effort=0).bytes == greedy
    placed = solve(problem)
    assert (placed.bytes, placed.optimal, placed.method) == (least, True, "branch-and-bound")


def test_a_known_bound_ends_the_search_and_small_problems_are_none() -> None:
    assert solve(PlacementProblem((), ())).bytes == 0
    assert solve(PlacementProblem((32,), ())).offsets == (0,)
    problem = from_lives([32, 48], [(0, 1), (1, 2)])
    assert solve(problem, effort=0).optimal
    assert solve(problem).method == "first-fit"


def test_pairs_are_named_in_order_and_sizes_are_aligned() -> None:
    with pytest.raises(ValueError, match="no pair of 2 buffers"):
        PlacementProblem((16, 16), [(1, 0, -16, 16)])
    with pytest.raises(ValueError, match="buffer 1 has 20 bytes"):
        PlacementProblem((16, 20), ())
