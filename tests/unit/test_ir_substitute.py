"""Substitution of parts of a graph, and bodies that are given back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from graph_cases import Array, Net, random_inputs, random_net
from hypothesis import given
from hypothesis import strategies as st
from sampling import dear
from substitution_cases import chain, copy_of, one_node, same

from mcu_deploy import interpreter, passes
from mcu_deploy.backends.substitute import SubstitutionError, expand, substitute
from mcu_deploy.ir import Graph, GraphEditor, NodeId, SubgraphView, TensorType, verify, view

PROPERTY = dear(60)


def test_one_node_gets_what_it_replaces_as_its_body() -> None:
    graph = chain("Relu", "Neg", "Abs")
    part = view(graph, [1, 2])
    after, new = substitute(graph, part, one_node(part, "NegAbs"))
    same(after, graph)
    assert [(n.op, n.domain) for n in after.nodes] == [("Relu", ""), ("NegAbs", "vendor")]
    assert after.attributes(new[0]) == {"note": 1}
    assert after.leaf_nodes(new[0]) == ("neg1", "abs2")
    assert after.outputs == graph.outputs
    assert new[0] >= graph.topology.next_node


def test_nested_bodies_are_interpreted_and_given_back_one_by_one() -> None:
    graph = chain("Relu", "Neg", "Abs", "Floor")
    part = view(graph, [1, 2])
    once, inner = substitute(graph, part, one_node(part, "NegAbs"))
    part = view(once, [*inner, 3])
    twice, outer = substitute(once, part, one_node(part, "NegAbsFloor"))
    same(twice, graph)
    assert twice.leaf_nodes(outer[0]) == ("neg1", "abs2", "floor3")
    back = expand(twice, outer[0])
    same(back, graph)
    assert [n.op for n in back.nodes] == ["Relu", "NegAbs", "Floor"]
    fused = next(n.id for n in back.nodes if n.op == "NegAbs")
    whole = expand(back, fused)
    same(whole, graph)
    assert [n.op for n in whole.nodes] == ["Relu", "Neg", "Abs", "Floor"]
    assert min(n.id for n in whole.nodes if n.op != "Relu") > fused
    with pytest.raises(SubstitutionError, match="'relu0' has no body"):
        expand(whole, 0)


def test_several_nodes_keep_the_bodies_they_bring() -> None:
    graph = chain("Relu", "Neg", "Abs", "Floor")
    part = view(graph, [1, 2, 3])
    brought = copy_of(part)
    small = view(brought, [n.id for n in brought.nodes][:2])
    brought, _ = substitute(brought, small, one_node(small, "NegAbs"))
    after, new = substitute(graph, part, brought)
    same(after, graph)
    assert [n.op for n in after.nodes] == ["Relu", "NegAbs", "Floor"]
    assert after.leaf_nodes(new[0]) == ("neg1", "abs2")
    same(expand(after, new[0]), graph)


def test_constants_of_a_replacement_come_with_it() -> None:
    graph = chain("Neg", "Abs")
    net = Net()
    x = net.input(4)
    zero = net.constant(np.zeros(4, np.float32))
    y = net.op("Sub", [zero, x], (4,))
    after, _ = substitute(graph, view(graph, [0]), net.finish(y))
    same(after, graph)
    assert [n.op for n in after.nodes] == ["Sub", "Abs"]
    assert min(after.data.constants) >= graph.topology.next_edge


def test_a_body_that_shares_nodes_and_constants_is_given_back_without_clashes() -> None:
    net = Net()
    x, one = net.input(4), net.constant(np.ones(4, np.float32))
    shared = net.op("Add", [x, one], (4,))
    graph = net.finish(net.op("Neg", [shared], (4,)), net.op("Mul", [shared, one], (4,)))
    editor = GraphEditor(graph)
    fused = editor.fuse([1], "Neg", [x], [graph.outputs[0]], {}, "fused", shared=[0])
    back = expand(editor.finish(), fused)
    same(back, graph)
    assert sorted(n.op for n in back.nodes) == ["Add", "Add", "Mul", "Neg"]
    assert list(back.data.constants) == [one]


def identity(type_: TensorType) -> Graph:
    editor = GraphEditor.empty("nothing")
    editor.inputs = editor.outputs = [editor.add_edge("x", type_)]
    return editor.finish()


def test_an_input_that_is_an_output_is_read_directly() -> None:
    graph = chain("Relu", "Identity", "Neg")
    part = view(graph, [1])
    after, new = substitute(graph, part, identity(part.type(part.inputs[0])))
    same(after, graph)
    assert ([n.op for n in after.nodes], new) == (["Relu", "Neg"], ())


def test_an_output_of_the_model_that_nothing_computes_any_more_is_copied() -> None:
    for ops in (("Relu", "Identity"), ("Identity",)):
        graph = chain(*ops)
        part = view(graph, [len(ops) - 1])
        after, new = substitute(graph, part, identity(part.type(part.inputs[0])))
        same(after, graph)
        assert ([n.op for n in after.nodes], new) == (list(ops), ())
        assert after.outputs == graph.outputs


def test_an_output_may_become_a_constant_or_another_output() -> None:
    net = Net()
    x, zero = net.input(4), net.constant(np.zeros(4, np.float32))
    first, second = net.op("Neg", [x], (4,)), net.op("Neg", [x], (4,))
    third = net.op("Sub", [zero, zero], (4,))
    graph = net.finish(net.op("Add", [first, second], (4,)), second, third)
    part = view(graph, [0, 1, 2])
    assert part.outputs == (first, second, third)
    net = Net()
    x = net.input(4)
    y = net.op("Neg", [x], (4,))
    after, new = substitute(graph, part, net.finish(y, y, net.constant(np.zeros(4, np.float32))))
    same(after, graph)
    assert sorted(n.op for n in after.nodes) == ["Add", "Identity", "Identity", "Neg"]
    assert after.leaf_nodes(new[0]) == ("neg0",)


def test_a_view_of_an_earlier_value_stands_while_its_nodes_do() -> None:
    """The identity between the parts goes first, so the second part reads another edge."""
    graph = chain("Relu", "Identity", "Neg", "Abs")
    first, second = view(graph, [1]), view(graph, [2, 3])
    replacement = one_node(second, "NegAbs")
    after, _ = substitute(graph, first, identity(first.type(first.inputs[0])))
    after, _ = substitute(after, second, replacement)
    same(after, graph)
    with pytest.raises(SubstitutionError, match="'neg2' is not in the graph"):
        substitute(after, second, replacement)


def test_two_inputs_of_a_part_may_have_become_one() -> None:
    net = Net()
    x = net.input(4)
    copied = net.op("Identity", [x], (4,))
    graph = net.finish(net.op("Add", [x, copied], (4,)))
    part, replacement = view(graph, [1]), one_node(view(graph, [1]), "Twice")
    first = view(graph, [0])
    after, _ = substitute(graph, first, identity(first.type(x)))
    after, new = substitute(after, part, replacement)
    same(after, graph)
    assert after.node(new[0]).inputs == (x, x)


def convex_closure(graph: Graph, nodes: Sequence[NodeId]) -> list[NodeId]:
    """The nodes, and those that lie on a path between two of them."""
    after: set[NodeId] = set()
    before: set[NodeId] = set()
    for node in graph.nodes:
        sources = [graph.topology.producers.get(e) for e in node.reads]
        if node.id in nodes or any(s in after for s in sources):
            after.add(node.id)
    for node in reversed(tuple(graph.nodes)):
        readers = [r for e in node.writes for r in graph.topology.consumers[e]]
        if node.id in nodes or any(r in before for r in readers):
            before.add(node.id)
    return sorted(after & before)


def random_part(data: st.DataObject, graph: Graph) -> SubgraphView:
    nodes = [n.id for n in graph.nodes]
    some = data.draw(st.lists(st.sampled_from(nodes), min_size=1, unique=True))
    return view(graph, convex_closure(graph, some))


def evaluated(graph: Graph, inputs: Sequence[Array]) -> dict[str, bytes]:
    values = interpreter.run_all(graph, inputs)
    return {graph.edge_name(e): v.tobytes() for e, v in values.items()}


@given(st.data())
@PROPERTY
def test_a_part_by_its_own_copy_changes_no_bit(data: st.DataObject) -> None:
    graph = random_net(lambda low, high: data.draw(st.integers(low, high)))
    if not graph.topology.nodes:
        return
    before = graph
    for _ in range(3):
        part = random_part(data, graph)
        inner = set(part.topology.edges) - set(part.outputs) - set(graph.outputs)
        old, next_node = graph, graph.topology.next_node
        graph, new = substitute(graph, part, copy_of(part))
        verify(graph)
        assert all(n >= next_node for n in new)
        written = {e for n in part.nodes for e in n.writes}
        assert not inner & written & set(graph.topology.edges)
        inputs = random_inputs(old)
        assert evaluated(graph, inputs) == evaluated(old, inputs)
    while fused := [n.id for n in graph.nodes if graph.body(n.id) is not None]:
        graph = expand(graph, fused[0])
        verify(graph)
    same(graph, before)


@given(st.data())
@PROPERTY
def test_any_part_fused_and_given_back_changes_no_bit(data: st.DataObject) -> None:
    graph = passes.run(random_net(lambda low, high: data.draw(st.integers(low, high))))
    if not graph.topology.nodes:
        return
    part = random_part(data, graph)
    fused, new = substitute(graph, part, one_node(part, "Anything"))
    same(fused, graph)
    assert sorted(fused.leaf_nodes(new[0])) == sorted(
        name for n in part.nodes for name in graph.leaf_nodes(n.id)
    )
    same(expand(fused, new[0]), graph)
