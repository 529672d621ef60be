"""Operators that move elements, alone and between channel-last convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, helper
from operators.lab import Array, Case, check_cases, make_model
from operators.sandwich import Q, Sandwich, random_integers


def _chain(
    name: str,
    nodes: Sequence[NodeProto],
    shape: tuple[int, ...],
    constants: Mapping[str, Array] | None = None,
    inputs: int = 1,
    output: str = "y",
    opset: int = 17,
) -> Case:
    """A float32 model of any nodes; inputs x0, x1 ... all of one shape."""
    rng = np.random.default_rng(len(name))
    values = [rng.standard_normal(shape).astype(np.float32) for _ in range(inputs)]
    model = make_model(
        nodes, {f"x{i}": ("float32", shape) for i in range(inputs)},
        {output: ("float32", None)}, constants, opset,
    )  # fmt: skip
    return Case(name, model, tuple(values))


def _node(op: str, inputs: Sequence[str], output: str, **attributes: Any) -> NodeProto:
    return helper.make_node(op, list(inputs), [output], output, **attributes)


def _between_convolutions(name: str, op: str, constants: Mapping[str, Array], **a: Any) -> Case:
    """conv -> op -> conv: the operator works on channel-last memory."""
    rng = np.random.default_rng(len(name))
    weights = {
        "w0": rng.standard_normal((4, 3, 1, 1)).astype(np.float32),
        "w1": rng.standard_normal((3, 4, 1, 1)).astype(np.float32),
    }
    nodes = [
        _node("Conv", ["x0", "w0"], "a"),
        _node(op, ["a", *constants], "b", **a),
        _node("Conv", ["b", "w1"], "y"),
    ]
    return _chain(name, nodes, (2, 3, 5, 6), {**constants, **weights})


def _integers(*values: int) -> Array:
    return np.array(values, np.int64)


def _cases() -> list[Case]:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((4, 3, 1, 1)).astype(np.float32)
    convs = [_node("Conv", ["x0", "w"], "a"), _node("Conv", ["x1", "w"], "b")]
    cases = [
        _chain("reshape behind conv",
               [convs[0], _node("Reshape", ["a", "s"], "y")], (1, 3, 4, 5),
               {"w": w, "s": _integers(1, -1)}),
        _chain("reshape with zeros",
               [_node("Relu", ["x0"], "a"), _node("Reshape", ["a", "s"], "y")], (2, 3, 4),
               {"s": _integers(0, -1)}),
        _chain("flatten behind conv", [convs[0], _node("Flatten", ["a"], "y")], (2, 3, 4, 5),
               {"w": w}),
        _chain("squeeze", [_node("Relu", ["x0"], "a"), _node("Squeeze", ["a", "s"], "y")],
               (2, 1, 4, 1), {"s": _integers(1, 3)}),
        _chain("squeeze all", [_node("Relu", ["x0"], "a"), _node("Squeeze", ["a"], "y")],
               (2, 1, 4, 1)),
        _chain("squeeze of opset 11",
               [_node("Relu", ["x0"], "a"), _node("Squeeze", ["a"], "y", axes=[1])],
               (2, 1, 4, 1), opset=11),
        _chain("unsqueeze", [_node("Relu", ["x0"], "a"), _node("Unsqueeze", ["a", "s"], "y")],
               (2, 4), {"s": _integers(0, -1)}),
        _chain("transpose", [_node("Transpose", ["x0"], "y", perm=[2, 0, 1])], (2, 3, 4)),
        _chain("transpose default", [_node("Transpose", ["x0"], "y")], (2, 3, 4)),
        _chain("transpose of the input's layout",
               [_node("Transpose", ["x0"], "a", perm=[0, 3, 1, 2]),
                _node("Conv", ["a", "w"], "b"),
                _node("Transpose", ["b"], "y", perm=[0, 2, 3, 1])], (2, 4, 5, 3), {"w": w}),
        _chain("transpose behind conv",
               [convs[0], _node("Transpose", ["a"], "y", perm=[3, 1, 0, 2])], (2, 3, 4, 5),
               {"w": w}),
        *(
            _chain(f"concat axis {axis} channel-last",
                   [*convs, _node("Concat", ["a", "b"], "y", axis=axis)], (2, 3, 4, 5),
                   {"w": w}, 2)
            for axis in (0, 1, 2, 3, -1)
        ),
        _chain("concat mixed layouts",
               [convs[0], _node("Relu", ["x1"], "r"), _node("Concat", ["a", "r"], "y", axis=1)],
               (2, 3, 4, 5), {"w": w}, 2),
        _chain("concat three", [_node("Concat", ["x0", "x1", "x2"], "y", axis=1)], (2, 3, 4),
               None, 3),
        _chain("add in two layouts",
               [convs[0], _node("Transpose", ["x1"], "t", perm=[0, 1, 3, 2]),
                _node("Add", ["a", "a2"], "y"), _node("Conv", ["t2", "w"], "a2"),
                _node("Transpose", ["t"], "t2", perm=[0, 1, 3, 2])][::1],
               (2, 3, 4, 5), {"w": w}, 2),
        _chain("pad 2-D", [_node("Pad", ["x0", "p", "v"], "y")], (3, 4),
               {"p": _integers(1, 0, 2, 3), "v": np.float32(-1.5)}),
        _chain("pad of opset 10", [_node("Pad", ["x0"], "y", pads=[0, 1, 2, 0], value=0.25)],
               (3, 4), opset=10),
        _chain("pad of infinity", [_node("Pad", ["x0", "p", "v"], "y")], (3, 4),
               {"p": _integers(1, 0, 2, 3), "v": np.float32(-np.inf)}),
        _chain("pad of nothing", [_node("Pad", ["x0", "p"], "y")], (3, 4),
               {"p": _integers(0, 0, 0, 0)}),
        _chain("pad axes", [_node("Pad", ["x0", "p", "v", "axes"], "y")], (2, 3, 4),
               {"p": _integers(1, 2), "v": np.float32(7), "axes": _integers(-1)}, opset=18),
        _between_convolutions("pad channel-last", "Pad", {"p": _integers(0, 0, 1, 2, 0, 0, 3, 0)}),
        _between_convolutions("relu channel-last", "LeakyRelu", {}, alpha=0.3),
        _between_convolutions("max pool channel-last", "MaxPool", {}, kernel_shape=[2, 2]),
        _between_convolutions("softmax of channels", "Softmax", {}, axis=1),
        _between_convolutions("multiply channels", "Mul",
                              {"k": rng.standard_normal((4, 1, 1)).astype(np.float32)}),
        _chain("pad with NaN", [_node("Pad", ["x0", "p", "v"], "y")], (2, 3),
               {"p": _integers(0, 1, 0, 0), "v": np.array(np.nan, np.float32)}),
        _chain("output twice", [convs[0], _node("Sigmoid", ["a"], "y")], (1, 3, 4, 5), {"w": w}),
    ]  # fmt: skip
    # nodes of one case were given out of order on purpose no more than ONNX allows
    fixed = cases[[c.name for c in cases].index("add in two layouts")].model.graph
    order = {name: i for i, name in enumerate(("a", "t", "t2", "a2", "y"))}
    ordered = sorted(fixed.node, key=lambda n: order[n.output[0]])
    copied = [NodeProto.FromString(n.SerializeToString()) for n in ordered]
    del fixed.node[:]
    fixed.node.extend(copied)
    return cases


def _quantized() -> list[Case]:
    rng = np.random.default_rng(4)
    cases = []
    for dtype, zero in (("int8", -7), ("uint8", 93)):
        for op, constants, attributes in (
            ("Reshape", {"s": _integers(2, -1)}, {}),
            ("Transpose", {}, {"perm": [0, 2, 1]}),
            ("Pad", {"p": _integers(0, 1, 0, 0, 1, 2)}, {}),
        ):
            sandwich = Sandwich()
            x = Q((2, 3, 4), dtype, 0.05, zero)
            name = sandwich.input(x, random_integers(rng, (2, 3, 4), dtype))
            sandwich.constants.update(constants)
            cases.append(
                sandwich.finish(
                    f"quantized {op} {dtype}",
                    op,
                    [name, *constants],
                    Q(None, dtype, 0.05, zero),
                    attributes,
                    exact=True,
                )
            )
        for scales in ((0.05, 0.05), (0.05, 0.02)):
            sandwich = Sandwich()
            parts = [
                sandwich.input(Q((2, 3, 4), dtype, s, zero), random_integers(rng, (2, 3, 4), dtype))
                for s in scales
            ]
            label = f"quantized Concat {dtype} {scales}"
            output = Q(None, dtype, 0.05, zero)
            cases.append(sandwich.finish(label, "Concat", parts, output, {"axis": 1}))
    return cases


@pytest.mark.needs_host_gcc
def test_movement(tmp_path: Path) -> None:
    check_cases([*_cases(), *_quantized()], tmp_path)
