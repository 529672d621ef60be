"""Gemm and MatMul: device against oracle bit for bit, oracle against onnxruntime exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Case, check_cases, make_model
from operators.sandwich import Q, Sandwich, quantized_gemm, random_integers
from sanitizers import SANITIZED


def _product_of_two(
    name: str, a: tuple[int, ...], b: tuple[int, ...], dtype: str, constant: bool = False
) -> Case:
    """MatMul of two computed tensors, as attention has it, or of a constant and a computed one."""
    rng = np.random.default_rng(len(name))
    sandwich = Sandwich()
    values = random_integers(rng, a, dtype)
    if constant:
        left = sandwich.constant("left", values, np.float32(0.03), np.dtype(dtype).type(9))
    else:
        left = sandwich.input(Q(a, dtype, 0.03, 9), values)
    right = sandwich.input(Q(b, dtype, 0.02, 4), random_integers(rng, b, dtype))
    output = Q(None, dtype, 0.03 * 0.02 * 74 * 74 * a[-1] ** 0.5 / 50, 11)
    return sandwich.finish(name, "MatMul", [left, right], output, exact=True)


def _quantized() -> list[Case]:
    gemm = quantized_gemm
    return [
        gemm("gemm", 1, 40, 12),
        gemm("gemm rows", 5, 40, 12),
        gemm("gemm not transposed", 3, 40, 12, transposed=False),
        gemm("gemm per channel", 3, 40, 12, per_channel=True),
        gemm("gemm relu", 3, 40, 12, activation="Relu"),
        gemm("gemm clip", 3, 40, 12, activation=(-3.0, 5.5)),
        gemm("gemm no bias", 3, 40, 12, bias=False),
        gemm("gemm uint8", 3, 40, 12, dtype="uint8"),
        gemm("gemm uint8 weights", 3, 40, 12, dtype="uint8", w_dtype="uint8", w_zero=118),
        gemm("gemm int8 zero point", 3, 40, 12, w_zero=-9),
        gemm("matmul", 3, 40, 12, op="MatMul"),
        gemm("matmul per channel", 3, 40, 12, op="MatMul", per_channel=True),
        gemm("matmul of rank 3", 3, 40, 12, op="MatMul", x_shape=(2, 3, 40)),
        _product_of_two("two matrices", (4, 10), (10, 6), "int8"),
        _product_of_two("constant first", (6, 8), (8, 10), "int8", constant=True),
        _product_of_two("constant first of two", (6, 8), (2, 8, 3), "uint8", constant=True),
        _product_of_two("two batches", (2, 3, 4, 10), (2, 3, 10, 6), "int8"),
        _product_of_two("a batch and a matrix", (3, 4, 10), (10, 6), "int8"),
        _product_of_two("two uint8 matrices", (4, 10), (10, 6), "uint8"),
    ]


def _matmul_add_relu() -> Case:
    """MatMul, Add of a quantized bias, Relu: how converters write a fully-connected layer."""
    case = quantized_gemm("matmul add relu", 2, 40, 12, op="MatMul", activation="Relu")
    graph = case.model.graph
    rng = np.random.default_rng(5)
    extra = Sandwich()
    scale = np.float32(np.float32(0.031) * np.float32(_value(case, "w_scale")))
    bias = rng.integers(-20000, 20000, 12).astype(np.int32)
    real = extra.constant("bias", bias, scale, np.int32(0))
    for name, value in extra.constants.items():
        graph.initializer.append(_tensor(value, name))
    relu = next(n for n in graph.node if n.op_type == "Relu")
    relu.input[0] = "sum"
    at = list(graph.node).index(relu)
    graph.node.insert(at, helper.make_node("Add", ["real", real], ["sum"], "add"))
    graph.node.insert(0, extra.nodes[0])
    return case


def _value(case: Case, name: str) -> Any:
    from onnx import numpy_helper

    return numpy_helper.to_array(next(t for t in case.model.graph.initializer if t.name == name))


def _tensor(value: Any, name: str) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.asarray(value), name)


def _real(
    name: str,
    op: str,
    shapes: dict[str, tuple[int, ...]],
    constants: tuple[str, ...],
    **attributes: Any,
) -> Case:
    rng = np.random.default_rng(len(name))
    values = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    node = helper.make_node(op, list(shapes), ["y"], "operator", **attributes)
    computed = {n: s for n, s in shapes.items() if n not in constants}
    model = make_model(
        [node],
        {n: ("float32", s) for n, s in computed.items()},
        {"y": ("float32", None)},
        {n: values[n] for n in constants},
    )
    return Case(name, model, tuple(values[n] for n in computed))


def _floats() -> list[Case]:
    two, three = ("b",), ("b", "c")
    return [
        _real("float gemm", "Gemm", {"a": (3, 20), "b": (20, 7), "c": (7,)}, three),
        _real("float gemm transposed", "Gemm", {"a": (3, 20), "b": (7, 20), "c": (7,)}, three,
              transB=1),
        _real("float gemm alpha beta", "Gemm", {"a": (3, 20), "b": (20, 7), "c": (1, 7)}, three,
              alpha=0.25, beta=0.5),
        _real("float gemm column bias", "Gemm", {"a": (3, 20), "b": (20, 7), "c": (3, 1)}, three),
        _real("float gemm matrix bias", "Gemm", {"a": (3, 20), "b": (20, 7), "c": (3, 7)}, three),
        _real("float gemm scalar bias", "Gemm", {"a": (3, 20), "b": (20, 7), "c": ()}, three),
        _real("float gemm no bias", "Gemm", {"a": (3, 20), "b": (20, 7)}, two),
        _real("float matmul", "MatMul", {"a": (3, 20), "b": (20, 7)}, two),
        _real("float matmul rank 4", "MatMul", {"a": (2, 2, 3, 20), "b": (20, 7)}, two),
        _real("float two matrices", "MatMul", {"a": (2, 3, 20), "b": (2, 20, 7)}, ()),
        _real("float constant first", "MatMul", {"a": (3, 20), "b": (20, 7)}, ("a",)),
        _real("float constant first rank 3", "MatMul", {"a": (3, 20), "b": (2, 20, 7)}, ("a",)),
        _real("float constant of rank 3", "MatMul", {"a": (2, 3, 20), "b": (2, 20, 7)}, two),
        _real("float broadcast", "MatMul", {"a": (2, 1, 3, 5), "b": (4, 5, 7)}, ()),
        _real("float broadcast both", "MatMul", {"a": (2, 1, 3, 5), "b": (1, 4, 5, 2)}, ("a",)),
        _real("float vectors", "MatMul", {"a": (20,), "b": (20,)}, ()),
        _real("float vector first", "MatMul", {"a": (20,), "b": (2, 20, 7)}, ("a",)),
        _real("float vector last", "MatMul", {"a": (2, 3, 20), "b": (20,)}, two),
    ]  # fmt: skip


@pytest.mark.needs_host_gcc
def test_gemm(tmp_path: Path) -> None:
    check_cases([*_quantized(), _matmul_add_relu(), *_floats()], tmp_path)


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_gemm_reads_and_writes_only_its_tensors(tmp_path: Path) -> None:
    check_cases([*_quantized(), *_floats()], tmp_path, SANITIZED)
