"""What converters leave between the nodes of a sandwich: constants that several layers share, moves
of elements in float, pads with a number of another scale. None of it leaves a layer in float32."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, helper
from operators.lab import Array, Case, check_cases, make_model
from operators.test_lowering import lowered

_ZERO = np.int8(-7)


class _Net:
    """Collects nodes; each method returns the name of what it writes."""

    def __init__(self, name: str, shape: tuple[int, ...], seed: int = 0) -> None:
        self.name, self.shape = name, shape
        self.rng = np.random.default_rng(seed)
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, Array] = {"zero": np.array(_ZERO), "none": np.int8(0)}
        self.outputs: dict[str, tuple[str, None]] = {}

    def node(self, op: str, inputs: list[str], **attributes: Any) -> str:
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], f"{op}_{output}", **attributes))
        return output

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def dq(self, x: str, scale: Any, zero: str = "zero", **a: Any) -> str:
        return self.node("DequantizeLinear", [x, self.constant(np.float32(scale)), zero], **a)

    def q(self, x: str, scale: float) -> str:
        return self.node("QuantizeLinear", [x, self.constant(np.float32(scale)), "zero"])

    def weights(self, shape: tuple[int, ...], scale: float = 0.01) -> str:
        return self.dq(
            self.constant(self.rng.integers(-99, 99, shape).astype(np.int8)), scale, "none"
        )

    def conv(self, x: str, filters: int, channels: int, bias: str | None = None, **a: Any) -> str:
        inputs = [x, self.weights((filters, channels, 3, 3)), *([bias] if bias else [])]
        return self.node("Conv", inputs, pads=[1, 1, 1, 1], **a)

    def case(self, *outputs: str) -> Case:
        info = dict.fromkeys(outputs, ("int8", None))
        model = make_model(self.nodes, {"x": ("int8", self.shape)}, info, self.constants)
        values = self.rng.integers(-128, 128, self.shape).astype(np.int8)
        return Case(self.name, model, (values,))


def _shared_bias() -> Case:
    """One vector of zeros, which is every layer's bias at a scale of its own."""
    net = _Net("one bias of three layers", (1, 3, 6, 6))
    zeros, none = net.constant(np.zeros(4, np.int32)), net.constant(np.int32(0))
    x, scale = net.dq("x", 0.02), 0.02
    for channels in (3, 4, 4):
        bias = net.dq(zeros, np.float32(scale) * np.float32(0.01), none)
        scale *= 4
        last = net.q(net.conv(x, 4, channels, bias), scale)
        x = net.dq(last, scale)
    return net.case(last)


def _transposes() -> Case:
    """Channels last outside, as a converter from TensorFlow leaves it, weights too."""
    net = _Net("transposes", (1, 6, 6, 3))
    x = net.node("Transpose", [net.dq("x", 0.02)], perm=[0, 3, 1, 2])
    kernel = net.constant(net.rng.integers(-99, 99, (3, 3, 3, 4)).astype(np.int8))
    scales = np.array([0.01, 0.02, 0.015, 0.03], np.float32)
    kernel = net.dq(kernel, scales, net.constant(np.zeros(4, np.int8)), axis=3)
    w = net.node("Transpose", [kernel], perm=[3, 2, 0, 1])
    y = net.node("Transpose", [net.node("Conv", [x, w])], perm=[0, 2, 3, 1])
    flat = net.node("Reshape", [y, net.constant(np.array([1, -1]))])
    return net.case(net.q(flat, 0.1))


def _pad(value: Callable[[_Net], str | None]) -> Callable[[], Case]:
    def make() -> Case:
        net = _Net("pad", (1, 3, 5, 5))
        given = value(net)
        pads = net.constant(np.array([0, 0, 1, 1, 0, 0, 1, 1]))
        padded = net.node("Pad", [net.dq("x", 0.02), pads, *([given] if given else [])])
        convolved = net.node("Conv", [padded, net.weights((4, 3, 3, 3))])
        return net.case(net.q(convolved, 0.1))

    return make


