"""What the tests of substitutions share: small graphs, replacements, and the comparison of bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from graph_cases import Array, Net, random_inputs

from mcu_deploy import interpreter
from mcu_deploy.backends.substitute import substitute
from mcu_deploy.ir import (
    DType,
    EdgeId,
    Graph,
    GraphEditor,
    Quantization,
    SubgraphView,
    TensorType,
    verify,
    view_of_all,
)
from mcu_deploy.passes import optional
from tests.view_checks import verify_view


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


def applied(graph: Graph, *wanted: str) -> Graph:
    """The graph after these optimisations of all of it; computes the same bits."""
    verify(graph)
    answer = optional.run(view_of_all(graph), wanted)
    parts = [*(s.substitutable for s in answer.substitutions), *answer.untouched]
    assert sorted(n for p in parts for n in p.node_ids) == sorted(graph.topology.nodes)
    result = graph
    for substitution in answer.substitutions:
        verify_view(substitution.substitutable)
        result, _ = substitute(result, substitution.substitutable, substitution.replacement)
        verify(result)
    inputs = random_inputs(graph) if floats(graph) else integers(graph)
    before, after = interpreter.run(graph, inputs), interpreter.run(result, inputs)
    for one, two in zip(before, after, strict=True):
        assert one.tobytes() == two.tobytes()
    return result


def floats(graph: Graph) -> bool:
    return all(graph.type(e).dtype is DType.FLOAT32 for e in graph.inputs)


def integers(graph: Graph) -> list[Array]:
    """A value for each input of a graph of 8-bit tensors."""
    generator = np.random.default_rng(1)
    return [
        generator.integers(-128, 128, graph.type(e).shape).astype(np.int8) for e in graph.inputs
    ]


def ops(graph: Graph) -> list[str]:
    return [n.op for n in graph.nodes]


class Bytes(Net):
    """Writes a graph of int8 tensors, all quantized alike."""

    type = Quantization((0.5,), (-3,))

    def input(self, *shape: int) -> EdgeId:
        edge = super().input(*shape)
        self.editor.types[edge] = TensorType(DType.INT8, shape, self.type)
        return edge

    def op(
        self, op: str, inputs: Sequence[EdgeId], shape: Sequence[int], **attributes: Any
    ) -> EdgeId:
        edge = super().op(op, inputs, shape, **attributes)
        self.editor.types[edge] = TensorType(DType.INT8, tuple(shape), self.type)
        return edge

    def weights(self, *shape: int) -> EdgeId:
        edge = self.constant(
            (np.arange(math.prod(shape)) % 255 - 127).astype(np.int8).reshape(shape)
        )
        self.editor.types[edge] = TensorType(DType.INT8, shape, Quantization((0.01,), (0,)))
        return edge
