"""Weights of 8 bits in layers of float32: stored as bytes, multiplied as ONNX says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from operators.lab import Case, check_cases, check_oracle, compile_case, make_model
from operators.test_lowering import lowered
from operators.test_recurrent import recurrent

from mcu_deploy import interpreter
from mcu_deploy.ir import DType


def _layer(
    name: str,
    op: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    axis: int | None = None,
    zero: int = 0,
    bias: bool = True,
    clamp: bool = False,
    **attributes: Any,
) -> Case:
    """One layer, its weights quantized for each slice of an axis, or for the whole tensor."""
    rng = np.random.default_rng(len(name))
    dtype = np.dtype("uint8" if zero > 0 else "int8")
    info, count = np.iinfo(dtype), 1 if axis is None else w[axis]
    scale = rng.uniform(0.001, 0.02, count).astype(np.float32)
    points = np.full(count, zero, dtype)
    constants = {
        "w": rng.integers(info.min, info.max + 1, w).astype(dtype),
        "s": scale if axis is not None else scale[0],
        "z": points if axis is not None else points[0],
    }
    along = {} if axis in (None, 1) else {"axis": axis}  # 1 is ONNX's default
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["real"], "dq", **along)]
    arguments = ["x", "real"]
    if bias:
        filters = w[0] if op == "Conv" or attributes.get("transB") else w[-1]
        constants["b"] = rng.standard_normal(filters).astype(np.float32)
        arguments.append("b")
    nodes.append(helper.make_node(op, arguments, ["sum"], "layer", **attributes))
    nodes.append(helper.make_node("Relu" if clamp else "Identity", ["sum"], ["y"], "end"))
    model = make_model(nodes, {"x": ("float32", x)}, {"y": ("float32", None)}, constants)
    return Case(name, model, (rng.standard_normal(x).astype(np.float32),))


def _cases() -> Iterator[Case]:
    yield _layer("padded", "Conv", (1, 3, 6, 5), (4, 3, 3, 3), 0, clamp=True, pads=[1, 1, 1, 1])
    yield _layer("one scale", "Conv", (2, 3, 6, 5), (4, 3, 2, 3), strides=[2, 1])
    yield _layer("bytes of uint8", "Conv", (1, 3, 6, 5), (4, 3, 3, 3), 0, zero=121, bias=False)
    yield _layer("pointwise", "Conv", (1, 8, 4, 4), (6, 8, 1, 1), 0, clamp=True)
    yield _layer("depthwise", "Conv", (1, 4, 6, 6), (4, 1, 3, 3), 0, group=4, pads=[1, 1, 1, 1])
    yield _layer("groups", "Conv", (1, 4, 6, 6), (6, 2, 3, 3), 0, zero=7, group=2)
    yield _layer("one axis", "Conv", (1, 3, 9), (4, 3, 3), 0, dilations=[2])
    yield _layer("gemm", "Gemm", (3, 8), (8, 5), 1, clamp=True)
    yield _layer("gemm transposed", "Gemm", (3, 8), (5, 8), 0, transB=1, alpha=0.5, beta=2.0)
    yield _layer("gemm of one scale", "Gemm", (1, 8), (5, 8), zero=9, transB=1, bias=False)
    yield _layer("matmul", "MatMul", (2, 3, 8), (8, 5), 1, bias=False)


def _of_blocks(
    name: str, op: str, x: tuple[int, ...], w: tuple[int, int], block: int, *,
    dtype: str = "int4", zero: int = 0, bias: bool = True, clamp: bool = False, **attributes: Any,
) -> Case:  # fmt: skip
    """Weights of 4 bits with a scale for each block along the depth."""
    rng = np.random.default_rng(len(name))
    depth = 1 if attributes.get("transB") else 0
    grid = tuple(-(-size // block) if axis == depth else size for axis, size in enumerate(w))
    kind = DType(dtype).numpy
    low, high = DType(dtype).range
    constants: dict[str, Any] = {
        "w": rng.integers(low, high + 1, w).astype(kind),
        "s": rng.uniform(0.01, 0.2, grid).astype(np.float32),
        "z": np.full(grid, zero).astype(kind),
    }
    along = {"axis": depth, "block_size": block}
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["real"], "dq", **along)]
    arguments = ["x", "real", *(["b"] if bias else [])]
    if bias:
        constants["b"] = rng.standard_normal(w[1 - depth]).astype(np.float32)
    nodes.append(helper.make_node(op, arguments, ["sum"], "layer", **attributes))
    nodes.append(helper.make_node("Relu" if clamp else "Identity", ["sum"], ["y"], "end"))
    model = make_model(nodes, {"x": ("float32", x)}, {"y": ("float32", None)}, constants, 21)
    return Case(name, model, (rng.standard_normal(x).astype(np.float32),))


def _block_cases() -> Iterator[Case]:
    yield _of_blocks("blocks", "MatMul", (2, 3, 64), (64, 5), 32, bias=False)
    yield _of_blocks("one block", "MatMul", (1, 16), (16, 3), 16, bias=False)
    yield _of_blocks("blocks of two", "Gemm", (3, 8), (8, 5), 2, clamp=True)
    yield _of_blocks("transposed", "Gemm", (3, 96), (5, 96), 32, transB=1, alpha=0.5, beta=2.0)
    yield _of_blocks("of uint4", "Gemm", (1, 64), (7, 64), 16, dtype="uint4", zero=8, transB=1)
    yield _of_blocks("one of each", "Gemm", (1, 2), (2, 1), 2)
    yield _of_blocks("a rest", "MatMul", (2, 12), (12, 4), 8, bias=False)
    yield _of_blocks("less than a block", "Gemm", (2, 6), (6, 4), 8)
    yield _of_blocks("zero points", "MatMul", (2, 8), (8, 4), 4, zero=2, bias=False)
    yield _of_blocks("zero points of uint4", "Gemm", (2, 20), (3, 20), 8, dtype="uint4", transB=1)


@pytest.mark.needs_host_gcc
def test_weights_of_4_bits(tmp_path: Path) -> None:
    check_cases(list(_block_cases()), tmp_path)


def test_two_weights_of_4_bits_take_a_byte(tmp_path: Path) -> None:
    for index, case in enumerate(_block_cases()):
        network = compile_case(case, tmp_path, index).network
        constants = [c for s in network.plan.steps for c in s.choice.workload.constants]
        (weights,) = [c for c in constants if c.stem == "weights"]
        (w,) = (t for t in case.model.graph.initializer if t.name == "w")
        assert 2 * weights.value.nbytes == np.prod(w.dims), case.name
        scales = [c.value.size for c in constants if c.stem == "scale"]
        (s,) = (t for t in case.model.graph.initializer if t.name == "s")
        assert scales == [np.prod(s.dims)]


def _spread(width: int) -> Case:
    """Bytes of a block lie so far from each other."""
    case = _of_blocks("bytes", "MatMul", (2, 8), (8, 4), 4, dtype="int8", bias=False)
    w = np.full((8, 4), -3, np.int8)
    w[5, 2] += width
    tensor = next(t for t in case.model.graph.initializer if t.name == "w")
    tensor.CopyFrom(numpy_helper.from_array(w, "w"))
    return case


@pytest.mark.parametrize(
    "case",
    [
        _of_blocks("odd", "MatMul", (2, 9), (9, 4), 3, bias=False),
        _of_blocks("odd depth", "MatMul", (2, 9), (9, 4), 4, bias=False),
        _spread(16),
    ],
    ids=lambda case: case.name,
)
def test_blocks_of_another_form_become_float32(case: Case, tmp_path: Path) -> None:
    graph = lowered(case, tmp_path)
    (node,) = (n for n in graph.nodes if n.op == "MatMul")
    assert node.domain == ""
    check_oracle(case, interpreter.run(graph, list(case.inputs)))


def _of_bytes(
    case: Case, each_row: bool = True, zero: int = 0, matrices: bool = False, axis: int = 1
) -> Case:
    """A recurrent case (`test_recurrent.py`) whose W and R are of int8, a scale a row or one.
    matrices: whether these are stored without the axis of their only direction; axis: of rows, or
    of columns in place of them."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    (node,) = model.graph.node
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    before = []
    for name, place in (("W", 1), ("R", 2)):
        real = constants.pop(name)
        scale = np.abs(real).max(axis=(0, 3 - axis) if each_row else None).astype(np.float32) / 127
        column = scale[:, None] if each_row and axis == 1 else scale
        constants |= {
            f"{name}8": np.rint(real / column).astype(np.int8), f"{name}s": scale,
            f"{name}z": np.full(scale.shape, zero, np.int8),
        }  # fmt: skip
        along = {"axis": 0 if matrices else axis} if each_row else {}
        given, whole = [f"{name}{what}" for what in "8sz"], f"{name}2" if matrices else name
        before.append(helper.make_node("DequantizeLinear", given, [whole], f"dq{name}", **along))
        if matrices:
            constants |= {f"{name}8": constants[f"{name}8"][0], "first": np.array([0])}
            before.append(helper.make_node("Unsqueeze", [whole, "first"], [name], f"un{name}"))
        node.input[place] = name
    del model.graph.node[:]
    model.graph.node.extend([*before, node])
    del model.graph.initializer[:]
    model.graph.initializer.extend(numpy_helper.from_array(v, n) for n, v in constants.items())
    return Case(f"{case.name}, bytes", model, case.inputs)