def _pad_quantized() -> Case:
    """A number of its own scale, which the output's scale does not know."""
    net = _Net("pad with a number of another scale", (1, 3, 5, 5))
    value = net.dq(net.constant(np.int8(100)), 0.0127, "none")
    pads = net.constant(np.array([0, 0, 1, 1, 0, 0, 1, 1]))
    return net.case(net.q(net.node("Pad", [net.dq("x", 0.02), pads, value]), 0.02))


def _concat() -> Case:
    net = _Net("parts of different scales", (1, 3, 4, 4))
    constant = net.constant(net.rng.normal(0, 1, (1, 1, 4, 4)).astype(np.float32))
    left = net.q(net.conv(net.dq("x", 0.02), 2, 3), 0.1)
    joined = net.node("Concat", [net.dq(left, 0.1), net.dq("x", 0.02), constant], axis=1)
    return net.case(net.q(joined, 0.05))


def _where(scale: float = 0.02, zero: int = int(_ZERO)) -> Case:
    net = _Net(f"where {scale}", (1, 3, 4, 4))
    net.constants["zero"] = np.array(zero, np.int8)
    real = net.dq("x", scale)
    condition = net.constant(net.rng.integers(0, 2, (1, 3, 4, 4)).astype(bool))
    chosen = net.node("Where", [condition, real, net.constant(np.float32(0))])
    return net.case(net.q(chosen, scale))


def _split() -> Case:
    net = _Net("split", (1, 4, 4, 4))
    net.nodes.append(
        helper.make_node("Split", [net.dq("x", 0.02), net.constant(np.array([1, 3]))],
                         ["left", "right"], "split", axis=1)
    )  # fmt: skip
    return net.case(net.q("left", 0.02), net.q(net.conv("right", 2, 3), 0.1))


def _split_apart() -> Case:
    """Parts of scales of their own, which the whole has not."""
    net = _Net("split to two scales", (1, 4, 4, 4))
    net.nodes.append(
        helper.make_node("Split", [net.conv(net.dq("x", 0.02), 4, 4)], ["left", "right"], axis=1)
    )
    return net.case(net.q("left", 0.1), net.q("right", 0.07))


def _lost_axis() -> Case:
    """Scales along an axis that a Reshape takes apart."""
    net = _Net("scales of an axis that is no more", (1, 3, 2, 2))
    whole = net.constant(net.rng.integers(-99, 99, (2, 6)).astype(np.int8))
    scales, zeros = np.array([0.01, 0.04], np.float32), net.constant(np.zeros(2, np.int8))
    apart = net.node("Reshape", [net.dq(whole, scales, zeros, axis=0), net.constant([3, 2, 2])])
    return net.case(net.q(net.node("Add", [net.dq("x", 0.02), apart]), 0.05))


def _row_bias() -> Case:
    """A bias of two axes, quantized."""
    net = _Net("bias of a row", (2, 4))
    bias = net.dq(net.constant(np.array([[9, -7, 3]], np.int32)), 0.02 * 0.01, "none32")
    net.constants["none32"] = np.int32(0)
    product = net.node("MatMul", [net.dq("x", 0.02), net.weights((4, 3))])
    return net.case(net.q(net.node("Add", [product, bias]), 0.05))


def _moved_bytes() -> Case:
    """Scales along an axis that a Transpose of the bytes has moved."""
    net = _Net("scales behind a move", (1, 2, 3))
    scales, zeros = np.array([0.01, 0.04, 0.02], np.float32), net.constant(np.zeros(3, np.int8))
    moved = net.node("Transpose", ["x"], perm=[0, 2, 1])
    return net.case(net.q(net.dq(moved, scales, zeros, axis=1), 0.05))


def _two_readers() -> Case:
    """Bytes that two readers see with scales of their own: both are right."""
    net = _Net("two scales of one tensor", (1, 3, 4, 4))
    made = net.q(net.conv(net.dq("x", 0.02), 3, 3), 0.1)
    first, second = (net.q(net.conv(net.dq(made, s), 2, 3), 0.5) for s in (0.1, 0.03))
    return net.case(first, second)


