"""Nodes that hold graphs: extra inputs in the topology, in views, and under substitution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from graph_cases import Array, Net

from mcu_deploy import interpreter, passes
from mcu_deploy.backends.substitute import expand, substitute
from mcu_deploy.errors import ModelError
from mcu_deploy.ir import (
    DType,
    Graph,
    GraphEditor,
    GraphError,
    SubgraphView,
    TensorType,
    verify,
    view,
)
from tests.view_checks import verify_view

FLOATS = TensorType(DType.FLOAT32, (4,))
FLAG = TensorType(DType.BOOL, ())
COUNT = TensorType(DType.INT64, ())
X = np.array([-2, -1, 1, 2], np.float32)
YES, NO = np.array(True), np.array(False)


def branch(op: str) -> Graph:
    """outer (4) -> op, as the branch of an If sees it."""
    net = Net()
    return net.finish(net.op(op, [net.input(4)], (4,)))


def conditional() -> Graph:
    """flag, x -> mid = Relu(x) -> If(flag): then Neg(mid), else Exp(mid) -> y; z = Abs(mid)."""
    net = Net()
    flag = net.editor.add_edge("flag", FLAG)
    net.editor.inputs.append(flag)
    mid = net.op("Relu", [net.input(4)], (4,))
    y = net.editor.add_edge("y", FLOATS)
    net.editor.add_node(
        "If", [flag], [y], "if", extra_inputs=[mid],
        subgraphs={"then_branch": branch("Neg"), "else_branch": branch("Floor")},
    )  # fmt: skip
    graph = net.finish(y, net.op("Abs", [mid], (4,)))
    verify(graph)
    return graph


FLAG_EDGE, IN, MID, Y, Z = range(5)
RELU, IF, ABS = range(3)


def results(graph: Graph, flag: Array) -> list[list[float]]:
    verify(graph)
    return [a.tolist() for a in interpreter.run(graph, [flag, X])]


def check(graph: Graph) -> None:
    assert results(graph, YES) == [[0, 0, -1, -2], [0, 0, 1, 2]]
    assert results(graph, NO) == [[0, 0, 1, 2], [0, 0, 1, 2]]


def test_extra_inputs_are_read_like_others() -> None:
    graph = conditional()
    check(graph)
    assert graph.node(IF).reads == (FLAG_EDGE, MID)
    assert graph.consumers(MID) == (graph.node(IF), graph.node(ABS))
    # The producer stays alive for them, and stands before their reader.
    editor = GraphEditor(graph)
    editor.outputs = [Y]
    only = editor.finish()
    verify(only)
    assert [n.op for n in only.nodes] == ["Relu", "If"]
    assert set(only.topology.edges) == {FLAG_EDGE, IN, MID, Y}
    editor.outputs = [Z]
    assert editor.finish().data.subgraphs == {}


def test_views_see_extra_inputs() -> None:
    graph = conditional()
    part = view(graph, [IF])
    verify_view(part)
    assert (part.inputs, part.outputs) == ((FLAG_EDGE, MID), (Y,))
    assert part.subgraphs(IF).keys() == graph.subgraphs(IF).keys()
    assert all(part.subgraphs(IF)[name] is inner for name, inner in graph.subgraphs(IF).items())
    source = view(graph, [RELU])
    verify_view(source)
    assert source.outputs == (MID,)
    both = view(graph, [RELU, IF, ABS])
    verify_view(both)
    assert both.inputs == (IN, FLAG_EDGE)


def test_a_reader_that_is_redirected_takes_its_extra_inputs_along() -> None:
    graph = conditional()
    editor = GraphEditor(graph)
    copied = editor.add_edge("copied", FLOATS)
    editor.redirect(MID, copied)
    editor.add_node("Identity", [MID], [copied], "copy")
    after = editor.finish()
    check(after)
    assert after.node(IF).extra_inputs == (copied,)
    assert passes.identities.remove(after).node(IF).extra_inputs == (MID,)


def fused(part: SubgraphView, op: str) -> Graph:
    editor = GraphEditor(part)
    for node in part.nodes:
        editor.remove_node(node.id)
    editor.add_node(op, part.inputs, part.outputs, "fused", domain="vendor")
    return editor.finish()


def test_a_node_with_graphs_can_be_fused_and_given_back() -> None:
    graph = conditional()
    part = view(graph, [RELU, IF])
    after, (new,) = substitute(graph, part, fused(part, "ReluIf"))
    check(after)
    body = after.body(new)
    assert body is not None
    assert set(body.subgraphs(IF)) == {"then_branch", "else_branch"}
    back = expand(after, new)
    check(back)
    assert sorted(n.op for n in back.nodes) == ["Abs", "If", "Relu"]


def test_a_node_with_graphs_can_come_as_a_replacement_alone_or_with_others() -> None:
    graph = conditional()
    for nodes in ([IF], [IF, ABS]):
        part = view(graph, nodes)
        after, new = substitute(graph, part, GraphEditor(part).finish())
        check(after)
        (made,) = [after.node(n) for n in new if after.node(n).op == "If"]
        assert made.extra_inputs == (MID,)
        assert set(after.subgraphs(made.id)) == {"then_branch", "else_branch"}


def test_a_body_follows_when_extra_inputs_are_redirected() -> None:
    graph = conditional()
    part = view(graph, [IF])
    graph, (new,) = substitute(graph, part, GraphEditor(part).finish())
    editor = GraphEditor(graph)
    copied = editor.add_edge("copied", FLOATS)
    editor.redirect(MID, copied)
    editor.add_node("Identity", [MID], [copied], "copy")
    after = editor.finish()
    check(after)
    body = after.body(new)
    assert body is not None
    assert body.node(IF).extra_inputs == (copied,)
    check(expand(after, new))


def test_every_pass_keeps_what_they_compute() -> None:
    """An If whose condition is constant becomes its branch."""
    graph = conditional()
    editor = GraphEditor(graph)
    editor.inputs = []
    editor.constants[FLAG_EDGE] = NO
    editor.constants[IN] = X
    for edge in (FLAG_EDGE, IN):
        editor.constants[edge] = editor.constants[edge].copy()
        editor.constants[edge].flags.writeable = False
    graph = editor.finish()
    for _, function in passes.passes():
        graph = function(graph)
        verify(graph)
    assert [n.op for n in graph.nodes if n.op == "If"] == []
    assert [a.tolist() for a in interpreter.run(graph, [])] == [[0, 0, 1, 2], [0, 0, 1, 2]]
    check(passes.run(conditional()))


def body_of(*outputs: TensorType, inputs: tuple[TensorType, ...]) -> GraphEditor:
    editor = GraphEditor.empty("body")
    editor.inputs = [editor.add_edge(f"i{k}", t) for k, t in enumerate(inputs)]
    editor.outputs = [editor.add_edge(f"o{k}", t) for k, t in enumerate(outputs)]
    return editor


def loop(collected: int) -> Graph:
    """trips, going, x; step (4) -> Loop: s = s + step while s[0] < 3, collecting each s."""
    body = body_of(FLAG, FLOATS, FLOATS, inputs=(COUNT, FLAG, FLOATS, FLOATS))
    _, going, state, step = body.inputs
    again, total, copy = body.outputs
    body.add_node("Identity", [going], [again], "again")
    body.add_node("Add", [state, step], [total], "add")
    body.add_node("Identity", [total], [copy], "copy")
    net = Net()
    trips, flag = net.editor.add_edge("trips", COUNT), net.editor.add_edge("flag", FLAG)
    net.editor.inputs += [trips, flag]
    x, step = net.input(4), net.input(4)
    last = net.editor.add_edge("last", FLOATS)
    scan = net.editor.add_edge("scan", TensorType(DType.FLOAT32, (collected, 4)))
    net.editor.add_node(
        "Loop", [trips, flag, x], [last, scan], "loop", extra_inputs=[step],
        subgraphs={"body": body.finish()},
    )  # fmt: skip
    graph = net.finish(last, scan)
    verify(graph)
    return graph


def test_a_loop_carries_its_state_and_reads_outer_values() -> None:
    step = np.full(4, 2, np.float32)
    last, scan = interpreter.run(loop(3), [np.array(3), YES, X, step])
    assert last.tolist() == (X + 6).tolist()
    assert scan.tolist() == [(X + 2).tolist(), (X + 4).tolist(), (X + 6).tolist()]
    last, scan = interpreter.run(loop(0), [np.array(3), NO, X, step])
    assert (last.tolist(), scan.shape) == (X.tolist(), (0, 4))
    with pytest.raises(ModelError, match=r"A Loop ran 2 times, but its output 1 .* \[3, 4\]"):
        interpreter.run(loop(3), [np.array(2), YES, X, step])


def test_a_subgraph_is_simplified_like_a_graph() -> None:
    net = Net()
    total = net.op("Add", [net.input(4), net.constant(np.ones(4, np.float32))], (4,))
    inner = net.finish(net.op("Identity", [net.op("Relu", [total], (4,))], (4,)))
    graph = conditional()
    editor = GraphEditor(graph)
    editor.subgraphs[IF] = {"then_branch": inner, "else_branch": branch("Floor")}
    graph = editor.finish()
    after = passes.run(graph)
    assert [n.op for n in after.subgraphs(IF)["then_branch"].nodes] == ["Add"]
    assert [n.op for n in inner.nodes] == ["Add", "Relu", "Identity"]
    for flag in (YES, NO):
        assert results(after, flag) == results(graph, flag)


def with_subgraph(change: Callable[[Graph], Graph]) -> Graph:
    graph = conditional()
    inner = {n: change(g) for n, g in graph.subgraphs(IF).items()}
    return replace(graph, data=replace(graph.data, subgraphs={IF: inner}))


def retyped(graph: Graph) -> Graph:
    types = {e: replace(t, shape=(2, 2)) for e, t in graph.data.types.items()}
    return replace(graph, data=replace(graph.data, types=types))


def bare(graph: Graph) -> Graph:
    return replace(graph, topology=replace(graph.topology, inputs=()))


def unnamed(graph: Graph) -> Graph:
    return replace(graph, data=replace(graph.data, attributes={}))


BROKEN: dict[str, tuple[Callable[[], Graph], str]] = {
    "another shape": (lambda: with_subgraph(retyped), r"edge 2 as float32\[2,2\]"),
    "no input": (lambda: with_subgraph(bare), "lacks inputs"),
    "broken inside": (lambda: with_subgraph(unnamed), "no attributes"),
    "no subgraph": (
        lambda: replace(conditional(), data=replace(conditional().data, subgraphs={})),
        "'if' has extra inputs but no subgraph",
    ),
    "of no node": (
        lambda: replace(
            conditional(),
            data=replace(conditional().data, subgraphs={77: {}, **conditional().data.subgraphs}),
        ),
        r"missing nodes \[77\]",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_verify_refuses(name: str) -> None:
    make, sentence = BROKEN[name]
    with pytest.raises(GraphError, match=sentence):
        verify(make())
