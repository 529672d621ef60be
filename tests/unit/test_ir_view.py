"""Partial views: whose producers and consumers a partition sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graph_cases import Net, random_net
from hypothesis import given
from hypothesis import strategies as st
from sampling import dear

from mcu_deploy.backends.substitute import substitute
from mcu_deploy.ir import Graph, GraphEditor, GraphError, SubgraphView, verify, view, view_of_all
from mcu_deploy.ir.view import unwrapped
from tests.view_checks import verify_view

IN, AB, AC, OUT_B, OUT_C = range(5)
A, B, C = range(3)


def abc() -> Graph:
    """The graph of ppl.nn's page: A feeds B over ab, and C over ac; B and C write the outputs."""
    net = Net()
    x = net.input(4)
    ab, ac = (net.editor.add_edge(name, net.editor.types[x]) for name in ("ab", "ac"))
    net.editor.add_node("Split", [x], [ab, ac], "A", {"axis": 0, "num_outputs": 2})
    net.editor.types[ab] = net.editor.types[ac] = replace(net.editor.types[x], shape=(2,))
    graph = net.finish(net.op("Neg", [ab], (2,)), net.op("Abs", [ac], (2,)))
    verify(graph)
    return graph


def test_each_part_sees_its_own_producers_and_consumers() -> None:
    graph = abc()
    first, second = view(graph, [A, B]), view(graph, [C])
    for part in (first, second, view_of_all(graph)):
        verify_view(part)
    assert (first.inputs, first.outputs) == ((IN,), (AC, OUT_B))
    producer = first.producer(AC)
    assert producer is graph.node(A)
    assert first.consumers(AC) == ()
    assert (second.inputs, second.outputs) == ((AC,), (OUT_C,))
    assert second.producer(AC) is None
    assert second.consumers(AC) == (graph.node(C),)
    assert graph.producer(AC) is graph.node(A)
    assert graph.consumers(AC) == (graph.node(C),)
    assert graph.consumers(AB) == first.consumers(AB) == (graph.node(B),)
    assert set(first.topology.edges) == {IN, AB, AC, OUT_B}
    stores = [unwrapped(g.data.types) for g in (first, second)]
    assert stores[0] is stores[1] is graph.data.types
    assert first.node(A) is graph.node(A)


def test_what_is_fused_in_a_view_is_fused_in_the_whole() -> None:
    graph = abc()
    part = view(graph, [A, B])
    editor = GraphEditor(part)
    fused = editor.fuse([A, B], "SplitNeg", [IN], [AC, OUT_B], {}, "AB", domain="vendor")
    after, new = substitute(graph, part, editor.finish())
    verify(after)
    assert [n.name for n in after.nodes] == ["AB", after.node(C).name]
    assert AB not in after.topology.edges
    assert AB in graph.topology.edges
    assert after.producer(AC) is after.node(new[0])
    assert after.consumers(AC) == (after.node(C),)
    assert set(new).isdisjoint(graph.topology.nodes)
    assert after.topology.next_node > max(new) >= fused
    verify_view(view(after, new))
    # An id that is gone names nothing in any later value.
    editor = GraphEditor(after)
    assert editor.add_edge("new", graph.type(AB)) not in graph.topology.edges
    with pytest.raises(KeyError):
        view(after, [A])


def test_a_view_of_some_of_a_views_nodes_has_the_same_whole() -> None:
    graph = abc()
    part = view(graph, [A, B]).part([B])
    verify_view(part)
    assert part.whole is not None
    assert unwrapped(part.whole.data.types) is graph.data.types
    assert part.node_ids == {B}
    with pytest.raises(KeyError):
        view(graph, [A, B]).part([C])


def test_outputs_of_the_model_leave_every_view_and_constants_enter_none() -> None:
    net = Net()
    x = net.input(4)
    y = net.op("Add", [x, net.constant(np.ones(4, np.float32))], (4,))
    z = net.op("Neg", [y], (4,))
    graph = net.finish(y, z)
    whole = view_of_all(graph)
    verify_view(whole)
    assert (whole.inputs, whole.outputs) == ((x,), (y, z))


@given(st.data())
@dear(60)
def test_any_split_gives_sound_views_whose_borders_meet(data: st.DataObject) -> None:
    graph = random_net(lambda low, high: data.draw(st.integers(low, high)))
    labels = {n.id: data.draw(st.integers(0, 2)) for n in graph.nodes}
    parts = [view(graph, [n for n, k in labels.items() if k == label]) for label in range(3)]
    for part in parts:
        verify_view(part)
    leaving = [e for part in parts for e in part.outputs]
    assert len(leaving) == len(set(leaving))
    assert {e for part in parts for e in part.inputs} <= set(leaving) | set(graph.inputs)
    assert set(graph.outputs) <= set(leaving) | set(graph.inputs)


def changed(part: SubgraphView, **changes: Any) -> SubgraphView:
    return replace(part, topology=replace(part.topology, **changes))


BROKEN: dict[str, tuple[Callable[[SubgraphView], SubgraphView], str]] = {
    "no whole": (lambda v: replace(v, whole=None), "no whole"),
    "own data": (lambda v: replace(v, data=replace(v.data)), "data store of its own"),
    "foreign node": (
        lambda v: changed(v, nodes={**v.topology.nodes, 9: replace(v.node(B), id=9)}), "[9]"
    ),
    "own node": (
        lambda v: changed(v, nodes={**v.topology.nodes, B: replace(v.node(B))}), "another node"
    ),
    "own ids": (lambda v: changed(v, next_node=99), "given twice"),
    "other order": (
        lambda v: changed(v, nodes=dict(reversed(list(v.topology.nodes.items())))), "another order"
    ),
    "missing edge": (lambda v: changed(v, edges={IN: "in0"}), "other edges"),
    "renamed edge": (
        lambda v: changed(v, edges={**v.topology.edges, AB: "ba"}), "a name of its own"
    ),
    "inner edge as input": (lambda v: changed(v, inputs=(IN, AB)), "that enter"),
    "hidden output": (lambda v: changed(v, outputs=(OUT_B,)), "that leave"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_verify_view_refuses(name: str) -> None:
    change, sentence = BROKEN[name]
    with pytest.raises(GraphError, match=sentence.replace("[", r"\[")):
        verify_view(change(view(abc(), [A, B])))


def test_a_view_cannot_change_the_graph() -> None:
    net = Net()
    x = net.input(1, 4)
    y = net.op("Add", [x, net.constant(np.zeros(4, np.float32))], (1, 4), axes=np.arange(2))
    graph = net.finish(y)
    seen: Any = view_of_all(graph)
    for data in (seen.data, seen.whole.data, seen.part([0]).data):
        for mapping, key in ((data.types, x), (data.attributes[0], "axes"), (data.constants, x)):
            with pytest.raises(TypeError):
                mapping[key] = None
        (constant,) = data.constants.values()
        for array in (constant, data.attributes[0]["axes"]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    for topology in (seen.topology, seen.whole.topology):
        with pytest.raises(TypeError):
            topology.nodes[0] = None
        with pytest.raises(TypeError):
            topology.edges[x] = "z"


def test_what_a_view_holds_can_be_printed() -> None:
    """Whoever writes a backend looks at a layer's attributes."""
    assert repr(view_of_all(abc()).attributes(A)) == "ReadOnly({'axis': 0, 'num_outputs': 2})"
