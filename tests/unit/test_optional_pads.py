"""Pads that are folded into the operator behind them, and those that are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from graph_cases import Net
from hypothesis import given
from hypothesis import strategies as st
from sampling import dear
from substitution_cases import Bytes, applied, ops

from mcu_deploy import interpreter
from mcu_deploy.backends.substitute import substitute
from mcu_deploy.ir import Graph, GraphEditor, view, view_of_all
from mcu_deploy.passes import optional

PROPERTY = dear(60)


def padded(
    net: Net, amounts: Sequence[int], value: Any, op: str, channels: int = 2, **attributes: Any
) -> Graph:
    """A Pad of a picture of 5 by 4, and a convolution or pool of 3 by 2 behind it."""
    x = net.input(1, channels, 5, 4)
    dtype = net.editor.types[x].dtype
    constants = [
        net.constant(np.array(amounts, np.int64)),
        net.constant(np.array(value, dtype.numpy)),
    ]
    height, width = 5 + amounts[2] + amounts[6], 4 + amounts[3] + amounts[7]
    pad = net.op("Pad", [x, *constants], (1, channels, height, width), mode="constant")
    own = attributes.get("pads", (0, 0, 0, 0))
    size = (height + own[0] + own[2] - 2, width + own[1] + own[3] - 1)
    inputs = [pad]
    if op == "Conv":
        inputs.append(
            net.weights(3, channels, 3, 2) if isinstance(net, Bytes)
            else net.constant(np.ones((3, channels, 3, 2), np.float32))
        )  # fmt: skip
    shape = (1, 3 if op == "Conv" else channels, *size)
    return net.finish(net.op(op, inputs, shape, kernel_shape=(3, 2), **attributes))


SPATIAL = (0, 0, 1, 0, 0, 0, 2, 1)


@pytest.mark.parametrize(
    ("net", "value", "op", "attributes"),
    [
        (Bytes, -3, "Conv", {"pads": (1, 1, 0, 0)}),
        (Bytes, -3, "Conv", {"auto_pad": "VALID"}),
        (Bytes, -3, "Conv", {"auto_pad": "SAME_UPPER"}),
        (Bytes, -3, "AveragePool", {"pads": (1, 0, 0, 0), "count_include_pad": 1}),
        (Bytes, -3, "AveragePool", {}),
        (Bytes, -128, "MaxPool", {"pads": (1, 1, 0, 0)}),
        (Net, 0.0, "AveragePool", {}),
        (Net, -np.inf, "MaxPool", {}),
        (Net, -0.0, "AveragePool", {"count_include_pad": 1, "ceil_mode": 0}),
    ],
)
def test_a_pad_is_folded(net: type[Net], value: float, op: str, attributes: dict[str, Any]) -> None:
    graph = padded(net(), SPATIAL, value, op, **attributes)
    after = applied(graph, "fold_pads")
    assert ops(after) == [op]
    (node,) = after.nodes
    own = attributes.get("pads", (0, 0, 0, 0))
    wanted = tuple(a + b for a, b in zip(own, (1, 0, 2, 1), strict=True))
    assert after.attributes(node.id)["pads"] == wanted
    assert after.leaf_nodes(node.id) == tuple(n.name for n in graph.nodes)


def test_a_pad_before_a_float_convolution_is_folded() -> None:
    """All numbers are small integers, so that every order of the sums gives the same bits."""
    graph = padded(Net(), SPATIAL, 0.0, "Conv")
    answer = optional.run(view_of_all(graph), ["fold_pads"])
    (substitution,) = answer.substitutions
    after, _ = substitute(graph, substitution.substitutable, substitution.replacement)
    x = np.arange(40, dtype=np.float32).reshape(1, 2, 5, 4) - 20
    assert np.array_equal(interpreter.run(after, [x])[0], interpreter.run(graph, [x])[0])
    assert ops(after) == ["Conv"]


@pytest.mark.parametrize(
    ("net", "pads", "value", "op", "attributes"),
    [
        (Bytes, SPATIAL, 0, "Conv", {}),
        (Bytes, SPATIAL, -3, "MaxPool", {}),
        (Bytes, SPATIAL, -3, "AveragePool", {"pads": (1, 0, 0, 0)}),
        (Bytes, SPATIAL, -128, "MaxPool", {"ceil_mode": 1}),
        (Bytes, (0, 0, -1, 0, 0, 0, 2, 0), -3, "Conv", {}),
        (Net, SPATIAL, 1.0, "Conv", {}),
    ],
)
def test_a_pad_of_another_kind_stays(
    net: type[Net], pads: Sequence[int], value: float, op: str, attributes: dict[str, Any]
) -> None:
    assert ops(applied(padded(net(), pads, value, op, **attributes), "fold_pads")) == ["Pad", op]


def test_a_pad_that_is_read_elsewhere_stays() -> None:
    graph = padded(Bytes(), SPATIAL, -3, "Conv")
    editor = GraphEditor(graph)
    editor.outputs.append(graph.node(0).writes[0])
    assert ops(applied(editor.finish(), "fold_pads")) == ["Pad", "Conv"]
    # Seen from a part that has not the reader, too.
    assert optional.find("fold_pads")(view(graph, [0])) == ()


def test_pads_of_channels_stay_and_weights_must_be_finite() -> None:
    net = Bytes()
    x = net.input(1, 1, 4, 4)
    amounts = net.constant(np.array((0, 1, 0, 0, 0, 0, 0, 0), np.int64))
    pad = net.op("Pad", [x, amounts, net.constant(np.array(-3, np.int8))], (1, 2, 4, 4))
    graph = net.finish(net.op("Conv", [pad, net.weights(1, 2, 1, 1)], (1, 1, 4, 4)))
    assert ops(applied(graph, "fold_pads")) == ["Pad", "Conv"]
    net = Net()
    amounts = net.constant(np.array(SPATIAL, np.int64))
    pad = net.op("Pad", [net.input(1, 1, 4, 4), amounts], (1, 1, 7, 5))
    weights = net.constant(np.full((1, 1, 1, 1), np.inf, np.float32))
    graph = net.finish(net.op("Conv", [pad, weights], (1, 1, 7, 5)))
    with np.errstate(invalid="ignore"):
        assert ops(applied(graph, "fold_pads")) == ["Pad", "Conv"]


@given(st.data())
@PROPERTY
def test_any_pad_of_bytes_gives_the_same_bits(data: st.DataObject) -> None:
    top, left, bottom, right = (data.draw(st.integers(0, 3)) for _ in range(4))
    op, value = data.draw(
        st.sampled_from([("Conv", -3), ("Conv", 5), ("AveragePool", -3), ("MaxPool", -128)])
    )
    own = tuple(data.draw(st.integers(0, 1)) for _ in range(4))
    pads = (0, 0, top, left, 0, 0, bottom, right)
    applied(padded(Bytes(), pads, value, op, pads=own), "fold_pads")
