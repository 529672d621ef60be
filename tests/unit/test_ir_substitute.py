"""Substitution of parts of a graph, and bodies that are given back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from graph_cases import Array, Net, random_inputs, random_net
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcu_deploy import interpreter, optimize
from mcu_deploy.ir import (
    DType,
    Graph,
    GraphEditor,
    NodeId,
    Quantization,
    SubgraphView,
    TensorType,
    verify,
    view,
    view_of_all,
)
from mcu_deploy.ir.substitute import SubstitutionError, expand, substitute

PROPERTY = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def same(one: Graph, two: Graph) -> None:
    """The two graphs compute the same bits, under the same names."""
    verify(one)
    verify(two)
    assert [one.edge_name(e) for e in one.outputs] == [two.edge_name(e) for e in two.outputs]
    inputs = random_inputs(one)
    for ours, theirs in zip(
        interpreter.run(one, inputs), interpreter.run(two, inputs), strict=True
    ):
        assert ours.tobytes() == theirs.tobytes()


def chain(*ops: str) -> Graph:
    net = Net()
    edge = net.input(4)
    for op in ops:
        edge = net.op(op, [edge], (4,))
    return net.finish(edge)


def one_node(part: SubgraphView, op: str, domain: str = "vendor") -> Graph:
    """A replacement of one operator, with ids of its own."""
    editor = GraphEditor.empty("replacement")
    editor.inputs = [editor.add_edge("i", part.type(e)) for e in part.inputs]
    editor.outputs = [editor.add_edge("o", part.type(e)) for e in part.outputs]
    editor.add_node(op, editor.inputs, editor.outputs, "made", {"note": 1}, domain)
    return editor.finish()


def copy_of(part: SubgraphView) -> Graph:
    """The same nodes with other ids, as a graph of its own."""
    editor = GraphEditor.empty("copy")
    for _ in range(3):
        editor.add_edge("nothing", TensorType(DType.FLOAT32, ()))
    edges = {e: editor.add_edge(part.edge_name(e), part.type(e)) for e in part.inputs}
    editor.inputs = list(edges.values())
    for edge, name in part.topology.edges.items():
        value = part.constant(edge)
        if edge not in edges and value is None:
            edges[edge] = editor.add_edge(name, part.type(edge))
        elif value is not None:
            edges[edge] = editor.add_constant(name, value, part.type(edge))
    for node in part.nodes:
        editor.add_node(
            node.op, [None if e is None else edges[e] for e in node.inputs],
            [None if e is None else edges[e] for e in node.outputs], node.name,
            part.attributes(node.id), node.domain,
        )  # fmt: skip
    editor.outputs = [edges[e] for e in part.outputs]
    return editor.finish()


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


def diamond() -> tuple[Graph, SubgraphView]:
    """Relu feeds Neg, which feeds Add; the part is Relu and Add."""
    net = Net()
    split = net.op("Relu", [net.input(4)], (4,))
    graph = net.finish(net.op("Add", [split, net.op("Neg", [split], (4,))], (4,)))
    return graph, view(graph, [0, 2])


def typed(type_: TensorType, outputs: int = 1) -> Graph:
    editor = GraphEditor.empty("typed")
    editor.inputs = [editor.add_edge("x", type_)]
    editor.outputs = [editor.add_edge("y", type_) for _ in range(outputs)]
    editor.add_node("Split", editor.inputs, editor.outputs, "made")
    return editor.finish()


FLOATS = TensorType(DType.FLOAT32, (4,))


def two(first: str) -> Graph:
    editor = GraphEditor.empty("two")
    x, y, z = (editor.add_edge(n, FLOATS) for n in "xyz")
    editor.inputs, editor.outputs = [x], [z]
    editor.add_node(first, [x], [y], "first")
    editor.add_node("Neg", [y], [z], "second")
    return editor.finish()


def cyclic() -> Graph:
    graph = two("Relu")
    nodes = {0: replace(graph.node(0), inputs=(2,)), 1: graph.node(1)}
    return replace(graph, topology=replace(graph.topology, nodes=nodes))


REFUSED: dict[str, tuple[Callable[[], Graph], str]] = {
    "outputs": (lambda: typed(FLOATS, 2), "has 1 outputs, but its replacement has 2"),
    "inputs": (
        lambda: replace(two("Relu"), topology=replace(two("Relu").topology, inputs=(0, 1))),
        "no sound graph: 'first' writes the input",
    ),
    "shape": (lambda: typed(replace(FLOATS, shape=(2, 2))), r"'in0', is float32\[4\], but"),
    "dtype": (lambda: typed(TensorType(DType.INT32, (4,))), r"is int32\[4\]"),
    "quantization": (
        lambda: typed(replace(FLOATS, quantization=Quantization((1.0,), (0,)))), "quantized"
    ),
    "cycle": (cyclic, "'first' reads edge 2 before it is written"),
    "unknown operator": (lambda: two("Mystery"), "operator Mystery, which the interpreter"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str) -> None:
    make, sentence = REFUSED[name]
    graph = chain("Relu", "Neg")
    with pytest.raises(SubstitutionError, match=sentence):
        substitute(graph, view_of_all(graph), make())


def test_refuses_another_scale_with_words() -> None:
    editor = GraphEditor.empty("quantized")
    type_ = TensorType(DType.INT8, (4,), Quantization((0.5,), (0,)))
    editor.inputs, editor.outputs = [editor.add_edge("x", type_)], [editor.add_edge("y", type_)]
    editor.add_node("Identity", [0], [1], "node")
    graph = editor.finish()
    with pytest.raises(SubstitutionError, match="with another scale or zero point"):
        other = replace(type_, quantization=Quantization((0.25,), (0,)))
        substitute(graph, view_of_all(graph), typed(other))


def test_refuses_a_part_that_its_replacement_would_close_to_a_cycle() -> None:
    graph, part = diamond()
    with pytest.raises(SubstitutionError, match="re-enters it from 'neg1' to 'add2'"):
        substitute(graph, part, one_node(part, "Both"))


def test_refuses_parts_of_other_graphs_and_of_nothing() -> None:
    graph = chain("Relu", "Neg")
    part = view(chain("Relu", "Neg"), [1])
    with pytest.raises(SubstitutionError, match="'neg1' is one of another graph"):
        substitute(graph, part, one_node(part, "Neg", ""))
    part = view(chain("Relu", "Neg", "Abs"), [2])
    with pytest.raises(SubstitutionError, match="'abs2' is not in the graph"):
        substitute(graph, part, one_node(part, "Abs", ""))
    with pytest.raises(SubstitutionError, match="has no nodes"):
        substitute(graph, view(graph, []), graph)


def test_refuses_a_node_that_ignores_what_its_body_needs() -> None:
    net = Net()
    a, b = net.input(4), net.input(4)
    graph = net.finish(net.op("Add", [a, b], (4,)))
    replacement = one_node(view_of_all(graph), "Half")
    editor = GraphEditor(replacement)
    editor.nodes[0] = replace(editor.nodes[0], inputs=(editor.inputs[0],))
    with pytest.raises(SubstitutionError, match="does not read the edge 'in1'"):
        substitute(graph, view_of_all(graph), editor.finish())


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
    graph = optimize.run(random_net(lambda low, high: data.draw(st.integers(low, high))))
    if not graph.topology.nodes:
        return
    part = random_part(data, graph)
    fused, new = substitute(graph, part, one_node(part, "Anything"))
    same(fused, graph)
    assert sorted(fused.leaf_nodes(new[0])) == sorted(
        name for n in part.nodes for name in graph.leaf_nodes(n.id)
    )
    same(expand(fused, new[0]), graph)
