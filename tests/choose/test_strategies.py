"""The strategies: what they choose, and how far from the optimum that is."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_cases import candidate, hypothesis_pick, random_problem, wired
from sampling import examples

from mcu_deploy.arrange import layouts
from mcu_deploy.backends.interface import Costs, LayoutRule, Unit
from mcu_deploy.choose import Assignment, Candidate, Problem, strategies
from mcu_deploy.choose.strategies import cost
from mcu_deploy.errors import UsageError
from mcu_deploy.ir import NodeId

LAST, SAME = LayoutRule.CHANNELS_LAST, LayoutRule.SAME
ELEMENTS = 24  # of each tensor of `wired`
PER_ELEMENT = cost.CONVERSION[Unit.INSTRUCTIONS]  # the unit of `candidate`
CONVERSION = PER_ELEMENT * ELEMENTS


def _problem(*nodes: tuple[Candidate, ...]) -> Problem:
    """A chain of nodes with these candidates."""
    graph = wired([[k - 1] if k else [] for k in range(len(nodes))])
    return Problem(graph, dict(enumerate(nodes)))


def _chosen(problem: Problem, strategy: str = "cost") -> str:
    return "".join(strategies.find(strategy)(problem)[n.id] for n in problem.graph.nodes)


def _measured(problem: Problem, labels: Mapping[NodeId, str]) -> int:
    """The costs of the nodes and of the conversions that `layouts` really inserts."""
    chosen = {
        n: next(c for c in candidates if c.backend == labels[n])
        for n, candidates in problem.candidates.items()
    }
    supports = {n: c.support for n, c in chosen.items()}
    graph = layouts.assign(problem.graph, Assignment(backends={}, supports=supports))
    copies = [e for n in graph.nodes if n.op == "Reorder" for e in n.outputs if e is not None]
    moved = sum(graph.type(edge).elements for edge in copies)
    return sum(c.costs.instructions or 0 for c in chosen.values()) + PER_ELEMENT * moved


def _best(problem: Problem) -> int:
    """The least cost of all choices."""
    nodes = list(problem.candidates)
    backends = ([c.backend for c in problem.candidates[n]] for n in nodes)
    return min(cost.total(problem, dict(zip(nodes, p, strict=True))) for p in product(*backends))


def test_a_strategy_is_found_by_name() -> None:
    assert strategies.names() == ("cost", "greedy")
    with pytest.raises(UsageError, match=r"--strategy best is not known; it is cost or greedy\."):
        strategies.find("best")


def test_greedy_takes_the_first_and_honours_what_is_fixed() -> None:
    both = (candidate("A", 9), candidate("B", 1))
    problem = _problem(both, both, (candidate("B"),))
    assert _chosen(problem, "greedy") == "AAB"
    assert _chosen(replace(problem, fixed={1: "B"}), "greedy") == "ABB"


def test_cost_takes_the_cheaper_where_nothing_is_converted() -> None:
    both = (candidate("A", 9), candidate("B", 1))
    assert _chosen(_problem(both, both)) == "BB"
    assert _chosen(replace(_problem(both, both), fixed={0: "A"})) == "AB"


def test_conversions_count() -> None:
    """B wants channel-last tensors: where it saves less than two conversions it gets nothing."""
    saves_little = (candidate("A", CONVERSION), candidate("B", 1, LAST))
    only_a = (candidate("A", 1),)
    assert _chosen(_problem(only_a, saves_little, only_a)) == "AAA"
    # two conversions around a longer run pay
    run = (only_a, *[saves_little] * 3, only_a)
    assert _chosen(_problem(*run)) == "ABBBA"


def test_greedy_alternates_where_cost_does_not() -> None:
    """B is preferred and lacks every second operator, so each of its layers is converted twice."""
    has = (candidate("B", 100, LAST), candidate("A", 110))
    lacks = (candidate("A", 100),)
    problem = _problem(has, lacks, has, lacks)
    assert _chosen(problem, "greedy") == "BABA"
    assert _chosen(problem) == "AAAA"
    greedy = strategies.find("greedy")(problem)
    assert cost.total(problem, greedy) == 400 + 4 * CONVERSION
    assert cost.total(problem, strategies.find("cost")(problem)) == 420


def test_layers_that_take_over_the_layout_cost_no_conversion_between() -> None:
    last = (candidate("B", 1, LAST), candidate("A", 1 + CONVERSION))
    over = (candidate("A", 5, SAME),)
    assert _chosen(_problem(last, over, last)) == "BAB"


def test_bytes_that_lie_alike_in_both_orders_are_not_converted() -> None:
    graph = wired([[], [0]], shape=(1, 24, 1, 1))
    both = (candidate("A", 2), candidate("B", 1, LAST))
    assert _chosen(Problem(graph, {0: both[:1], 1: both})) == "AB"


def test_a_copy_serves_all_readers() -> None:
    """1 and 2 both read 0: the second reader in the other layout pays nothing more."""
    graph = wired([[], [0], [0], [1], [2]])
    natural = (candidate("A", 1),)
    last = (candidate("B", 1, LAST),)
    problem = Problem(graph, {0: natural, 1: last, 2: last, 3: natural, 4: natural})
    labels = {0: "A", 1: "B", 2: "B", 3: "A", 4: "A"}
    assert cost.total(problem, labels) == 5 + 3 * CONVERSION == _measured(problem, labels)


def test_what_states_no_cost_competes_by_rank() -> None:
    unknown, dear = candidate("A"), candidate("B", 10**9, LAST)
    assert _chosen(_problem((unknown, dear), (dear, unknown))) == "AB"
    # and is out where one before it states a cost, although a third one is cheaper than that
    assert _chosen(_problem((dear, unknown, candidate("C", 1)))) == "C"
    assert _chosen(_problem((unknown, candidate("B")), (candidate("B"), unknown))) == "AB"
    assert _chosen(_problem((candidate("A", 7), candidate("B", 7)))) == "A"


@pytest.mark.parametrize("width", [1, cost.WIDTH])
def test_what_states_no_cost_competes_by_rank_in_random_graphs_too(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "WIDTH", width)
    for seed in range(40):
        problem = random_problem(random.Random(seed).randint, 10)
        candidates = {
            n: tuple(replace(c, costs=Costs()) if (n + k) % 3 == 0 else c for k, c in enumerate(cs))
            for n, cs in problem.candidates.items()
        }
        labels = strategies.find("cost")(replace(problem, candidates=candidates))
        for node, found in candidates.items():
            known = [c.backend for c in found if c.costs.instructions is not None]
            first = found[0].backend
            assert labels[node] in (known if first in known else [first])


def test_different_units_never_compare() -> None:
    """One unit for the whole network: where any states cycles, instructions are no price."""
    few = replace(candidate("A"), costs=Costs(instructions=1, cycles=30))
    in_cycles = replace(candidate("B"), costs=Costs(cycles=20))
    in_instructions = candidate("C", 1)
    assert _chosen(_problem((few, in_cycles))) == "B"
    assert _chosen(_problem((in_cycles, in_instructions))) == "B"
    assert _chosen(_problem((in_instructions, in_cycles))) == "C"  # by rank
    others = (candidate("A", 9), candidate("B", 1))
    assert _chosen(_problem(others)) == "B"
    assert _chosen(_problem(others, (in_cycles,))) == "AB"  # by rank


def test_nodes_that_are_not_asked_about_are_not_chosen() -> None:
    both = (candidate("A", 2), candidate("B", 1, LAST))
    problem = Problem(wired([[], [0], [1]]), {1: both})
    assert dict(strategies.find("cost")(problem)) == {1: "A"}
    assert dict(strategies.find("greedy")(problem)) == {1: "A"}


@st.composite
def _problems(draw: st.DrawFn, size: int) -> Problem:
    problem = random_problem(hypothesis_pick(draw), draw(st.integers(1, size)))
    settled = draw(st.sets(st.sampled_from(sorted(problem.candidates)), max_size=2))
    fixed = {n: draw(st.sampled_from(problem.candidates[n])).backend for n in sorted(settled)}
    return replace(problem, fixed=fixed)


@given(_problems(12))
@settings(max_examples=examples(200), deadline=None)
@pytest.mark.parametrize("strategy", strategies.names())
def test_every_node_gets_a_candidate_and_what_is_fixed_stays(
    strategy: str, problem: Problem
) -> None:
    labels = strategies.find(strategy)(problem)
    assert set(labels) == set(problem.candidates)
    for node, candidates in problem.candidates.items():
        assert labels[node] in [c.backend for c in candidates]
        assert labels[node] == problem.fixed.get(node, labels[node])
    assert strategies.find(strategy)(problem) == labels


@given(_problems(12), st.randoms(use_true_random=False))
@settings(max_examples=examples(200), deadline=None)
def test_the_conversions_are_those_that_layouts_inserts(
    problem: Problem, source: random.Random
) -> None:
    labels = {n: source.choice(c).backend for n, c in sorted(problem.candidates.items())}
    assert cost.total(problem, labels) == _measured(problem, labels)


def test_small_graphs_get_the_optimum() -> None:
    """As the docstring of strategies/cost.py says of 1,000 graphs, on fewer."""
    for seed in range(examples(40, 20)):
        source = random.Random(seed)
        problem = random_problem(source.randint, source.randint(1, 7))
        assert cost.total(problem, cost.choose(problem)) == _best(problem), f"seed {seed}"


def test_long_chains_get_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain has few arrangements, so widening the search finds nothing better."""
    problem = random_problem(random.Random(3).randint, 400, reach=1)
    found = cost.total(problem, cost.choose(problem))
    monkeypatch.setattr(cost, "WIDTH", 10**6)
    assert cost.total(problem, cost.choose(problem)) == found


def test_a_search_that_is_cut_is_no_worse_than_greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of these graphs the 19th misleads a search that follows one path only."""
    monkeypatch.setattr(cost, "WIDTH", 1)
    for seed in range(40):
        problem = random_problem(random.Random(seed).randint, 4, dearest=5)
        labels = strategies.find("greedy")(problem)
        assert cost.total(problem, cost.choose(problem)) <= cost.total(problem, labels)
