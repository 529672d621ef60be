"""Editing: order, dead code, ids, fusion and what becomes of a fused node's body."""

from __future__ import annotations

import numpy as np
import pytest
from graph_cases import Net, random_net
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import dear, examples
from substitution_cases import chain

from mcu_deploy import interpreter
from mcu_deploy.errors import ModelError
from mcu_deploy.ir import DType, Graph, GraphEditor, TensorType, verify

FLOATS = TensorType(DType.FLOAT32, (4,))


def ops(graph: Graph) -> list[str]:
    return [n.op for n in graph.nodes]


def test_an_editor_leaves_its_graph_alone() -> None:
    graph = chain("Relu", "Neg")
    editor = GraphEditor(graph)
    editor.remove_node(1)
    editor.redirect(2, 1)
    editor.add_constant("c", np.ones(4, np.float32), FLOATS)
    assert ops(editor.finish()) == ["Relu"]
    assert ops(graph) == ["Relu", "Neg"]
    assert set(graph.topology.edges) == {0, 1, 2}
    verify(graph)


def test_finish_sorts_and_keeps_the_order_of_nodes_that_are_independent() -> None:
    net = Net()
    x = net.input(4)
    firsts = [net.op("Relu", [x], (4,)) for _ in range(3)]
    seconds = [net.op("Neg", [e], (4,)) for e in reversed(firsts)]
    graph = net.finish(*seconds)
    assert [n.id for n in graph.nodes] == [0, 1, 2, 3, 4, 5]
    # A node that is made last, but is read by the first, goes before it and moves nothing else.
    editor = GraphEditor(graph)
    late = editor.add_edge("late", FLOATS)
    editor.add_node("Abs", [x], [late], "late")
    editor.set_inputs(0, [late])
    assert [n.id for n in editor.finish().nodes] == [1, 2, 3, 4, 6, 0, 5]


@given(st.data())
@dear(60)
def test_any_order_of_the_nodes_is_sorted_and_finish_is_idempotent(data: st.DataObject) -> None:
    graph = random_net(lambda low, high: data.draw(st.integers(low, high)))
    editor = GraphEditor(graph)
    editor.nodes = {n: editor.nodes[n] for n in data.draw(st.permutations(sorted(editor.nodes)))}
    shuffled = editor.finish()
    verify(shuffled)
    assert sorted(n.id for n in shuffled.nodes) == sorted(n.id for n in graph.nodes)
    again = GraphEditor(shuffled).finish()
    assert list(again.topology.nodes.values()) == list(shuffled.topology.nodes.values())


def test_a_cycle_is_an_error_that_names_a_node() -> None:
    editor = GraphEditor(chain("Relu", "Neg"))
    editor.set_inputs(0, [2])
    with pytest.raises(ModelError, match=r"form a cycle through 'relu0'"):
        editor.finish()


def test_dead_parts_go_and_inputs_stay() -> None:
    net = Net()
    x, unused = net.input(4), net.input(9)
    kept = net.op("Relu", [x], (4,))
    dead = net.op("Add", [kept, net.constant(np.ones(4, np.float32))], (4,))
    net.op("Neg", [dead], (4,))
    graph = net.finish(kept)
    verify(graph)
    assert ops(graph) == ["Relu"]
    assert graph.inputs == (x, unused)
    assert set(graph.topology.edges) == {x, unused, kept}
    assert not graph.data.constants


def test_ids_are_never_given_twice() -> None:
    graph = chain("Relu", "Neg", "Abs")
    editor = GraphEditor(graph)
    for node, old, new in ((2, 3, 2), (1, 2, 1)):
        editor.remove_node(node)
        editor.redirect(old, new)
    smaller = editor.finish()
    assert (list(smaller.topology.nodes), list(smaller.topology.edges)) == ([0], [0, 1])
    editor = GraphEditor(smaller)
    assert editor.add_edge("new", FLOATS) == 4
    assert editor.add_node("Neg", [1], [4], "new") == 3
    editor.outputs = [4]
    grown = editor.finish()
    verify(grown)
    assert (grown.topology.next_node, grown.topology.next_edge) == (4, 5)


def test_redirect_reaches_every_reader_and_the_outputs() -> None:
    net = Net()
    x = net.input(4)
    y = net.op("Identity", [x], (4,))
    z = net.op("Add", [y, y], (4,))
    editor = GraphEditor(net.finish(z, y))
    editor.redirect(y, x)
    graph = editor.finish()
    assert ops(graph) == ["Add"]
    assert graph.node(1).inputs == (x, x)
    assert graph.outputs == (z, x)


def fused_chain() -> Graph:
    """Relu, then Neg and Abs fused, and the result fused once more with a Floor."""
    graph = chain("Relu", "Neg", "Abs", "Floor")
    editor = GraphEditor(graph)
    inner = editor.fuse([1, 2], "Abs", [1], [3], {"note": 1}, "inner")
    editor.fuse([inner, 3], "Floor", [1], [4], {}, "outer")
    return editor.finish()


