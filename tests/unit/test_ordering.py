"""Orders of steps: the best of all where that can be known, the given one where none is better."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from order_cases import Tasks, all_orders, peak_by_definition, random_tasks
from sampling import examples, first

from mcu_deploy.plan.order_model import TaskMemory
from mcu_deploy.plan.order_search import beam, within
from mcu_deploy.plan.ordering import Task, best_order, peak
from mcu_deploy.plan.placement.model import OutOfWork, Work

NONE = frozenset[int]()
INPUT = frozenset([0])

Case = tuple[Tasks, frozenset[int], frozenset[int]]


@settings(max_examples=examples(200), deadline=None)
@given(random_tasks())
def test_the_best_of_all_orders_is_found(case: Case) -> None:
    graph, inputs, kept = case
    memory = (graph.tasks, graph.sizes, inputs, kept)
    peaks = {order: peak(*memory, order, graph.shares) for order in all_orders(graph.tasks)}
    found = best_order(*memory, shares=graph.shares)
    assert peaks[found] == min(peaks.values())
    given_order = tuple(range(len(graph.tasks)))
    assert found == given_order or peaks[found] < peaks[given_order]
    assert TaskMemory(*memory, graph.shares).floor() <= min(peaks.values())


@settings(max_examples=examples(100), deadline=None)
@given(random_tasks(5))
def test_the_peak_is_what_its_definition_says(case: Case) -> None:
    graph, inputs, kept = case
    for order in all_orders(graph.tasks):
        for shares in ({}, graph.shares):
            by_hand = peak_by_definition(graph, inputs, kept, order, shares)
            assert peak(graph.tasks, graph.sizes, inputs, kept, order, shares) == by_hand


@settings(max_examples=examples(100), deadline=None)
@given(random_tasks())
def test_a_beam_gives_valid_orders_below_its_limit(case: Case) -> None:
    graph, inputs, kept = case
    memory = TaskMemory(graph.tasks, graph.sizes, inputs, kept, graph.shares)
    orders = set(all_orders(graph.tasks))
    worst = max(peak(graph.tasks, graph.sizes, inputs, kept, o, graph.shares) for o in orders)
    found = beam(memory, 2, worst + 1, 0, Work(10_000))
    assert found in orders
    assert beam(memory, 2, memory.floor(), 0, Work(10_000)) is None


def order_of(graph: Tasks, effort: int = 100_000) -> tuple[tuple[int, ...], int, int]:
    """The best order, and the peaks of the given one and of it."""
    memory = (graph.tasks, graph.sizes, INPUT, graph.kept)
    order = best_order(*memory, effort=effort)
    return order, peak(*memory, range(len(graph.tasks))), peak(*memory, order)


def test_chains_stay_as_they_are_without_a_search() -> None:
    graph = Tasks([16])
    last = 0
    for size in range(1, 400):
        last = graph.step(size % 7 * 16, last)
    order, before, after = order_of(graph, effort=0)
    assert order == tuple(range(399))
    assert before == after == 16 * 11


def test_what_one_peak_leaves_of_the_effort_is_for_the_next() -> None:
    _, _, found = order_of(nas(1, 1), effort=30_000)
    assert found == 272


def test_a_diamond_runs_the_branch_that_shrinks_first() -> None:
    """Both branches blow up inside; the one that leaves less is in the way less."""
    graph = Tasks([10])
    wide = graph.step(100, 0)
    large = graph.step(50, wide)
    narrow = graph.step(100, 0)
    small = graph.step(5, narrow)
    graph.step(10, large, small)
    assert order_of(graph) == ((2, 3, 0, 1, 4), 160, 155)


def test_a_diamond_that_gains_nothing_keeps_its_order() -> None:
    graph = Tasks([10])
    left, right = graph.step(20, 0), graph.step(20, 0)
    graph.step(10, left, right)
    assert order_of(graph) == ((0, 1, 2), 50, 50)


def inception(modules: int) -> Tasks:
    """Four branches a module, written breadth first: all their first layers, then their second."""
    graph = Tasks([64])
    last = 0
    for _ in range(modules):
        heads = [graph.step(128, last) for _ in range(4)]
        middles = [graph.step(96, head) for head in heads]
        tails = [graph.step(16, middle) for middle in middles]
        last = graph.step(64, *tails)
    return graph


def test_branches_written_breadth_first_run_one_after_the_other() -> None:
    order, before, after = order_of(inception(3))
    assert (before, after) == (4 * 128 + 96, 64 + 2 * 16 + 128 + 96)
    assert order[:3] == (0, 4, 8), "the first branch from its begin to its end"


def nas(seed: int, cells: int) -> Tasks:
    """Cells of five blocks that add up two of the values before them, wired at random.

    Written with what expands first, as an exporter that walks from the inputs would.
    """
    generator = random.Random(seed)
    graph = Tasks([32])
    previous = current = 0
    for _ in range(cells):
        values = [previous, current]
        for _ in range(5):
            a, b = (values[generator.randrange(len(values))] for _ in range(2))
            wide = [graph.step(96 + 16 * generator.randrange(6), value) for value in (a, b)]
            thin = [graph.step(16, value) for value in wide]
            values.append(graph.step(32, *thin))
        previous, current = current, graph.step(32, *values[2:])
    return graph


def test_cells_of_a_searched_network_need_less_in_a_better_order() -> None:
    for seed in range(3):
        _, before, after = order_of(nas(seed, 2))
        assert after < 0.8 * before


@pytest.mark.parametrize("graph", first([inception(24), nas(5, 12)]), ids=["inception", "nas"])
def test_graphs_of_three_hundred_tasks_end_within_the_effort(graph: Tasks) -> None:
    assert len(graph.tasks) >= 300
    memory = TaskMemory(graph.tasks, graph.sizes, INPUT, graph.kept, {})
    with pytest.raises(OutOfWork):
        within(memory, 10**6, Work(100))
    order, before, after = order_of(graph)
    assert sorted(order) == list(range(len(graph.tasks)))
    assert after < 0.8 * before
    assert order == order_of(graph)[0]
    little, _, more = order_of(graph, effort=50)
    assert more >= after
    assert sorted(little) == sorted(order)


def test_an_output_in_the_place_of_its_input_lowers_a_step() -> None:
    graph = Tasks([100])
    graph.step(100, 0)
    memory = (graph.tasks, graph.sizes, INPUT, graph.kept, (0,))
    assert peak(*memory) == 200
    assert peak(*memory, {(0, 0, 1): 0}) == 100
    assert peak(*memory, {(0, 0, 1): 30}) == 130
    assert peak(*memory, {(0, 0, 1): 500}) == 200
    kept = (graph.tasks, graph.sizes, INPUT, frozenset([0, 1]), (0,))
    assert peak(*kept, {(0, 0, 1): 0}) == 200, "who is kept is not overwritten"


def test_buffers_that_are_written_twice_stay_in_turn() -> None:
    """A state is read, written again, and read: the order of these three is the given one."""
    tasks = [
        Task(frozenset([0]), frozenset([1]), 50),
        Task(NONE, frozenset([0]), 0),
        Task(frozenset([0]), frozenset([2]), 40),
    ]
    assert best_order(tasks, [10, 5, 5], INPUT, frozenset([0, 1, 2])) == (0, 1, 2)
    assert peak(tasks, [10, 5, 5], INPUT, frozenset([0, 1, 2]), (0, 1, 2)) == 65


def test_no_tasks() -> None:
    assert best_order([], [10, 20], frozenset([0, 1]), NONE) == ()
    assert peak([], [10, 20], frozenset([0, 1]), NONE, ()) == 30
