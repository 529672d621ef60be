"""Binary operators with broadcasting, unary functions, QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Case, check_cases, make_model
from operators.sandwich import Q, Sandwich, random_integers

from mcu_deploy.operators.elementwise import UNARY

BINARY = ("Add", "Sub", "Mul", "Div")
SHAPES = {
    "same shape": ((1, 4, 6, 5), (1, 4, 6, 5)),
    "channels": ((2, 4, 6, 5), (1, 4, 1, 1)),
    "rows": ((2, 4, 6, 5), (5,)),
    "both broadcast": ((4, 1, 5), (3, 1)),
    "scalar": ((4, 5), ()),
    "scalar first": ((), (4, 5)),
}


def _binary(
    op: str,
    label: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    dtype: str,
    activation: str | tuple[float, float] | None = None,
) -> Case:
    rng = np.random.default_rng(len(label))
    zero = 5 if dtype == "int8" else 130
    a, b = Q(shapes[0], dtype, 0.043, zero), Q(shapes[1], dtype, 0.027, zero - 9)
    right = random_integers(rng, shapes[1], dtype)
    if op == "Div":
        right = np.where(right == b.zero_point, right.dtype.type(b.zero_point + 1), right)
    sandwich = Sandwich()
    names = [sandwich.input(a, random_integers(rng, shapes[0], dtype)), sandwich.input(b, right)]
    scale = {"Add": 0.05, "Sub": 0.05, "Mul": 0.07, "Div": 0.06}[op]
    output = Q(None, dtype, scale, zero + 2)
    return sandwich.finish(f"{op} {dtype} {label}", op, names, output, None, activation)


def _float_binary(op: str, label: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Case:
    rng = np.random.default_rng(len(label))
    values = [rng.standard_normal(s).astype(np.float32) for s in shapes]
    model = make_model(
        [helper.make_node(op, ["a", "b"], ["y"])],
        {"a": ("float32", shapes[0]), "b": ("float32", shapes[1])},
        {"y": ("float32", None)},
    )
    return Case(f"float {op} {label}", model, tuple(values))


def _constant_operand(op: str, first: bool, quantized: bool) -> Case:
    """One operand is a constant, the other comes out of a convolution, so it is channel-last."""
    rng = np.random.default_rng(3)
    shape = (1, 3, 5, 4)
    order = ["k", "c"] if first else ["c", "k"]
    constant = rng.uniform(0.5, 2, shape).astype(np.float32)
    weights = rng.standard_normal((3, 3, 1, 1)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node(op, order, ["y"])]
    if op == "Div" and first:
        # away from zero, where quotients have no bound
        nodes.insert(1, helper.make_node("Sigmoid", ["c"], ["s"]))
        nodes[2].input[1] = "s"
    model = make_model(
        nodes, {"x": ("float32", shape)}, {"y": ("float32", None)}, {"w": weights, "k": constant}
    )
    x = rng.standard_normal(shape).astype(np.float32)
    return Case(f"constant operand {op} {first}", model, (x,))


@pytest.mark.needs_host_gcc
def test_binary(tmp_path: Path) -> None:
    cases = [
        _binary(op, label, shapes, dtype)
        for op in BINARY
        for label, shapes in SHAPES.items()
        for dtype in ("int8", "uint8")
    ]
    cases += [_binary(op, "relu", SHAPES["same shape"], "int8", "Relu") for op in BINARY]
    cases += [_binary(op, "clip", SHAPES["channels"], "int8", (-1.0, 2.0)) for op in BINARY]
    cases += [_float_binary(op, label, s) for op in BINARY for label, s in SHAPES.items()]
    cases += [_constant_operand(op, first, False) for op in BINARY for first in (True, False)]
    check_cases(cases, tmp_path)


# Attributes that are not the default, where an operator has some.
ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "LeakyRelu": {"alpha": 0.2},
    "Elu": {"alpha": 0.7},
    "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
}
POSITIVE = {"Sqrt", "Log"}
# onnxruntime has these from opset 18 on; Gelu is new in opset 20.
OPSETS = {"Gelu": 20, "Mish": 18}


def _unary(op: str, attributes: Mapping[str, Any], dtype: str) -> Case:
    rng = np.random.default_rng(len(op))
    opset = OPSETS.get(op, 17)
    shape = (2, 3, 43)
    if dtype == "float32":
        x = rng.uniform(0.1 if op in POSITIVE else -6, 6, shape).astype(np.float32)
        model = make_model(
            [helper.make_node(op, ["x"], ["y"], **attributes)],
            {"x": ("float32", shape)}, {"y": ("float32", None)}, opset=opset,
        )  # fmt: skip
        return Case(f"float {op} {dict(attributes)}", model, (x,))
    zero = -128 if op in POSITIVE | {"Reciprocal"} else -3
    if dtype == "uint8":
        zero += 128
    # All 256 values; the reciprocal of zero is infinite, which no scale maps.
    values = np.arange(shape[0] * shape[1] * shape[2]) % 256
    if op == "Reciprocal":
        values = np.maximum(values, 20)
    x = (values - (128 if dtype == "int8" else 0)).astype(dtype).reshape(shape)
    sandwich = Sandwich()
    name = sandwich.input(Q(shape, dtype, 0.047, zero), x)
    output = Q(None, dtype, 0.033, zero + 1 if zero < 0 or dtype == "uint8" else zero)
    return sandwich.finish(
        f"{op} {dtype} {dict(attributes)}", op, [name], output, attributes, opset=opset
    )


def _ties(op: str) -> Case:
    """All bytes, of which half the results lie between two: each float32 operation decides."""
    every = np.arange(256, dtype=np.uint8)
    sandwich = Sandwich()
    name = sandwich.input(Q(every.shape, "uint8", 0.05, 138), every)
    return sandwich.finish(f"ties of {op}", op, [name], Q(None, "uint8", 0.02, 100), exact=True)


def _clips() -> list[Case]:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((3, 7)).astype(np.float32)
    cases = []
    bounds: tuple[tuple[float | None, float | None], ...] = ((-0.5, 0.7), (None, 0.3), (0.1, None))
    for low, high in bounds:
        constants = {}
        if low is not None:
            constants["low"] = np.float32(low)
        if high is not None:
            constants["high"] = np.float32(high)
        inputs = ["x", "low" if low is not None else "", "high" if high is not None else ""]
        model = make_model(
            [helper.make_node("Clip", inputs, ["y"])],
            {"x": ("float32", x.shape)}, {"y": ("float32", None)}, constants,
        )  # fmt: skip
        cases.append(Case(f"clip {low} {high}", model, (x,)))
    old = make_model(
        [helper.make_node("Clip", ["x"], ["y"], min=-0.25, max=0.5)],
        {"x": ("float32", x.shape)}, {"y": ("float32", None)}, opset=10,
    )  # fmt: skip
    return [*cases, Case("clip of opset 6", old, (x,))]


@pytest.mark.needs_host_gcc
def test_unary(tmp_path: Path) -> None:
    cases = [
        _unary(op, attributes, dtype)
        for op in UNARY
        for attributes in ({}, ATTRIBUTES.get(op))
        if attributes is not None
        for dtype in ("int8", "uint8", "float32")
    ]
    cases += [_unary("Gelu", {"approximate": "tanh"}, d) for d in ("int8", "float32")]
    cases += [_ties(op) for op in ("HardSigmoid", "HardSwish", "LeakyRelu")]
    check_cases([*cases, *_clips()], tmp_path)


def _quantize(dtype: str, scale: float, zero: int, opset: int = 13) -> list[Case]:
    rng = np.random.default_rng(zero + 200)
    info = np.iinfo(dtype)
    reals = np.concatenate([
        rng.standard_normal(500).astype(np.float32) * np.float32(scale) * np.float32(info.max / 2),
        # exactly between two steps, far outside, infinite, tiny
        (np.arange(-8, 9) + np.float32(0.5)).astype(np.float32) * np.float32(scale),
        np.array([1e30, -1e30, np.inf, -np.inf, 1e-40, -0.0], np.float32),
    ])  # fmt: skip
    constants = {"s": np.float32(scale), "z": np.array(zero, dtype)}
    there = make_model(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])],
        {"x": ("float32", reals.shape)}, {"y": (dtype, None)}, constants, opset,
    )  # fmt: skip
    every = np.arange(info.min, info.max + 1, 1 if dtype.endswith("8") else 101).astype(dtype)
    back = make_model(
        [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"])],
        {"x": (dtype, every.shape)}, {"y": ("float32", None)}, constants, opset,
    )  # fmt: skip
    label = f"{dtype} {scale} {zero}"
    return [
        Case(f"quantize {label}", there, (reals,), exact=True),
        Case(f"dequantize {label}", back, (every,), exact=True, tolerance=0.0),
    ]


@pytest.mark.needs_host_gcc
def test_quantize_and_dequantize(tmp_path: Path) -> None:
    cases = [
        *_quantize("int8", 0.037, -11),
        *_quantize("int8", 1.0, 127),
        *_quantize("uint8", 0.00391, 0),
        *_quantize("uint8", 0.25, 255),
        *_quantize("int16", 0.0003, 0, 21),
        *_quantize("uint16", 0.0003, 32768, 21),
    ]
    for case in cases:
        case.model.graph.ClearField("value_info")
    check_cases(cases, tmp_path)


def _rescale(x: Q, y: Q) -> Case:
    """DequantizeLinear straight into QuantizeLinear: one table."""
    every = np.arange(256).astype(np.uint8).view(x.dtype)
    sandwich = Sandwich()
    name = sandwich.input(Q(every.shape, x.dtype, x.scale, x.zero_point), every)
    return sandwich.finish(f"rescale {x} {y}", "Identity", [name], y)


@pytest.mark.needs_host_gcc
def test_change_of_scale(tmp_path: Path) -> None:
    types = [Q(None), Q(None, "int8", 0.013, -7), Q(None, "uint8", 0.06, 100)]
    check_cases([_rescale(x, y) for x in types for y in types], tmp_path)
