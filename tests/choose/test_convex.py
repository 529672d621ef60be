"""Grouping: partitions are whole, convex together, and as large as that allows."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_cases import hypothesis_pick, random_graph, wired
from sampling import examples
from work import lines

from mcu_deploy.choose import Group
from mcu_deploy.choose.convex import group
from mcu_deploy.ir import Graph, GraphEditor, NodeId

Part = frozenset[NodeId]


def _labels(text: str) -> dict[NodeId, str]:
    """The k-th character is the label of node k; "." is none."""
    return {k: label for k, label in enumerate(text) if label != "."}


def _dependences(graph: Graph, parts: Iterable[Part]) -> dict[Part, set[Part]]:
    """For each part the others that it reads from; nodes outside are parts of their own."""
    part_of = {node: part for part in parts for node in part}
    for node in graph.nodes:
        part_of.setdefault(node.id, frozenset([node.id]))
    found: dict[Part, set[Part]] = {part: set() for part in part_of.values()}
    for node in graph.nodes:
        for edge in node.reads:
            producer = graph.producer(edge)
            if producer is not None and part_of[producer.id] != part_of[node.id]:
                found[part_of[node.id]].add(part_of[producer.id])
    return found


def _acyclic(graph: Graph, parts: Iterable[Part]) -> bool:
    try:
        TopologicalSorter(_dependences(graph, parts)).prepare()
    except CycleError:
        return False
    return True


def _check(graph: Graph, labels: Mapping[NodeId, str], found: Sequence[Group]) -> None:
    """What the docstring of `group` promises, from its definition."""
    assert sorted(n for p in found for n in p.nodes) == sorted(labels)
    assert all(labels[n] == p.backend for p in found for n in p.nodes)
    parts = [frozenset(p.nodes) for p in found]
    assert _acyclic(graph, parts)
    dependences = _dependences(graph, parts)
    place = {part: k for k, part in enumerate(parts)}
    ancestors: dict[Part, set[Part]] = {}
    for part in TopologicalSorter(dependences).static_order():
        direct = dependences[part]
        ancestors[part] = direct.union(*(ancestors[other] for other in direct))
    for part in parts:
        assert all(place[other] < place[part] for other in ancestors[part] if other in place)
    for one, other in combinations(found, 2):
        first, second = frozenset(one.nodes), frozenset(other.nodes)
        adjacent = first in dependences[second] or second in dependences[first]
        if one.backend == other.backend and adjacent:
            rest = [p for p in parts if p not in (first, second)]
            assert not _acyclic(graph, [*rest, first | second]), f"{one} and {other} fit together"


def _grouped(producers: Sequence[Sequence[int]], labels: str) -> list[list[NodeId]]:
    graph = wired(producers)
    found = group(graph, _labels(labels))
    _check(graph, _labels(labels), found)
    return [list(p.nodes) for p in found]


DIAMOND = ([], [0], [0], [1, 2])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("AAAA", [[0, 1, 2, 3]]),
        # A greedy that joins all neighbours of one label makes {0, 1, 3}, around {2}.
        ("AABA", [[0, 1], [2], [3]]),
        ("ABBA", [[0], [1], [2], [3]]),
        ("ABAB", [[0, 2], [1, 3]]),
        # A node that nobody has yet lies on a path as well.
        ("AA.A", [[0, 1], [3]]),
        ("A..A", [[0], [3]]),
        ("....", []),
    ],
)
def test_a_diamond(labels: str, expected: list[list[NodeId]]) -> None:
    assert _grouped(DIAMOND, labels) == expected


def test_parts_that_are_convex_alone_make_no_cycle_together() -> None:
    """0 and 1 both feed 2 and 3: {0, 3} and {1, 2} are convex each, and a cycle together."""
    assert _grouped(([], [], [0, 1], [0, 1]), "ABBA") == [[0], [1, 2], [3]]


def test_what_a_subgraph_reads_is_a_path_as_well() -> None:
    """The diamond's last edge is an extra input: node 3 holds a graph that reads what 2 writes."""
    editor = GraphEditor(wired(([], [0], [0], [1])))
    between = editor.nodes[2].writes[0]
    editor.put(replace(editor.nodes[3], extra_inputs=(between,)))
    graph = editor.finish()
    labels = _labels("AABA")
    found = group(graph, labels)
    _check(graph, labels, found)
    assert [p.nodes for p in found] == [(0, 1), (2,), (3,)]


def test_nested_diamonds() -> None:
    """The inner diamond 1-2-3-4 lies in one arm of the outer 0-...-6, whose other arm is 5."""
    producers = ([], [0], [1], [1], [2, 3], [0], [4, 5])
    assert _grouped(producers, "AAABAAA") == [[0, 1, 2, 5], [3], [4, 6]]
    assert _grouped(producers, "AAAAABA") == [[0, 1, 2, 3, 4], [5], [6]]
    assert _grouped(producers, "AABBAAA") == [[0, 1, 5], [2], [3], [4, 6]]


def test_fan_out_stays_whole_and_fan_in_joins() -> None:
    assert _grouped(([], [0], [0], [0], [0]), "AAABA") == [[0, 1, 2, 4], [3]]
    assert _grouped(([], [], [], [], [0, 1, 2, 3]), "AABAA") == [[2], [0, 1, 3, 4]]


def test_a_node_joins_the_later_of_two_that_do_not_fit_together() -> None:
    """0 -> 1(B) -> 2, and 3 reads 0 and 2."""
    assert _grouped(([], [0], [1], [0, 2]), "ABAA") == [[0], [1], [2, 3]]


def test_what_comes_after_a_joined_part_stays_after_it() -> None:
    """3 joins 0 and 1, so what reads 1 comes after 0, and 5 must not join it to 0's side."""
    producers = ([], [], [1], [0, 1], [2], [4, 0])
    assert _grouped(producers, "AABABA") == [[0, 1, 3], [2, 4], [5]]


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Graph, dict[NodeId, str]]:
    graph = random_graph(hypothesis_pick(draw), draw(st.integers(1, 14)), draw(st.integers(1, 14)))
    kinds = draw(st.sampled_from(["A.", "AB", "AB.", "ABC"]))
    labels = {n.id: draw(st.sampled_from(kinds)) for n in graph.nodes}
    return graph, {n: label for n, label in labels.items() if label != "."}


@given(_cases())
@settings(max_examples=examples(300), deadline=None)
def test_random_graphs(case: tuple[Graph, dict[NodeId, str]]) -> None:
    graph, labels = case
    found = group(graph, labels)
    _check(graph, labels, found)
    assert group(graph, dict(reversed(labels.items()))) == found


@pytest.mark.parametrize("reach", [1, 3, 10, 60])
def test_larger_random_graphs(reach: int) -> None:
    for seed in range(12):
        source = random.Random(seed)
        graph = random_graph(source.randint, 60, reach)
        labels = {n.id: source.choice("AAB.") for n in graph.nodes}
        labelled = {n: label for n, label in labels.items() if label != "."}
        _check(graph, labelled, group(graph, labelled))


@pytest.mark.parametrize("reach", [1, 50, 5000])
def test_the_work_for_thousands_of_nodes_grows_with_their_number(reach: int) -> None:
    source = random.Random(1)

    def work(size: int) -> int:
        graph = random_graph(source.randint, size, reach)
        labels = {n.id: source.choice("ABC") for n in graph.nodes}
        return lines(lambda: group(graph, labels))

    assert work(4000) < 10 * work(1000), "four times as many, not sixteen times as much"
