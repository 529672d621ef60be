"""Taps that add nothing go; the sums, and so all bits, stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graph_cases import Net
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples
from substitution_cases import Bytes, integers

from mcu_deploy import interpreter
from mcu_deploy.ir import Graph, verify
from mcu_deploy.operators.windows import window
from mcu_deploy.passes import taps


def convolution(
    size: tuple[int, int], kernel: tuple[int, int], net: Net | None = None,
    zeros: tuple[Any, ...] | None = None, **attributes: Any,
) -> Graph:  # fmt: skip
    """Of two channels to three; zeros: where in the kernel the weights are 0."""
    net = Bytes() if net is None else net
    x = net.input(1, 2, *size)
    shape = (3, 2, *kernel)
    w = net.weights(*shape) if isinstance(net, Bytes) else net.constant(np.ones(shape, np.float32))
    if zeros is not None:
        weights = net.editor.constants[w].copy()
        weights[(slice(None), slice(None), *zeros)] = 0
        weights.flags.writeable = False
        net.editor.constants[w] = weights
    pads = attributes.get("pads", (0, 0, 0, 0))
    strides = attributes.get("strides", (1, 1))
    dilations = attributes.get("dilations", (1, 1))
    out = [
        (n + pads[k] + pads[k + 2] - (t - 1) * d - 1) // s + 1
        for k, (n, t, d, s) in enumerate(zip(size, kernel, dilations, strides, strict=True))
    ]
    y = net.op("Conv", [x, w], (1, 3, *out), kernel_shape=kernel, **attributes)
    return net.finish(y)


def cut(graph: Graph) -> Graph:
    """The graph after the pass, which computes the same bits."""
    after = taps.remove(graph)
    verify(after)
    inputs = integers(graph)
    pairs = zip(interpreter.run(graph, inputs), interpreter.run(after, inputs), strict=True)
    assert all(one.tobytes() == two.tobytes() for one, two in pairs)
    return after


def kernel_and_pads(graph: Graph) -> tuple[tuple[int, ...], tuple[int, ...]]:
    (node,) = graph.nodes
    weights, attributes = graph.constant(node.inputs[1]), graph.attributes(node.id)
    assert weights is not None
    assert tuple(attributes["kernel_shape"]) == weights.shape[2:]
    return weights.shape[2:], tuple(attributes.get("pads", ()))


ROUND = (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("size", "kernel", "attributes", "wanted"),
    [
        ((1, 1), (3, 3), {"pads": ROUND}, ((1, 1), (0, 0, 0, 0))),
        ((1, 5), (3, 3), {"pads": ROUND}, ((1, 3), (0, 1, 0, 1))),
        ((2, 2), (3, 3), {"pads": (0, 0, 1, 1), "strides": (2, 2)}, ((2, 2), (0, 0, 0, 0))),
        ((2, 1), (3, 3), {"pads": (2, 2, 2, 2), "dilations": (2, 2)}, ((1, 1), (0, 0, 0, 0))),
        ((2, 2), (3, 3), {"pads": ROUND}, ((3, 3), ROUND)),
        ((4, 4), (3, 3), {"pads": (1, 0, 1, 0), "zeros": (0,)}, ((2, 3), (0, 0, 1, 0))),
        ((4, 4), (3, 3), {"zeros": (0,)}, ((3, 3), ())),  # a negative padding would be needed
        ((4, 4), (3, 3), {"pads": ROUND, "zeros": ()}, ((2, 2), (1, 1, 0, 0))),
    ],
)
def test_what_adds_nothing_goes(
    size: tuple[int, int], kernel: tuple[int, int], attributes: dict[str, Any],
    wanted: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:  # fmt: skip
    assert kernel_and_pads(cut(convolution(size, kernel, **attributes))) == wanted


def test_a_float_convolution_keeps_its_taps() -> None:
    graph = convolution((1, 1), (3, 3), Net(), pads=ROUND)
    assert kernel_and_pads(taps.remove(graph))[0] == (3, 3)


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_sums_stay(data: st.DataObject) -> None:
    draw = data.draw
    size = draw(st.tuples(*[st.integers(1, 5)] * 2))
    kernel = draw(st.tuples(*[st.integers(1, 4)] * 2))
    dilations = draw(st.tuples(*[st.integers(1, 2)] * 2))
    strides = draw(st.tuples(*[st.integers(1, 3)] * 2))
    pads = draw(st.tuples(*[st.integers(0, 4)] * 4))
    fits = all(
        n + pads[k] + pads[k + 2] > (t - 1) * d
        for k, (n, t, d) in enumerate(zip(size, kernel, dilations, strict=True))
    )
    if not fits:
        return
    zeros = draw(st.sampled_from([None, (0,), (slice(None), -1)]))
    graph = convolution(size, kernel, pads=pads, strides=strides, dilations=dilations, zeros=zeros)
    after = cut(graph)
    left, _ = kernel_and_pads(after)
    assert all(0 < new <= old for new, old in zip(left, kernel, strict=True))
    (node,) = after.nodes
    y = after.type(node.writes[0])
    found = window(after.attributes(node.id), size, y.shape[2:], left)
    assert min(*found.begin, *found.end) >= 0