def _recurrent_cases() -> Iterator[Case]:
    for op in ("LSTM", "GRU", "RNN"):
        yield _of_bytes(recurrent(f"{op}", op))
        yield _of_bytes(recurrent(f"{op} of one scale", op), each_row=False)
        yield _of_bytes(recurrent(f"{op} of matrices", op), matrices=True)
        yield _of_bytes(recurrent(f"{op} both ways", op, direction="bidirectional"))
        yield _of_bytes(recurrent(f"{op} of one", op, sizes=(1, 1, 1, 1)))
        yield _of_bytes(recurrent(f"{op} lengths", op, given="XWRBLH", computed="XH"))
    yield _of_bytes(recurrent("peepholes", "LSTM", given="XWRBP", clip=0.4))
    yield _of_bytes(recurrent("linear", "GRU", linear_before_reset=1, direction="bidirectional"))


@pytest.mark.needs_host_gcc
def test_weight_only_layers(tmp_path: Path) -> None:
    check_cases([*_cases(), *_recurrent_cases()], tmp_path)


@pytest.mark.parametrize(
    "case",
    [
        _of_bytes(recurrent("zero points", "LSTM"), zero=3),
        _of_bytes(recurrent("computed biases", "GRU", computed="XB")),
        _of_bytes(recurrent("columns", "LSTM"), axis=2),
    ],
    ids=lambda case: case.name,
)
def test_recurrent_weights_of_another_form_become_float32(case: Case, tmp_path: Path) -> None:
    (node,) = lowered(case, tmp_path).nodes
    assert node.domain == ""


