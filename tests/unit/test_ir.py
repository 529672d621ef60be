"""The graph's types, and the invariants that `verify` stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_cases import SOME_MODELS, Net, laid_out, loadable
from hypothesis import given
from hypothesis import strategies as st
from sampling import first

from mcu_deploy import passes
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import (
    DType,
    Graph,
    GraphData,
    GraphEditor,
    GraphError,
    Node,
    Quantization,
    TensorType,
    verify,
)
from mcu_deploy.ir.types import channels_last


@pytest.mark.parametrize("names", first([SOME_MODELS, None]), ids=["some", "all"])
def test_every_pass_keeps_the_invariants_of_every_model(
    models_dir: Path, names: Sequence[str] | None
) -> None:
    seen = 0
    for name, graph in loadable(models_dir, names):
        verify(graph)
        for title, function in passes.passes():
            graph = function(graph)
            try:
                verify(graph)
            except GraphError as error:
                pytest.fail(f"{name} after {title!r}: {error}")
        try:
            verify(laid_out(graph))
        except UnsupportedError:
            continue
        seen += 1
    assert seen == len(names) if names else seen >= 25


def sample() -> Graph:
    """x (4) -> Add with a constant -> a -> Relu -> r -> fused Neg, Abs -> y."""
    net = Net()
    x = net.input(4)
    added = net.op("Add", [x, net.constant(np.ones(4, np.float32))], (4,))
    clamped = net.op("Relu", [added], (4,))
    inner = net.op("Neg", [clamped], (4,))
    outer = net.op("Abs", [inner], (4,))
    graph = net.finish(outer)
    neg, last = [n.id for n in graph.nodes][2:]
    editor = GraphEditor(graph)
    editor.fuse([neg, last], "Abs", [clamped], [outer], {}, "fused")
    return editor.finish()


def topology(graph: Graph, **changes: Any) -> Graph:
    return replace(graph, topology=replace(graph.topology, **changes))


def data(graph: Graph, **changes: Any) -> Graph:
    return replace(graph, data=replace(graph.data, **changes))


def rewired(graph: Graph, node: int, **changes: Any) -> Graph:
    nodes = dict(graph.topology.nodes)
    nodes[node] = replace(nodes[node], **changes)
    return topology(graph, nodes=nodes)


def typed(graph: Graph, edge: int, type_: TensorType) -> Graph:
    return data(graph, types={**graph.data.types, edge: type_})


def with_body(graph: Graph, change: Callable[[Graph], Graph]) -> Graph:
    return data(graph, bodies={n: change(b) for n, b in graph.data.bodies.items()})


X, ONE, SUM, CLAMPED, INNER, Y = range(6)  # the edges of sample(), in order of making
ADD, RELU, FUSED = 0, 1, 4
FLOATS = TensorType(DType.FLOAT32, (4,))
BROKEN: dict[str, tuple[Callable[[Graph], Graph], str]] = {
    "foreign id": (lambda g: rewired(g, ADD, id=7), "filed under"),
    "node not given": (lambda g: topology(g, next_node=FUSED), "not given"),
    "edge not given": (lambda g: topology(g, next_edge=Y), "not given"),
    "no type": (
        lambda g: data(g, types={e: t for e, t in g.data.types.items() if e != SUM}), "no type"
    ),
    "type without edge": (lambda g: typed(g, 77, FLOATS), "no name"),
    "constant without edge": (
        lambda g: data(g, constants={**g.data.constants, 77: np.zeros(4, np.float32)}), "no name"
    ),
    "no attributes": (lambda g: data(g, attributes={}), "no attributes"),
    "attributes of no node": (
        lambda g: data(g, attributes={**g.data.attributes, 77: {}}), "no attributes"
    ),
    "body of no node": (
        lambda g: data(g, bodies={77: next(iter(g.data.bodies.values()))}), "missing nodes"
    ),
    "read before written": (
        lambda g: topology(g, nodes=dict(reversed(g.topology.nodes.items()))), "before it is"
    ),
    "two producers": (lambda g: rewired(g, RELU, outputs=(SUM,)), "two producers"),
    "twice in one node": (lambda g: rewired(g, RELU, outputs=(CLAMPED, CLAMPED)), "two producers"),
    "constant written": (lambda g: rewired(g, ADD, outputs=(ONE,)), "constant edge"),
    "input written": (lambda g: rewired(g, RELU, outputs=(X,)), "writes the input"),
    "output not written": (lambda g: topology(g, outputs=(INNER,)), "never written"),
    "input listed twice": (lambda g: topology(g, inputs=(X, X)), "twice"),
    "constant input": (lambda g: topology(g, inputs=(X, ONE)), "constant"),
    "edge without name": (lambda g: topology(g, inputs=(X, 77)), "no name"),
    "constant of another shape": (
        lambda g: typed(g, ONE, replace(FLOATS, shape=(2, 2))), "shape unlike"
    ),
    "constant of another dtype": (
        lambda g: typed(g, ONE, TensorType(DType.INT32, (4,))), "dtype unlike"
    ),
    "writable constant": (
        lambda g: data(g, constants={ONE: np.ones(4, np.float32)}), "can be written"
    ),
    "bad layout": (lambda g: typed(g, SUM, replace(FLOATS, layout=(1,))), "no order of axes"),
    "scales unlike zero points": (
        lambda g: typed(g, SUM, replace(FLOATS, quantization=Quantization((1.0,), (0, 0)))),
        "1 scales but 2 zero points",
    ),
    "scales without axis": (
        lambda g: typed(g, SUM, replace(FLOATS, quantization=Quantization((1.0,) * 4, (0,) * 4))),
        "no axis",
    ),
    "axis out of range": (
        lambda g: typed(g, SUM, replace(FLOATS, quantization=Quantization((1.0,), (0,), 1))),
        "axis 1",
    ),
    "scales unlike the axis": (
        lambda g: typed(
            g, SUM, replace(FLOATS, quantization=Quantization((1.0,) * 3, (0,) * 3, 0))
        ),
        "3 scales along",
    ),
    "body reads a foreign edge": (
        lambda g: rewired(g, FUSED, inputs=(SUM,)), "which the node lacks"
    ),
    "body writes a foreign edge": (
        lambda g: with_body(g, lambda b: topology(b, outputs=(INNER,))), "other edges"
    ),
    "broken body": (lambda g: with_body(g, lambda b: data(b, attributes={})), "no attributes"),
}  # fmt: skip


def test_verify_accepts_the_sample() -> None:
    graph = sample()
    verify(graph)
    assert [n.id for n in graph.nodes] == [ADD, RELU, FUSED]
    assert list(graph.topology.edges) == [X, ONE, SUM, CLAMPED, Y]


@pytest.mark.parametrize("name", BROKEN)
def test_verify_refuses(name: str) -> None:
    change, sentence = BROKEN[name]
    with pytest.raises(GraphError, match=sentence):
        verify(change(sample()))


def test_consumers_are_listed_once_and_outputs_have_no_sole_consumer() -> None:
    net = Net()
    x = net.input(4)
    doubled = net.op("Add", [x, x], (4,))
    graph = net.finish(doubled, net.op("Relu", [doubled], (4,)))
    assert [n.op for n in graph.consumers(x)] == ["Add"]
    adder = graph.sole_consumer(x)
    assert adder is not None
    assert adder.op == "Add"
    assert graph.sole_consumer(doubled) is None
    assert graph.producer(x) is None
    assert graph.find_edge("in0") == x
    assert graph.find_edge("nothing") is None


def test_graphs_are_values() -> None:
    """Nodes are frozen, and constants cannot be written through a graph."""
    graph = sample()
    with pytest.raises(AttributeError):
        graph.node(ADD).op = "Mul"  # type: ignore[misc]
    constant = graph.constant(ONE)
    assert constant is not None
    with pytest.raises(ValueError, match="read-only"):
        constant[0] = 2
    assert Node(0, "Add", (), (), "a") == Node(0, "Add", (), (), "a")
    assert GraphData({}, {}, {}).bodies == {}


SHAPES = st.lists(st.integers(1, 4), min_size=0, max_size=4).map(tuple)


@given(SHAPES, st.data())
def test_memory_and_logical_order_are_inverse(shape: tuple[int, ...], draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(len(shape))).map(tuple))
    type_ = TensorType(DType.INT32, shape, layout=order)
    value = np.arange(type_.elements, dtype=np.int32).reshape(shape)
    memory = type_.to_memory(value)
    assert memory.shape == type_.physical_shape
    assert memory.flags.c_contiguous
    assert np.array_equal(type_.from_memory(memory), value)
    assert np.array_equal(type_.from_memory(memory.reshape(-1)), value)


@given(SHAPES, st.data())
def test_same_memory_is_equality_of_bytes(shape: tuple[int, ...], draw: st.DataObject) -> None:
    orders = [draw.draw(st.permutations(range(len(shape))).map(tuple)) for _ in range(2)]
    one, two = (TensorType(DType.INT32, shape, layout=order) for order in orders)
    value = np.arange(one.elements, dtype=np.int32).reshape(shape)
    same = one.to_memory(value).tobytes() == two.to_memory(value).tobytes()
    assert one.same_memory(two) == same


def test_channels_last() -> None:
    assert channels_last(4) == (0, 2, 3, 1)
    assert channels_last(3) == (0, 2, 1)
    type_ = TensorType(DType.INT8, (1, 3, 5, 7), layout=channels_last(4))
    assert type_.physical_shape == (1, 5, 7, 3)
    assert type_.bytes == 105


def test_quantization_of_arrays() -> None:
    one = Quantization.from_arrays(np.float32(0.1), np.int8(3), 1)
    assert one == Quantization((float(np.float32(0.1)),), (3,), None)
    many = Quantization.from_arrays([0.5, 0.25], 0, 1)
    assert many.zero_point == (0, 0)
    scale, zero = many.broadcast(3)
    assert scale.shape == zero.shape == (1, 2, 1)
    assert one.broadcast(3)[0].shape == ()
    assert str(TensorType(DType.INT8, (2, 3), many)) == "int8[2,3] quantized per axis"


def test_element_types() -> None:
    assert [t.bytes for t in (DType.BOOL, DType.INT16, DType.FLOAT32, DType.UINT64)] == [1, 2, 4, 8]
    assert DType.UINT8.range == (0, 255)
    assert DType.of(np.float32) is DType.FLOAT32
    assert (DType.FLOAT32.c_type, DType.BOOL.c_type, DType.INT8.c_type) == (
        "float", "uint8_t", "int8_t"
    )  # fmt: skip
    with pytest.raises(ValueError, match="complex64"):
        DType.of(np.complex64)