def test_a_fused_node_keeps_its_body() -> None:
    graph = fused_chain()
    verify(graph)
    assert ops(graph) == ["Relu", "Floor"]
    outer = next(n for n in graph.nodes if n.op == "Floor")
    body = graph.body(outer.id)
    assert body is not None
    assert (body.inputs, body.outputs, ops(body)) == ((1,), (4,), ["Abs", "Floor"])
    inner = body.body(next(n.id for n in body.nodes if n.op == "Abs"))
    assert inner is not None
    assert ops(inner) == ["Neg", "Abs"]
    assert graph.leaf_nodes(outer.id) == ("neg1", "abs2", "floor3")
    assert graph.leaf_nodes(0) == ("relu0",)
    value = np.array([-1.5, -0.5, 0.5, 1.5], np.float32)
    assert interpreter.run(inner, [value])[0].tolist() == [1.5, 0.5, 0.5, 1.5]


def test_shared_nodes_are_in_the_body_and_stay_where_others_read_them() -> None:
    net = Net()
    x = net.input(4)
    shared = net.op("Relu", [x], (4,))
    left = net.op("Neg", [shared], (4,))
    right = net.op("Abs", [shared], (4,))
    editor = GraphEditor(net.finish(left, right))
    fused = editor.fuse([1], "Neg", [x], [left], {}, "fused", shared=[0])
    graph = editor.finish()
    verify(graph)
    assert ops(graph) == ["Relu", "Neg", "Abs"]  # where the node that it replaces stood
    assert graph.leaf_nodes(fused) == ("relu0", "neg1")
    # Without the other reader the shared node is dead in the graph, and lives on in the body.
    editor = GraphEditor(graph)
    editor.outputs = [left]
    graph = editor.finish()
    assert ops(graph) == ["Neg"]
    assert graph.leaf_nodes(fused) == ("relu0", "neg1")


def test_a_body_keeps_its_own_constants() -> None:
    net = Net()
    one = net.constant(np.ones(4, np.float32))
    y = net.op("Add", [net.input(4), one], (4,))
    editor = GraphEditor(net.finish(y))
    two = editor.add_constant("two", np.full(4, 2, np.float32), FLOATS)
    fused = editor.fuse([0], "Add", [1, two], [y], {}, "folded")
    graph = editor.finish()
    verify(graph)
    body = graph.body(fused)
    assert body is not None
    assert list(body.data.constants) == [one]
    assert list(graph.data.constants) == [two]


def test_a_body_follows_when_its_node_is_rewired() -> None:
    """Inputs and outputs, in nested bodies too; values stay the same."""
    graph = fused_chain()
    outer = next(n.id for n in graph.nodes if n.op == "Floor")
    editor = GraphEditor(graph)
    source, result = editor.add_edge("source", FLOATS), editor.add_edge("result", FLOATS)
    editor.add_node("Identity", [1], [source], "copy")
    editor.set_inputs(outer, [source])
    editor.set_outputs(outer, [result])
    editor.redirect(4, result)
    rewired = editor.finish()
    verify(rewired)
    body = rewired.body(outer)
    assert body is not None
    assert (body.inputs, body.outputs) == ((source,), (result,))
    value = [np.array([-1.5, 0.5, 2.5, 3.0], np.float32)]
    assert np.array_equal(interpreter.run(rewired, value)[0], interpreter.run(graph, value)[0])
    assert interpreter.run(body, value)[0].tolist() == [1.0, 0.0, 2.0, 3.0]
    # The graph that it came from is as it was.
    verify(graph)


def test_a_node_keeps_its_number_of_inputs() -> None:
    editor = GraphEditor(chain("Relu"))
    with pytest.raises(ValueError, match="zip"):
        editor.set_inputs(0, [0, 0])


@given(st.data())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_an_editor_knows_between_changes_what_the_finished_graph_knows(data: st.DataObject) -> None:
    graph = random_net(lambda low, high: data.draw(st.integers(low, high)))
    editor = GraphEditor(graph)
    for _ in range(data.draw(st.integers(0, 4))):
        nodes = [n for n in editor.nodes.values() if len(n.reads) == 1 and len(n.writes) == 1]
        same = [n for n in nodes if editor.type(n.reads[0]) == editor.type(n.writes[0])]
        if not same:
            break
        node = data.draw(st.sampled_from(same))
        if node.writes[0] in editor.outputs or data.draw(st.booleans()):
            editor.fuse([node.id], "Neg", node.inputs, node.outputs, {}, "again")
        else:
            editor.remove_node(node.id)
            editor.redirect(node.writes[0], node.reads[0])
    finished = GraphEditor(editor.finish()).finish()
    for edge in finished.topology.edges:
        assert editor.producer(edge) == finished.producer(edge)
        assert set(editor.consumers(edge)) == set(finished.consumers(edge))
        assert editor.sole_consumer(edge) == finished.sole_consumer(edge)


def test_what_only_a_fused_node_read_goes_with_it() -> None:
    net = Net()
    x = net.input(4)
    far = net.op("Relu", [x], (4,))
    near = net.op("Neg", [far], (4,))
    editor = GraphEditor(net.finish(net.op("Abs", [near], (4,))))
    editor.fuse([2], "Abs", [x], editor.outputs, {}, "fused", shared=[0, 1])
    assert [n.op for n in editor.nodes.values()] == ["Abs"]
    assert editor.consumers(x) == (editor.nodes[3],)