def test_weights_stay_bytes(tmp_path: Path) -> None:
    for index, case in enumerate((*_cases(), *_recurrent_cases())):
        network = compile_case(case, tmp_path, index).network
        constants = [c for s in network.plan.steps for c in s.choice.workload.constants]
        (weights,) = [c for c in constants if c.stem == "weights"]
        assert weights.value.dtype.itemsize == 1, case.name


def test_weights_of_scales_along_the_depth_become_float32(tmp_path: Path) -> None:
    """A scale for each input would have to be multiplied in the inner loop."""
    graph = lowered(_layer("rows", "MatMul", (2, 8), (8, 5), 0, bias=False), tmp_path)
    (node,) = graph.nodes
    assert (node.domain, node.op) == ("", "MatMul")
    # So do those of several zero points.
    case = _layer("gemm", "Gemm", (3, 8), (8, 5), 1)
    zeros = next(t for t in case.model.graph.initializer if t.name == "z")
    zeros.CopyFrom(numpy_helper.from_array(np.arange(5, dtype=np.int8), "z"))
    (node,) = lowered(case, tmp_path).nodes
    assert (node.domain, node.op) == ("", "Gemm")


def test_weights_of_scales_for_blocks_become_float32(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.integers(-99, 99, (8, 6)).astype(np.int8),
        "s": rng.uniform(0.01, 0.02, (2, 6)).astype(np.float32),
        "z": rng.integers(-9, 9, (2, 6)).astype(np.int8),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["real"], "dq", axis=0, block_size=4),
        helper.make_node("MatMul", ["x", "real"], ["y"], "layer"),
    ]
    model = make_model(nodes, {"x": ("float32", (2, 8))}, {"y": ("float32", None)}, constants, 21)
    x = rng.standard_normal((2, 8)).astype(np.float32)
    (y,) = interpreter.run(lowered(Case("blocks", model, (x,)), tmp_path), [x])
    (wanted,) = ReferenceEvaluator(model).run(None, {"x": x})
    assert np.allclose(y, wanted, rtol=1e-5)


def test_a_table_that_is_looked_up_stays_bytes(tmp_path: Path) -> None:
    """Of an embedding the rows that are picked become real numbers, not the table."""
    constants = {
        "w": np.arange(60, dtype=np.int8).reshape(20, 3), "s": np.float32(0.1), "z": np.int8(2),
    }  # fmt: skip
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["real"], "dq"),
        helper.make_node("Gather", ["real", "i"], ["y"], "gather", axis=0),
    ]
    model = make_model(nodes, {"i": ("int64", (4,))}, {"y": ("float32", None)}, constants)
    graph = lowered(Case("table", model, (np.array([0, 7, 19, 7]),)), tmp_path)
    assert [n.op for n in graph.nodes] == ["Gather", "DequantizeLinear"]
    assert {v.dtype.name for v in graph.data.constants.values() if v.size == 60} == {"int8"}
