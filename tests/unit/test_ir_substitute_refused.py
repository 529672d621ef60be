"""Replacements and parts that are refused, each with its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from graph_cases import Net
from substitution_cases import chain, one_node

from mcu_deploy.backends.substitute import SubstitutionError, substitute
from mcu_deploy.ir import (
    DType,
    Graph,
    GraphEditor,
    Quantization,
    SubgraphView,
    TensorType,
    view,
    view_of_all,
)


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
    editor.put(replace(editor.nodes[0], inputs=(editor.inputs[0],)))
    with pytest.raises(SubstitutionError, match="does not read the edge 'in1'"):
        substitute(graph, view_of_all(graph), editor.finish())
