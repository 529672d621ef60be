"""Operators on int8 and uint8 tensors that ONNX gives no scale: bytes are moved, or computed with,
as they are, whatever the QuantizeLinear and DequantizeLinear around them say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Array, Case, check_cases, make_model
from operators.test_lowering import lowered

from mcu_deploy.ir import Graph

SHAPE = (1, 4, 6, 6)
INTS = np.int64
# Operators, the number of their byte inputs, and the constants behind these.
_OPERATORS: dict[str, tuple[int, Mapping[str, Array], dict[str, Any]]] = {
    "Concat": (2, {}, {"axis": 1}),
    "Split": (1, {"s": np.array([1, 3], INTS)}, {"axis": 1}),
    "Slice": (1, {k: np.array([v], INTS) for k, v in {"b": 1, "e": 5, "a": 2}.items()}, {}),
    "Pad": (1, {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1], INTS), "v": np.array(5)}, {}),
    "Gather": (1, {"i": np.array([2, 0], INTS)}, {"axis": 1}),
    "Resize": (
        1,
        {"r": np.zeros(0, np.float32), "s": np.array([1, 1, 2, 2], np.float32)},
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
    "Expand": (1, {"s": np.array([3, 4, 6, 6], INTS)}, {}),
    "Tile": (1, {"r": np.array([1, 2, 1, 2], INTS)}, {}),
    "Transpose": (1, {}, {"perm": [0, 2, 3, 1]}),
    "Reshape": (1, {"s": np.array([4, 36], INTS)}, {}),
    "Identity": (1, {}, {}),
    "MaxPool": (1, {}, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "Where": (2, {}, {}),
    "GatherElements": (1, {"i": np.zeros((1, 2, 6, 6), INTS)}, {"axis": 1}),
    "GatherND": (1, {"i": np.array([[0, 1], [0, 3]], INTS)}, {}),
    "ScatterND": (1, {"i": np.array([[0, 1, 2, 3]], INTS), "u": np.array([7])}, {}),
    "Clip": (1, {"l": np.array(20), "h": np.array(90)}, {}),
    "Abs": (1, {}, {}),
    "Add": (2, {}, {}),
    "Max": (2, {}, {}),
    "Min": (2, {}, {}),
    "ReduceMax": (1, {"a": np.array([1], INTS)}, {}),
}  # fmt: skip
# Whether there is a QuantizeLinear before and a DequantizeLinear behind, and of which scales.
_AROUND = {
    "bare": ((None, None), None),
    "Q Q, bytes": ((0.02, 0.02), None),
    "bytes, DQ": ((None, None), 0.03),
    "Q Q' DQ": ((0.02, 0.05), 0.02),
    "Q Q DQ'": ((0.02, 0.02), 0.07),
}


def _case(op: str, dtype: str, around: str) -> Case:
    count, constants, attributes = _OPERATORS[op]
    befores, behind = _AROUND[around]
    rng = np.random.default_rng(len(op))
    zero = np.array(-7 if dtype == "int8" else 93, dtype)
    given: dict[str, Array] = {"z": zero}
    nodes, inputs, values, names = [], {}, [], []
    for k in range(count):
        scale, name = befores[k], f"x{k}"
        if scale is None:
            info = np.iinfo(dtype)
            inputs[name] = (dtype, SHAPE)
            values.append(rng.integers(info.min, info.max + 1, SHAPE).astype(dtype))
            names.append(name)
            continue
        inputs[name] = ("float32", SHAPE)
        values.append(rng.normal(0, 2, SHAPE).astype(np.float32))
        given[f"s{k}"] = np.float32(scale)
        nodes.append(helper.make_node("QuantizeLinear", [name, f"s{k}", "z"], [f"q{k}"], f"q{k}"))
        names.append(f"q{k}")
    for name, value in constants.items():
        byte = name in ("v", "l", "h", "u")
        given[f"c_{name}"] = value.astype(dtype) if byte else value
    if op == "Where":
        given["c"] = rng.integers(0, 2, SHAPE).astype(bool)
        names.insert(0, "c")
    written = ["y", "y1"] if op == "Split" else ["y"]
    arguments = [*names, *(f"c_{name}" for name in constants)]
    nodes.append(helper.make_node(op, arguments, written, "operator", **attributes))
    outputs: dict[str, Any] = dict.fromkeys(written, (dtype, None))
    if behind is not None:
        given["s"] = np.float32(behind)
        nodes.append(helper.make_node("DequantizeLinear", ["y", "s", "z"], ["real"], "dq"))
        outputs["real"] = ("float32", None)
        outputs.pop("y")
    model = make_model(nodes, inputs, outputs, given, 18)
    return Case(f"{op} {dtype} {around}", model, tuple(values))


def _cases() -> Iterator[Case]:
    for k, op in enumerate(_OPERATORS):
        for around in _AROUND:
            yield _case(op, ("int8", "uint8")[k % 2], around)


@pytest.mark.needs_host_gcc
def test_bytes_without_a_scale(tmp_path: Path) -> None:
    check_cases(list(_cases()), tmp_path)


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_bytes_without_a_scale_of_the_other_type(tmp_path: Path) -> None:
    others = [
        _case(op, ("uint8", "int8")[k % 2], a) for k, op in enumerate(_OPERATORS) for a in _AROUND
    ]
    check_cases(others, tmp_path)


def _scale(graph: Graph, name: str) -> float | None:
    edge = graph.find_edge(name)
    assert edge is not None
    quantization = graph.type(edge).quantization
    return None if quantization is None else quantization.scale[0]


def test_a_scale_is_carried_over_moves(tmp_path: Path) -> None:
    """A caller is told the scale of an input that is moved before anything says it."""
    graph = lowered(_case("Concat", "int8", "bytes, DQ"), tmp_path)
    assert _scale(graph, "x0") == _scale(graph, "x1") == pytest.approx(0.03)
    graph = lowered(_case("Clip", "int8", "bytes, DQ"), tmp_path)
    assert _scale(graph, "x0") is None
