"""Reductions: device, oracle, onnxruntime; also channel-last and quantized."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.exact_cases import one_node
from operators.lab import Case, check_cases, make_model
from operators.sandwich import Q, Sandwich, random_integers

OPS = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")
AXES: tuple[tuple[int, ...] | None, ...] = ((2, 3), (1,), (0, 2), (-1,), (0, 1, 2, 3), None)


def _real(op: str, axes: tuple[int, ...] | None, keep: int, conv: bool) -> Case:
    rng = np.random.default_rng(3)
    shape = (2, 3, 5, 4)
    attributes: dict[str, Any] = {"keepdims": keep}
    constants = {"w": rng.standard_normal((3, 3, 1, 1)).astype(np.float32)}
    reads = ["c" if conv else "x"]
    if axes is not None and op == "ReduceSum":
        constants["axes"] = np.array(axes, np.int64)
        reads.append("axes")
    elif axes is not None:
        attributes["axes"] = list(axes)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"])] if conv else []
    if not conv:
        del constants["w"]
    nodes.append(helper.make_node(op, reads, ["y"], **attributes))
    inputs = {"x": ("float32", shape)}
    model = make_model(nodes, inputs, {"y": ("float32", None)}, constants)
    x = rng.standard_normal(shape).astype(np.float32)
    return Case(f"{op} {axes} {keep} {conv}", model, (x,))


def _quantized(op: str, axes: tuple[int, ...], dtype: str) -> Case:
    rng = np.random.default_rng(1)
    sandwich = Sandwich()
    q = Q((2, 3, 5, 4), dtype, 0.05, 17)
    assert q.shape is not None
    names = [sandwich.input(q, random_integers(rng, q.shape, dtype))]
    sandwich.constants["axes"] = np.array(axes, np.int64)
    same = op in ("ReduceMax", "ReduceMin")
    output = Q(None, dtype, 0.05, 17) if same else Q(None, dtype, 0.031 * len(axes), 9)
    return sandwich.finish(
        f"{op} {axes} {dtype}", op, [*names, "axes"], output, {"keepdims": 0}, opset=18
    )


@pytest.mark.needs_host_gcc
def test_reductions(tmp_path: Path) -> None:
    cases = [
        _real(op, axes, keep, conv)
        for op in OPS
        for axes in AXES
        for keep in (0, 1)
        for conv in (False, True)
    ]
    cases += [
        _quantized(op, axes, dtype)
        for op in OPS
        for axes in ((2, 3), (1,), (-1, 0))
        for dtype in ("int8", "uint8")
    ]
    check_cases(cases, tmp_path)


@pytest.mark.needs_host_gcc
def test_reductions_of_one_number(tmp_path: Path) -> None:
    """Of a tensor without axes, which there are none to reduce along."""
    names = ("Max", "Min", "Sum", "Mean", "Prod", "L1", "L2", "SumSquare", "LogSumExp")
    x = np.array(1.5, np.float32)
    check_cases([one_node(f"Reduce{name}", [x], "float32") for name in names], tmp_path)
