"""The optimisations that a backend may call: what they take, what they leave, and the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from graph_cases import Net, random_net
from hypothesis import given
from hypothesis import strategies as st
from sampling import dear
from substitution_cases import applied, ops

from mcu_deploy import interpreter
from mcu_deploy.ir import view_of_all
from mcu_deploy.passes import activations, gemm, identities, optional

PROPERTY = dear(60)


def test_they_are_found_by_name() -> None:
    assert optional.names() == ("fold_pads", "fuse_activations", "merge_transposes")
    assert optional.find("fold_pads").__module__.endswith(".fold_pads")
    with pytest.raises(
        ValueError, match=r"no optional optimisation 'magic'\. There are fold_pads,"
    ):
        optional.find("magic")


def test_nothing_to_do_leaves_everything_untouched() -> None:
    net = Net()
    graph = net.finish(net.op("Neg", [net.input(4)], (4,)))
    whole = view_of_all(graph)
    answer = optional.run(whole, optional.names())
    assert answer.substitutions == answer.failed == ()
    assert [p.node_ids for p in answer.untouched] == [whole.node_ids]
    # With every node substituted, nothing is left.
    net = Net()
    x = net.input(2, 3)
    once = net.op("Transpose", [x], (3, 2), perm=(1, 0))
    graph = net.finish(net.op("Transpose", [once], (2, 3), perm=(1, 0)))
    assert optional.run(view_of_all(graph), ["merge_transposes"]).untouched == ()


def test_clamps_are_fused_as_the_generic_pass_does_it() -> None:
    net = Net()
    x = net.input(4)
    added = net.op("Add", [x, x], (4,))
    clamped = net.op("Clip", [net.op("Relu", [added], (4,))], (4,), max=1.0)
    graph = net.finish(net.op("Neg", [clamped], (4,)))
    after = applied(graph, "fuse_activations")
    assert ops(after) == ["Add", "Neg"]
    fused = next(after.nodes)
    assert after.attributes(fused.id)["activation"] == (0.0, 1.0)
    assert after.leaf_nodes(fused.id) == ("add0", "relu1", "clip2")
    # Intervals that do not meet: all that is clamped to the first is at one end of the second.
    net = Net()
    added = net.op("Add", [net.input(4), net.input(4)], (4,))
    first = net.op("Clip", [added], (4,), min=0.0, max=1.0)
    graph = activations.fuse(net.finish(net.op("Clip", [first], (4,), min=3.0, max=5.0)))
    (node,) = graph.nodes
    assert graph.attributes(node.id) == {"activation": (3.0, 3.0)}


def test_clamps_stay_where_their_input_is_read_elsewhere_or_takes_none() -> None:
    net = Net()
    x = net.input(4)
    added = net.op("Add", [x, x], (4,))
    graph = net.finish(net.op("Relu", [added], (4,)), added)
    assert ops(applied(graph, "fuse_activations")) == ["Add", "Relu"]
    assert ops(activations.fuse(graph)) == ["Add", "Relu"]
    # Nor is a bound fused that is no number.
    net = Net()
    added = net.op("Add", [net.input(4), net.input(4)], (4,))
    graph = net.finish(net.op("Clip", [added], (4,), min=0.0, max=np.nan))
    assert ops(activations.fuse(graph)) == ["Add", "Clip"]
    net = Net()
    graph = net.finish(net.op("Relu", [net.op("Neg", [net.input(4)], (4,))], (4,)))
    assert ops(applied(graph, "fuse_activations")) == ["Neg", "Relu"]
    # A bound that is computed at run time ends the chain.
    net = Net()
    added = net.op("Add", [net.input(4), net.input(4)], (4,))
    clamped = net.op("Relu", [added], (4,))
    bound = net.op("ReduceMax", [net.input(4)], (), keepdims=0)
    graph = net.finish(net.op("Clip", [clamped, bound], (4,)))
    assert sorted(ops(applied(graph, "fuse_activations"))) == ["Add", "Clip", "ReduceMax"]


@given(st.data())
@PROPERTY
def test_any_chain_of_transposes_becomes_one_or_none(data: st.DataObject) -> None:
    net = Net()
    shape: tuple[int, ...] = (2, 3, 4)
    edge = net.op("Neg", [net.input(*shape)], shape)
    start, length = edge, data.draw(st.integers(2, 4))
    for _ in range(length):
        perm = tuple(data.draw(st.permutations(range(3))))
        shape = tuple(net.shape(edge)[axis] for axis in perm)
        edge = net.op("Transpose", [edge], shape, perm=perm)
    graph = net.finish(net.op("Abs", [edge], shape))
    after = applied(graph, "merge_transposes")
    marks = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    cancels = np.array_equal(interpreter.run(graph, [marks])[0], marks)
    assert ops(after) == (["Neg", "Abs"] if cancels else ["Neg", "Transpose", "Abs"])
    if cancels:
        assert after.node(graph.topology.consumers[edge][0]).inputs == (start,)


def test_transposes_stay_where_their_tensors_are_read_elsewhere() -> None:
    net = Net()
    once = net.op("Transpose", [net.input(2, 3)], (3, 2))
    graph = net.finish(net.op("Transpose", [once], (2, 3)), once)
    assert ops(applied(graph, "merge_transposes")) == ["Transpose", "Transpose"]


def test_a_product_of_more_axes_is_no_gemm() -> None:
    net = Net()
    weights = net.constant(np.ones((3, 4), np.float32))
    product = net.op("MatMul", [net.input(1, 2, 3), weights], (1, 2, 4))
    bias = net.constant(np.ones(4, np.float32))
    graph = net.finish(net.op("Add", [product, bias], (1, 2, 4)))
    assert ops(gemm.fuse(graph)) == ["MatMul", "Add"]


def test_an_identity_between_two_outputs_stays() -> None:
    net = Net()
    real = net.op("Neg", [net.input(4)], (4,))
    graph = net.finish(real, net.op("Identity", [real], (4,)))
    assert ops(identities.remove(graph)) == ["Neg", "Identity"]


def test_transposes_that_make_an_output_of_an_input_leave_a_copy() -> None:
    net = Net()
    once = net.op("Transpose", [net.input(2, 3)], (3, 2))
    graph = net.finish(net.op("Transpose", [once], (2, 3)))
    assert ops(applied(graph, "merge_transposes")) == ["Identity"]


def test_the_first_that_is_named_has_a_node() -> None:
    net = Net()
    amounts = net.constant(np.array((0, 0, 1, 1, 0, 0, 1, 1), np.int64))
    pad = net.op("Pad", [net.input(1, 1, 4, 4), amounts], (1, 1, 6, 6))
    pooled = net.op("AveragePool", [pad], (1, 1, 5, 5), kernel_shape=(2, 2))
    graph = net.finish(net.op("Relu", [pooled], (1, 1, 5, 5)))
    assert ops(applied(graph, "fold_pads", "fuse_activations")) == ["AveragePool", "Relu"]
    assert ops(applied(graph, "fuse_activations", "fold_pads")) == ["Pad", "AveragePool"]


@given(st.data())
@PROPERTY
def test_all_of_them_keep_the_bits_of_random_graphs(data: st.DataObject) -> None:
    graph = random_net(lambda low, high: data.draw(st.integers(low, high)))
    applied(graph, *data.draw(st.permutations(optional.names())))
