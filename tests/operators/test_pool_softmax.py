"""Pools and Softmax: device, oracle, onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import (
    Case,
    check_cases,
    check_device,
    compile_case,
    make_model,
    run_on_host,
)
from operators.sandwich import Q, Sandwich, random_integers
from sanitizers import SANITIZED

SHAPE = (2, 3, 9, 8)
GEOMETRY: Mapping[str, tuple[tuple[int, ...], Mapping[str, Any]]] = {
    "2x2": (SHAPE, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "overlapping": (SHAPE, {"kernel_shape": [3, 2], "strides": [1, 1]}),
    "pads": (SHAPE, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 2]}),
    "same upper": (SHAPE, {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "same lower": (SHAPE, {"kernel_shape": [2, 4], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    "ceil": (SHAPE, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    "ceil with pads": (
        SHAPE, {"kernel_shape": [3, 3], "strides": [2, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1]},
    ),
    "dilations": (SHAPE, {"kernel_shape": [2, 3], "dilations": [3, 2]}),
    "one dimension": ((1, 3, 17), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
}  # fmt: skip
INCLUDE_PAD = {"count_include_pad": 1}


def _pools() -> list[tuple[str, str, tuple[int, ...], Mapping[str, Any]]]:
    found = []
    for label, (shape, attributes) in GEOMETRY.items():
        found.append(("MaxPool", label, shape, attributes))
        found.append(("AveragePool", label, shape, attributes))
        if "pads" in attributes:
            found.append(("AveragePool", f"{label} counted", shape, {**attributes, **INCLUDE_PAD}))
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        found += [(op, "2-D", SHAPE, {}), (op, "1-D", (2, 3, 17), {})]
    return found


def _quantized(
    op: str, label: str, shape: tuple[int, ...], attributes: Mapping[str, Any], dtype: str
) -> Case:
    rng = np.random.default_rng(len(label))
    x = Q(shape, dtype, 0.043, 5 if dtype == "int8" else 130)
    sandwich = Sandwich()
    name = sandwich.input(x, random_integers(rng, shape, dtype))
    output = Q(None, dtype, x.scale, x.zero_point) if "Max" in op else Q(None, dtype, 0.021, 2)
    label = f"{op} {dtype} {label}"
    return sandwich.finish(label, op, [name], output, attributes, exact="Max" in op, opset=19)


def _real(op: str, label: str, shape: tuple[int, ...], attributes: Mapping[str, Any]) -> Case:
    rng = np.random.default_rng(len(label))
    x = rng.standard_normal(shape).astype(np.float32)
    model = make_model(
        [helper.make_node(op, ["x"], ["y"], **attributes)],
        {"x": ("float32", shape)}, {"y": ("float32", None)}, opset=19,
    )  # fmt: skip
    return Case(f"float {op} {label}", model, (x,))


@pytest.mark.needs_host_gcc
def test_pools(tmp_path: Path) -> None:
    pools = _pools()
    cases = [_real(*p) for p in pools]
    cases += [_quantized(*p, dtype) for p in pools for dtype in ("int8", "uint8")]
    check_cases(cases, tmp_path)


@pytest.mark.needs_host_gcc
def test_a_window_of_one_tap_may_lie_outside(tmp_path: Path) -> None:
    """onnxruntime refuses pads as wide as the window; ONNX does not."""
    pads = {"kernel_shape": [1, 1], "pads": [1, 0, 0, 2]}
    cases = [_quantized("MaxPool", "pads", (1, c, 2, 3), pads, "int8") for c in (1, 2)]
    compiled = [compile_case(case, tmp_path, index) for index, case in enumerate(cases)]
    for item, outputs in zip(compiled, run_on_host(compiled, tmp_path), strict=True):
        check_device(item, outputs)


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_pools_read_and_write_only_their_tensors(tmp_path: Path) -> None:
    check_cases([_quantized(*p, "int8") for p in _pools()], tmp_path, SANITIZED)


# label: shape, axis, opset
SOFTMAX: Mapping[str, tuple[tuple[int, ...], int | None, int]] = {
    "last": ((3, 11), None, 13),
    "first": ((7, 4), 0, 13),
    "middle": ((2, 9, 5), 1, 13),
    "negative": ((2, 9, 5), -2, 13),
    "long": ((2, 700), 1, 13),
    "one": ((4, 1), 1, 13),
    "old": ((3, 4, 5), None, 11),
    "old axis 2": ((3, 4, 5), 2, 11),
}


def _softmax(label: str, dtype: str, scale: float = 0.07) -> Case:
    shape, axis, opset = SOFTMAX[label]
    attributes = {} if axis is None else {"axis": axis}
    rng = np.random.default_rng(len(label))
    if dtype == "float32":
        x = (rng.standard_normal(shape) * 4).astype(np.float32)
        model = make_model(
            [helper.make_node("Softmax", ["x"], ["y"], **attributes)],
            {"x": ("float32", shape)}, {"y": ("float32", None)}, opset=opset,
        )  # fmt: skip
        return Case(f"float softmax {label}", model, (x,))
    sandwich = Sandwich()
    type_ = Q(shape, dtype, scale, 4)
    name = sandwich.input(type_, random_integers(rng, shape, dtype))
    output = Q(None, dtype, 1 / 256, -128 if dtype == "int8" else 0)
    return sandwich.finish(
        f"softmax {dtype} {label} {scale}", "Softmax", [name], output, attributes, opset=opset
    )


@pytest.mark.needs_host_gcc
def test_softmax(tmp_path: Path) -> None:
    cases = [_softmax(label, d) for label in SOFTMAX for d in ("int8", "uint8", "float32")]
    cases += [_softmax("last", "int8", scale) for scale in (0.0005, 0.2, 1.0, 30.0)]
    check_cases(cases, tmp_path)
