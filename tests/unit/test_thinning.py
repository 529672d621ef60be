"""Channels that are constant, or that nothing reads, go; all that is left keeps its bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quantized_nets import Array, QuantizedNet
from sampling import examples, first

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.backends.layer import layer_of
from mcu_deploy.ir import Graph
from mcu_deploy.ir.verify import verify
from mcu_deploy.options import Requests
from mcu_deploy.passes import thinning
from mcu_deploy.passes.marks import Marks, mark

LOW = -(2**15)  # a bias that is far below what the sums of these nets reach


def weights(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.int8)


def bias(size: int, dead: Sequence[int] = (), value: int = LOW) -> Array:
    """Sums that vary, but for some channels: those lie below the relu, or wherever `value` puts
    them."""
    return np.where(np.isin(np.arange(size), dead), value, 200)


def inputs_of(graph: Graph) -> list[list[Array]]:
    """Inputs at random, and at the ends of their types."""
    types, generator = [graph.type(e) for e in graph.inputs], np.random.default_rng(1)
    ends = [t.dtype.range for t in types]
    made = [
        [
            generator.integers(low, high + 1, t.shape).astype(t.dtype.numpy)
            for t, (low, high) in zip(types, ends, strict=True)
        ]
        for _ in range(4)
    ]
    made += [
        [np.full(t.shape, end[at], t.dtype.numpy) for t, end in zip(types, ends, strict=True)]
        for at in (0, 1)
    ]
    mixed = [generator.choice(e, t.shape) for t, e in zip(types, ends, strict=True)]
    return [*made, [m.astype(t.dtype.numpy) for m, t in zip(mixed, types, strict=True)]]


def require_same(before: Graph, after: Graph) -> None:
    """Every tensor that is still there is a part of what it was."""
    verify(after)
    for inputs in inputs_of(before):
        old, new = interpreter.run_all(before, inputs), interpreter.run_all(after, inputs)
        for edge in (e for node in after.nodes for e in node.writes):
            gone = thinning.removed(after, edge)
            left = old[edge] if gone is None else gone.taken(old[edge])
            np.testing.assert_array_equal(new[edge], left, after.edge_name(edge))
    assert [after.type(e) for e in after.outputs] == [before.type(e) for e in before.outputs]


def thin(graph: Graph) -> Graph:
    after = thinning.remove(graph)
    require_same(graph, after)
    return after


def channels(graph: Graph) -> list[int]:
    """Of what each node writes, the channels."""
    return [graph.type(e).shape[1] for node in graph.nodes for e in node.writes]


def macs(graph: Graph) -> int:
    return sum(layer_of(graph, node).macs for node in graph.nodes)


@pytest.mark.parametrize("domain", ["", "tflite"])
def test_constant_channels_go_through_all_that_keeps_channels_apart(domain: str) -> None:
    net = QuantizedNet((1, 3, 6, 6))
    net.domain = domain
    a = net.conv(net.x, weights(12, 3, 3, 3), bias(12, [0, 3, 4, 9]), pad=1)
    b = net.conv(a, weights(12, 1, 3, 3), bias(12, value=0), pad=1, group=12)
    c = net.conv(a, weights(12, 12, 1, 1), bias(12, [0, 3, 4, 9]))
    pooled = net.pool(net.pool(net.add(b, c), "AveragePool"), "MaxPool")
    graph = net.finish(net.dense(net.flatten(pooled), weights(12 * 16, 5), bias(5)))
    # conv, depthwise, conv, add, two pools, reshape, dense
    assert channels(thin(graph)) == [8, 8, 8, 8, 8, 8, 128, 5]


def test_a_constant_that_is_not_zero_goes_into_the_bias() -> None:
    net = QuantizedNet((1, 2, 4, 4))
    a = net.conv(net.x, weights(8, 2, 1, 1), bias(8, [1, 2, 5, 7], 2**15))
    b = net.conv(a, weights(4, 8, 3, 3))  # which has no bias yet
    graph = net.finish(net.dense(net.flatten(b), weights(16, 3)))
    after = thin(graph)
    assert channels(after) == [4, 4, 16, 3]
    second = [n for n in after.nodes if n.op == "Conv"][1]
    assert len(second.inputs) == 3
    assert after.constant(second.inputs[2]).any()  # type: ignore[union-attr]


@pytest.mark.parametrize(("op", "left"), [("Gemm", 4), ("MatMul", 8)])
def test_what_has_no_bias_keeps_a_constant_that_is_not_zero(op: str, left: int) -> None:
    net = QuantizedNet((1, 6))
    a = net.dense(net.x, weights(6, 8), bias(8, [1, 2, 5, 7], 2**15))
    assert channels(thin(net.finish(net.dense(a, weights(8, 3), op=op)))) == [left, 3]


@pytest.mark.parametrize(("value", "expected"), [(LOW, 4), (2**15, 8)])
def test_beside_padding_only_the_zero_point_is_folded(value: int, expected: int) -> None:
    net = QuantizedNet((1, 2, 4, 4))
    a = net.conv(net.x, weights(8, 2, 1, 1), bias(8, [1, 2, 5, 7], value))
    graph = net.finish(net.conv(a, weights(4, 8, 3, 3), bias(4), pad=1))
    assert channels(thin(graph)) == [expected, 4]


def test_a_depthwise_may_vary_at_its_border_alone() -> None:
    """In the middle all taps see the constant, at the border some see the padding."""
    net = QuantizedNet((1, 2, 4, 4), zero=0)
    a = net.conv(net.x, weights(8, 2, 1, 1), bias(8, [0, 1, 2, 3], 2**15))
    ones = np.ones((8, 1, 3, 3), np.int8)
    graph = net.finish(
        net.conv(net.conv(a, ones, pad=1, group=8, scale=0.1), weights(4, 8, 1, 1), bias(4))
    )
    assert channels(thin(graph)) == [8, 8, 4]
    net = QuantizedNet((1, 2, 4, 4), zero=0)
    a = net.conv(net.x, weights(8, 2, 1, 1), bias(8, [0, 1, 2, 3], 2**15))
    graph = net.finish(net.conv(net.conv(a, ones, group=8), weights(4, 8, 1, 1), bias(4)))
    assert channels(thin(graph)) == [4, 4, 4]


def test_channels_that_nothing_reads_go() -> None:
    net = QuantizedNet((1, 3, 4, 4))
    a = net.conv(net.x, weights(12, 3, 1, 1), bias(12))
    b = net.conv(a, weights(12, 1, 3, 3), bias(12), pad=1, group=12)
    unread = weights(5, 12, 1, 1)
    unread[:, [0, 2, 4, 6, 8, 10]] = 0
    assert channels(thin(net.finish(net.conv(b, unread, bias(5))))) == [8, 8, 5]


def test_whole_groups_of_four_are_left() -> None:
    for dead, expected in ((3, 12), (4, 8), (7, 8), (8, 4), (11, 4), (12, 4)):
        net = QuantizedNet((1, 3, 2, 2))
        a = net.conv(net.x, weights(12, 3, 1, 1), bias(12, range(dead)))
        graph = net.finish(net.conv(a, weights(3, 12, 1, 1), bias(3)))
        assert channels(thin(graph)) == [expected, 3], dead
    net = QuantizedNet((1, 3, 2, 2))  # three channels are no more than they were
    a = net.conv(net.x, weights(3, 3, 1, 1), bias(3, range(2)))
    assert channels(thin(net.finish(net.conv(a, weights(3, 3, 1, 1))))) == [3, 3]


def test_a_tensor_stays_whole_for_one_reader_that_needs_it_so() -> None:
    def graph(whole: bool) -> Graph:
        net = QuantizedNet((1, 3, 2, 2))
        a = net.conv(net.x, weights(8, 3, 1, 1), bias(8, range(4)))
        b = net.conv(a, weights(8, 1, 1, 1), bias(8), group=8)
        c = net.conv(net.add(a, b), weights(3, 8, 1, 1), bias(3))
        return net.finish(c, *([net.op("Softmax", [a], net.like(a, (1, 8, 2, 2)))] * whole))

    assert channels(thin(graph(False))) == [4, 4, 4, 3]
    assert channels(thin(graph(True)))[:2] == [8, 8]


def test_what_is_seen_from_outside_stays_whole() -> None:
    net = QuantizedNet((1, 3, 2, 2))
    a = net.conv(net.x, weights(8, 3, 1, 1), bias(8, range(4)))
    b = net.conv(a, weights(8, 8, 1, 1), bias(8, range(4)))
    graph = net.finish(net.conv(b, weights(3, 8, 1, 1), bias(3)))
    assert channels(thin(graph)) == [4, 4, 3]
    outputs = (*graph.outputs, a)
    graph = replace(graph, topology=replace(graph.topology, outputs=outputs))
    assert channels(thin(graph)) == [8, 4, 3]


def test_what_is_seen_from_outside_may_be_written_there() -> None:
    """As the input of a partition: then it is not what the layers before it make."""
    net = QuantizedNet((1, 3, 2, 2))
    a = net.conv(net.x, weights(8, 3, 1, 1), bias(8, range(8)))
    b = net.conv(a, weights(8, 8, 1, 1), bias(8))
    c = net.conv(b, weights(3, 8, 1, 1), bias(3))
    assert channels(thin(net.finish(c))) == [4, 4, 3]
    assert channels(thin(net.finish(c, a))) == [8, 8, 3]


def test_sums_that_may_leave_32_bits_are_not_believed() -> None:
    """TFLite's shift to the left wraps around: both ends of the interval here become 0, and what
    lies between them does not."""
    net = QuantizedNet((1, 1, 2, 2), zero=0)
    net.domain = "tflite"
    a = net.conv(net.x, np.full((8, 1, 1, 1), 64, np.int8), scale=1.35e-9)
    assert channels(thin(net.finish(net.conv(a, weights(3, 8, 1, 1), bias(3))))) == [8, 3]


def test_a_maximum_over_the_channels_needs_them() -> None:
    net = QuantizedNet((1, 3, 4, 4))
    a = net.conv(net.x, weights(8, 3, 1, 1), bias(8, range(4)))
    most = net.op("ReduceMax", [a], net.like(a, (1, 1, 4, 4)), axes=(1,), keepdims=1)
    assert channels(thin(net.finish(net.conv(most, weights(3, 1, 1, 1), bias(3))))) == [8, 1, 3]
    spatial = net.op("ReduceMax", [a], net.like(a, (1, 8)), axes=(2, 3), keepdims=0)
    assert channels(thin(net.finish(net.dense(spatial, weights(8, 3), bias(3))))) == [4, 4, 3]


def test_joined_tensors_lose_their_own_channels() -> None:
    net = QuantizedNet((1, 3, 4, 4))
    a = net.conv(net.x, weights(8, 3, 1, 1), bias(8, range(4)))
    b = net.conv(net.x, weights(12, 3, 1, 1), bias(12, range(2, 12)))
    joined = net.op("Concat", [a, b, a], net.like(a, (1, 28, 4, 4)), axis=1)
    turned = net.op("Transpose", [joined], net.like(a, (1, 4, 4, 28)), perm=(0, 2, 3, 1))
    graph = net.finish(net.dense(net.flatten(turned), weights(28 * 16, 2), bias(2)))
    after = thin(graph)
    assert [after.type(n.writes[0]).shape for n in after.nodes][2:4] == [
        (1, 12, 4, 4), (1, 4, 4, 12),
    ]  # fmt: skip


def random_net(data: st.DataObject) -> Graph:
    """Whatever keeps channels apart or sums over them, wired at random; many channels are dead."""

    def pick(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    net = QuantizedNet((1, pick(1, 3), 5, 5), 120 if (unsigned := pick(0, 3) == 0) else -3)
    if unsigned:
        net = QuantizedNet(net.shape(net.x), 120, "uint8")
    net.domain = ("", "tflite")[pick(0, 1) * (not unsigned)]
    zero = 128 if unsigned else (-128, -3)[pick(0, 1)]
    edges = [net.x]

    def some_bias(size: int) -> Array | None:
        dead = [i for i in range(size) if pick(0, 2)]
        return bias(size, dead, (LOW, -LOW)[pick(0, 1)]) if pick(0, 5) else None

    for seed in range(pick(2, 6)):
        x = edges[-1 if pick(0, 3) else pick(0, len(edges) - 1)]
        count, size = net.shape(x)[1], net.shape(x)[2]
        kind = pick(0, 6)
        pad, kernel = pick(0, 1), pick(1, min(3, size))
        if kind <= 1:
            filters = pick(1, 12)
            w = weights(filters, count, kernel, kernel, seed=seed)
            w[:, [i for i in range(count) if not pick(0, 4)]] = 0
            made = net.conv(x, w, some_bias(filters), pad=pad, stride=pick(1, 2), zero=zero)
        elif kind <= 3:
            filters, groups = count * pick(1, 2), count
            if pick(0, 3) == 0 and count % 2 == 0:
                filters, groups = count, count // 2
            w = weights(filters, count // groups, kernel, kernel, seed=seed)
            made = net.conv(
                x, w, some_bias(filters), pad=pad, group=groups, zero=zero, relu=bool(pick(0, 2))
            )
        elif kind == 4:
            alike = [e for e in edges if net.shape(e) == net.shape(x)]
            made = net.add(x, alike[pick(0, len(alike) - 1)])
        elif kind == 5 and size > 1:
            made = net.pool(x, ("AveragePool", "MaxPool")[pick(0, 1)])
        else:
            alike = [e for e in edges if net.shape(e)[2:] == net.shape(x)[2:]]
            other = alike[pick(0, len(alike) - 1)]
            total = count + net.shape(other)[1]
            made = net.op("Concat", [x, other], net.like(x, (1, total, size, size)), "", axis=1)
        edges.append(made)
    last = net.flatten(edges[-1])
    outputs = [net.dense(last, weights(net.shape(last)[1], 3), some_bias(3))]
    return net.finish(*outputs, *([edges[pick(1, len(edges) - 1)]] if pick(0, 3) == 0 else []))


@settings(max_examples=examples(400, 25), deadline=None)
@given(st.data())
def test_any_network_keeps_its_bits(data: st.DataObject) -> None:
    thin(random_net(data))


MACS = {"model.onnx": 3_766_476, "model.tflite": 3_766_476}


def without(monkeypatch: pytest.MonkeyPatch, path: Path) -> tuple[Graph, Graph]:
    """A model simplified, and the same without this pass."""
    model = formats.load(path)
    after = passes.run(model)
    with monkeypatch.context() as patched:
        patched.setattr(thinning, "remove", lambda graph: graph)
        return after, passes.run(model)


@pytest.mark.parametrize("file", MACS)
def test_half_of_vww_goes(models_dir: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    after, before = without(monkeypatch, models_dir / "mlperf_vww_int8" / file)
    require_same(before, after)
    assert (macs(before), macs(after)) == (7_489_664, MACS[file])


def kept(path: Path, names: Sequence[str]) -> tuple[Graph, Graph, Marks]:
    """A model of which tensors are kept (of all, where none is named), and the same simplified."""
    model = formats.load(path)
    written = (e for n in model.nodes for e in n.writes if model.constant(e) is None)
    asked = names or [model.edge_name(e) for e in written]
    marked, marks = mark(model, Requests(keep=tuple(asked)))
    return marked, passes.run(marked), marks


@pytest.mark.parametrize("name", first(["mlperf_kws_int8", "mlperf_vww_int8"]))
def test_kept_tensors_are_the_models(models_dir: Path, name: str) -> None:
    """All of them at once, so nothing goes."""
    marked, after, marks = kept(models_dir / name / "model.onnx", ())
    assert len(marks.at) > 60
    assert not [e for node in after.nodes for e in node.writes if thinning.removed(after, e)]
    for at in marks.at.values():
        assert after.type(after.outputs[at]).shape == marked.type(marked.outputs[at]).shape
    samples = np.load(models_dir / name / "io.npz")["in0"][:2]
    plain = passes.run(formats.load(models_dir / name / "model.onnx"))
    for sample in samples:
        values = interpreter.run_all(plain, [sample])
        for edge, value in zip(after.outputs, interpreter.run(after, [sample]), strict=True):
            if edge in values:
                gone = thinning.removed(plain, edge)
                left = value if gone is None else gone.taken(value)
                np.testing.assert_array_equal(left, values[edge])


def test_one_kept_tensor_is_whole_and_its_neighbours_are_thin(models_dir: Path) -> None:
    path = models_dir / "mlperf_vww_int8" / "model.onnx"
    plain = passes.run(formats.load(path))
    thinner = [e for node in plain.nodes for e in node.writes if thinning.removed(plain, e)]
    middle = thinner[len(thinner) // 2]
    marked, after, marks = kept(path, (plain.edge_name(middle),))
    (at,) = marks.at.values()
    assert thinning.removed(after, after.outputs[at]) is None
    assert after.type(after.outputs[at]).shape == marked.type(marked.outputs[at]).shape
    assert [e for e in thinner if thinning.removed(after, e)][:3] == thinner[:3]
