"""Pads that become the padding of the convolution behind them, and those that stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from graph_cases import Net, random_inputs
from hypothesis import given
from hypothesis import strategies as st
from sampling import dear
from substitution_cases import Bytes, floats, integers, ops

from mcu_deploy import interpreter, passes
from mcu_deploy.ir import Graph, GraphEditor, verify
from mcu_deploy.passes import pads

SPATIAL = (0, 0, 1, 0, 0, 0, 2, 1)
LAST = (0, 1, 0, 0, 0, 2, 1, 0)  # the same of an image whose channels are last


def padded(
    net: Net, amounts: Sequence[int], value: Any, op: str = "Conv", perm: Sequence[int] = (),
    **attributes: Any,
) -> Graph:  # fmt: skip
    """A Pad of a picture of 5 by 4, maybe a Transpose, and a convolution or pool of 3 by 2."""
    x = net.input(*((1, 5, 4, 2) if perm else (1, 2, 5, 4)))
    size = [n + a + b for n, a, b in zip(net.shape(x), amounts[:4], amounts[4:], strict=True)]
    constants = [
        net.constant(np.array(amounts, np.int64)),
        net.constant(np.array(value, net.editor.types[x].dtype.numpy)),
    ]
    image = net.op("Pad", [x, *constants], size, **attributes.pop("of_pad", {}))
    if perm:
        image = net.op("Transpose", [image], [size[axis] for axis in perm], perm=tuple(perm))
    channels, height, width = net.shape(image)[1:]
    own = attributes.get("pads", (0, 0, 0, 0))
    inputs = [image]
    if op == "Conv":
        is_bytes = isinstance(net, Bytes)
        shape = (3, channels, 3, 2)
        inputs.append(net.weights(*shape) if is_bytes else net.constant(np.ones(shape, np.float32)))
    result = (1, 3 if op == "Conv" else channels, height + own[0] + own[2] - 2,
              width + own[1] + own[3] - 1)  # fmt: skip
    return net.finish(net.op(op, inputs, result, kernel_shape=(3, 2), **attributes))


def folded(graph: Graph) -> Graph:
    """The graph after the pass, which computes the same bits."""
    after = pads.fold(graph)
    verify(after)
    inputs = random_inputs(graph) if floats(graph) else integers(graph)
    pairs = zip(interpreter.run(graph, inputs), interpreter.run(after, inputs), strict=True)
    assert all(one.tobytes() == two.tobytes() for one, two in pairs)
    return after


@pytest.mark.parametrize(
    ("net", "value", "attributes", "wanted"),
    [
        (Bytes, -3, {}, (1, 0, 2, 1)),
        (Bytes, -3, {"pads": (1, 1, 0, 0)}, (2, 1, 2, 1)),
        (Bytes, -3, {"auto_pad": "VALID"}, (1, 0, 2, 1)),
        (Net, 0.0, {"pads": (0, 1, 1, 0)}, (1, 1, 3, 1)),
    ],
)
def test_a_pad_is_folded(
    net: type[Net], value: float, attributes: dict[str, Any], wanted: tuple[int, ...]
) -> None:
    after = folded(padded(net(), SPATIAL, value, **attributes))
    (conv,) = after.nodes
    assert conv.op == "Conv" and after.attributes(conv.id)["pads"] == wanted


def test_a_pad_before_a_transpose_is_folded() -> None:
    after = folded(padded(Bytes(), LAST, -3, perm=(0, 3, 1, 2)))
    transpose, conv = after.nodes
    assert (transpose.op, conv.op) == ("Transpose", "Conv")
    assert after.attributes(conv.id)["pads"] == (1, 0, 2, 1)
    assert after.type(conv.reads[0]).shape == (1, 2, 5, 4)


@pytest.mark.parametrize(
    ("net", "amounts", "value", "more"),
    [
        (Bytes, SPATIAL, 0, {}),
        (Net, SPATIAL, 1.0, {}),
        (Bytes, (0, 0, -1, 0, 0, 0, 2, 0), -3, {}),
        (Bytes, (0, 1, 0, 0, 0, 0, 0, 0), -3, {}),
        (Bytes, SPATIAL, -3, {"of_pad": {"mode": "edge"}}),
        (Bytes, SPATIAL, -3, {"op": "MaxPool"}),
        (Bytes, (0, 0, 0, 1, 0, 0, 0, 1), -3, {"perm": (0, 3, 1, 2)}),
    ],
)
def test_a_pad_that_is_none_of_a_convolution_stays(
    net: type[Net], amounts: Sequence[int], value: float, more: dict[str, Any]
) -> None:
    graph = padded(net(), amounts, value, **more)
    assert ops(folded(graph)) == ops(graph)


def test_a_pad_before_an_average_is_folded_where_that_counts_it() -> None:
    after = folded(padded(Bytes(), SPATIAL, -3, "AveragePool"))
    (pool,) = after.nodes
    attributes = after.attributes(pool.id)
    assert attributes["pads"] == (1, 0, 2, 1) and attributes["count_include_pad"] == 1
    own = {"pads": (1, 0, 0, 0)}
    assert ops(folded(padded(Bytes(), SPATIAL, -3, "AveragePool", **own))) == ["Pad", "AveragePool"]


def relued(
    kernel: tuple[int, int], amounts: Sequence[int], activation: Any = (), dilations: Any = (1, 1)
) -> Graph:
    """A Relu, or an Add with a clamp, a Pad of zeros and a MaxPool."""
    net = Net()
    x = net.input(1, 2, 5, 4)
    if activation:
        x = net.op("Add", [x, x], (1, 2, 5, 4), activation=activation)
    else:
        x = net.op("Relu", [x], (1, 2, 5, 4))
    constants = [net.constant(np.array(amounts, np.int64)), net.constant(np.float32(0))]
    size = [n + a + b for n, a, b in zip((1, 2, 5, 4), amounts[:4], amounts[4:], strict=True)]
    image = net.op("Pad", [x, *constants], size)
    axes = zip(size[2:], kernel, dilations, strict=True)
    result = (1, 2, *(n - d * (k - 1) for n, k, d in axes))
    pool = net.op("MaxPool", [image], result, kernel_shape=kernel, dilations=dilations)
    return net.finish(pool)


def test_a_pad_of_zeros_before_a_maximum_is_folded_where_nothing_is_less() -> None:
    after = folded(relued((3, 2), (0, 0, 2, 1, 0, 0, 1, 0)))
    relu, pool = after.nodes
    assert (relu.op, pool.op) == ("Relu", "MaxPool")
    assert after.attributes(pool.id)["pads"] == (2, 1, 1, 0)
    # A window of padding alone has no maximum; nor are zeros the least where elements are less.
    assert "Pad" in ops(folded(relued((2, 2), (0, 0, 2, 1, 0, 0, 1, 0))))
    assert ops(folded(padded(Net(), SPATIAL, 0.0, "MaxPool"))) == ["Pad", "MaxPool"]
    for more in ({"dilations": (2, 2)}, {"activation": (-1.0, 1.0)}):
        assert "Pad" in ops(folded(relued((2, 2), (0, 0, 1, 1, 0, 0, 1, 1), **more)))


def test_a_pad_that_is_read_elsewhere_stays() -> None:
    editor = GraphEditor(padded(Bytes(), SPATIAL, -3))
    (pad,) = (node for node in editor.nodes.values() if node.op == "Pad")
    editor.outputs.append(pad.writes[0])
    assert ops(folded(editor.finish())) == ["Pad", "Conv"]


def test_every_layer_for_itself_keeps_its_pad() -> None:
    graph = padded(Bytes(), SPATIAL, -3)
    assert ops(passes.run(graph)) == ["Conv"]
    assert ops(passes.run(graph, fuse=False)) == ["Pad", "Conv"]


@given(st.data(), st.booleans())
@dear(60)
def test_any_pad_of_bytes_gives_the_same_bits(data: st.DataObject, is_last: bool) -> None:
    top, left, bottom, right = (data.draw(st.integers(0, 3)) for _ in range(4))
    own = tuple(data.draw(st.integers(0, 1)) for _ in range(4))
    first, last = (0, top, left, 0, 0, bottom, right, 0), (0, 0, top, left, 0, 0, bottom, right)
    perm = (0, 3, 1, 2) if is_last else ()
    graph = padded(Bytes(), first if is_last else last, -3, perm=perm, pads=own)
    assert "Pad" not in ops(folded(graph))