def _gelu(net: _Net, x: str) -> str:
    """As exporters write it."""
    part = net.node("Erf", [net.node("Div", [x, net.constant(np.float32(np.sqrt(2)))])])
    part = net.node("Add", [part, net.constant(np.float32(1))])
    return net.node("Mul", [x, net.node("Mul", [part, net.constant(np.float32(0.5))])])


def _function() -> Case:
    """Operators of which nothing between is quantized, behind a convolution that others read."""
    net = _Net("a function of float32", (1, 3, 4, 4))
    real = net.dq(net.q(net.conv(net.dq("x", 0.02), 3, 3), 0.1), 0.1)
    return net.case(net.q(_gelu(net, real), 0.05), net.q(net.conv(real, 2, 3), 0.5))


def _cast() -> Case:
    """Bytes without a scale at both ends."""
    net = _Net("bytes by Cast", (1, 5, 7))
    part = net.node("Add", [net.node("Cast", ["x"], to=1), net.constant(np.float32(0.4))])
    part = net.node("Clip", [part, net.constant(np.float32(-90)), net.constant(np.float32(99))])
    return net.case(net.node("Cast", [part], to=3))


def _nothing() -> Case:
    """A function that gives each byte itself."""
    net = _Net("negated twice", (1, 5, 7))
    return net.case(net.q(net.node("Neg", [net.node("Neg", [net.dq("x", 0.02)])]), 0.02))


_CASES = {
    "shared bias": (_shared_bias, 3),
    "transposes": (_transposes, 1),
    "pad of nothing given": (_pad(lambda net: None), 1),
    "pad of zero": (_pad(lambda net: net.constant(np.float32(0))), 1),
    "pad of a zero of its own scale": (
        _pad(lambda net: net.dq(net.constant(np.int8(0)), 0.5, "none")), 1,
    ),
    "pad of a number": (_pad_quantized, 0),
    "concat": (_concat, 1),
    "where": (_where, 0),
    "where of a convenient scale": (lambda: _where(0.25, -128), 0),
    "split": (_split, 1),
    "bias of a row": (_row_bias, 0),
    "two readers": (_two_readers, 3),
    "function": (_function, 2),
    "bytes without a scale": (_cast, 0),
    "nothing": (_nothing, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", _CASES)
def test_no_layer_is_left_in_float(name: str, tmp_path: Path) -> None:
    make, convolutions = _CASES[name]
    graph = lowered(make(), tmp_path)
    assert [n.op for n in graph.nodes].count("Conv") == convolutions
    reals = {e for n in graph.nodes for e in n.writes if graph.type(e).dtype.is_float}
    assert not reals, {graph.edge_name(e) for e in reals}


@pytest.mark.needs_host_gcc
def test_around_a_sandwich(tmp_path: Path) -> None:
    cases = [make() for make, _ in _CASES.values()]
    check_cases([*cases, _split_apart(), _lost_axis(), _moved_bytes()], tmp_path)


def test_scales_along_an_axis_are_not_carried_over_a_move(tmp_path: Path) -> None:
    graph = lowered(_moved_bytes(), tmp_path)
    assert graph.type(graph.inputs[0]).quantization is None


def test_reals_are_quantized_before_they_are_moved(tmp_path: Path) -> None:
    net = _Net("moved", (1, 2, 3))
    model = make_model(
        [net.node("Transpose", ["x"]), net.q("t0", 0.1)] and net.nodes,
        {"x": ("float32", (1, 2, 3))}, {"t1": ("int8", None)}, net.constants,
    )  # fmt: skip
    graph = lowered(Case("moved", model, ()), tmp_path)
    assert [node.op for node in graph.nodes] == ["QuantizeLinear", "Transpose"]


def test_constants_of_one_reading_are_one(tmp_path: Path) -> None:
    """Two layers with the same weights at the same scale: the constant is not copied."""
    net = _Net("one matrix", (1, 4))
    w = net.weights((4, 4))
    first = net.q(net.node("MatMul", [net.dq("x", 0.02), w]), 0.1)
    last = net.q(net.node("MatMul", [net.dq(first, 0.1), w]), 0.5)
    graph = lowered(net.case(last), tmp_path)
    used: Mapping[int, Any] = {n.inputs[1]: n for n in graph.nodes if n.op == "MatMul"}
    assert len(used) == 1
