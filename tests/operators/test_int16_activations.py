"""Activations of int16 with weights of 8 bits, between DequantizeLinear and QuantizeLinear:
integers, within a step of onnxruntime, which computes real numbers there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from operators.lab import Array, Case, check_cases, compile_case
from operators.sandwich import Q, Sandwich
from operators.test_lowering import FLOAT_CONV, lowered, operators

from mcu_deploy.report.floats import float_layers

WIDE = Q(None, "int16", 2e-4, 0)


def _input(sandwich: Sandwich, shape: tuple[int, ...], q: Q, seed: int = 0) -> str:
    """Values over the whole range, its ends included."""
    info = np.iinfo(q.dtype)
    values = np.random.default_rng(seed).integers(info.min, info.max + 1, shape)
    values.reshape(-1)[:2] = info.min, info.max
    return sandwich.input(Q(shape, q.dtype, q.scale, q.zero_point), values.astype(q.dtype))


def _weighted(
    name: str, op: str, x: tuple[int, ...], w: tuple[int, ...], *, axis: int | None = 0,
    given: Q = WIDE, output: Q | None = None, bias: bool = True, activation: str | None = None,
    **attributes: Any,
) -> Case:  # fmt: skip
    rng = np.random.default_rng(len(name))
    sandwich = Sandwich()
    names = [_input(sandwich, x, given)]
    count = 1 if axis is None else w[axis]
    scale = rng.uniform(0.005, 0.02, count).astype(np.float32)
    zero = np.zeros(count, np.int8)
    if axis is None:
        scale, zero = scale[0], zero[0]
    weights = rng.integers(-127, 128, w).astype(np.int8)
    names.append(sandwich.constant("w", weights, scale, zero, axis))
    if bias:
        filters = w[0] if axis == 0 or op == "Conv" else w[-1]
        b_scale = (np.float32(given.scale) * scale).astype(np.float32)
        value = rng.integers(-2_000_000, 2_000_000, filters).astype(np.int32)
        b_zero = np.zeros_like(b_scale, np.int32)
        names.append(sandwich.constant("b", value, b_scale, b_zero, None if axis is None else 0))
    result = output or Q(None, "int16", 3e-4 * np.sqrt(np.prod(w) / w[0]), 0)
    return sandwich.finish(name, op, names, result, attributes, activation, opset=21)


def _binary(name: str, op: str, a: Q, b: Q, y: Q, shapes: tuple[tuple[int, ...], ...]) -> Case:
    sandwich = Sandwich()
    names = [_input(sandwich, s, q, k) for k, (s, q) in enumerate(zip(shapes, (a, b), strict=True))]
    return sandwich.finish(name, op, names, y, opset=21)


def _pool(op: str, **attributes: Any) -> Case:
    sandwich = Sandwich()
    names = [_input(sandwich, (1, 6, 8, 8), WIDE)]
    return sandwich.finish(op, op, names, WIDE, attributes, opset=21)


def _cases() -> Iterator[Case]:
    image, narrow = (1, 6, 7, 7), Q(None, "int8", 0.05, 3)
    yield _weighted("padded", "Conv", image, (8, 6, 3, 3), pads=[1] * 4)
    yield _weighted("with a Relu", "Conv", image, (8, 6, 3, 3), activation="Relu")
    yield _weighted("pointwise", "Conv", image, (4, 6, 1, 1), axis=None, bias=False)
    yield _weighted("depthwise", "Conv", image, (6, 1, 3, 3), group=6, pads=[1] * 4)
    yield _weighted("from bytes", "Conv", image, (8, 6, 3, 3), given=narrow)
    yield _weighted("to bytes", "Conv", image, (8, 6, 3, 3), output=Q(None, "uint8", 0.06, 120))
    yield _weighted(
        "zero points",
        "Conv",
        image,
        (8, 6, 3, 3),
        pads=[1] * 4,
        given=Q(None, "int16", 2e-4, -9000),
        output=Q(None, "int16", 3e-3, 77),
    )
    yield _weighted("dense", "Gemm", (3, 40), (5, 40), transB=1)
    yield _weighted("product", "MatMul", (2, 3, 40), (40, 5), axis=1, bias=False)
    wider, bytes_ = Q(None, "int16", 5e-4, -20), Q(None, "int8", 0.04, -7)
    plain = ((2, 3, 50), (2, 3, 50))
    yield _binary("sum", "Add", WIDE, wider, wider, plain)
    yield _binary("difference", "Sub", WIDE, bytes_, wider, plain)
    yield _binary("factor", "Mul", WIDE, WIDE, Q(None, "int16", 1e-3, 0), plain)
    yield _binary("broadcast", "Add", WIDE, wider, bytes_, ((2, 3, 50), (3, 1)))
    yield _pool("AveragePool", kernel_shape=[2, 2], strides=[2, 2])
    yield _pool("GlobalAveragePool")
    yield _pool("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    yield _pool("Transpose", perm=[0, 2, 3, 1])
    yield _mean()


def _mean() -> Case:
    sandwich = Sandwich(constants={"axes": np.array([2, 3], np.int64)})
    names = [_input(sandwich, (1, 6, 8, 8), WIDE), "axes"]
    return sandwich.finish("mean", "ReduceMean", names, WIDE, {"keepdims": 0}, opset=21)


@pytest.mark.needs_host_gcc
def test_layers_of_16_bits(tmp_path: Path) -> None:
    check_cases(list(_cases()), tmp_path)


def test_none_of_them_is_in_float(tmp_path: Path) -> None:
    for index, case in enumerate(_cases()):
        assert not float_layers(compile_case(case, tmp_path, index).network), case.name


def _conv_of(weights: Array, output: Q) -> Case:
    sandwich = Sandwich()
    names = [_input(sandwich, (1, weights.shape[1], 4, 4), WIDE)]
    names.append(sandwich.constant("w", weights, np.float32(0.01), weights.dtype.type(0)))
    return sandwich.finish("c", "Conv", names, output, opset=21)


def _reason(case: Case, folder: Path, op: str) -> str:
    layers = float_layers(compile_case(case, folder, 0).network)
    (layer,) = (each for each in layers if each.op == op)
    return layer.reason


def test_what_has_no_room_in_32_bits_stays_in_float(tmp_path: Path) -> None:
    deep = np.full((1, 520, 1, 1), 127, np.int8)  # 520 * 127 * 2**15 is beyond 2**31
    case = _conv_of(deep, WIDE)
    assert operators(lowered(case, tmp_path)) == FLOAT_CONV
    assert _reason(case, tmp_path, "Conv") == "its sums could leave 32 bits"
    assert operators(lowered(_conv_of(deep[:, :510], WIDE), tmp_path)) == ["Conv"]


def test_weights_of_16_bits_stay_in_float(tmp_path: Path) -> None:
    case = _conv_of(np.ones((2, 3, 1, 1), np.int16), WIDE)
    assert _reason(case, tmp_path, "Conv") == "its weights are int16, not of 8 bits"


def test_uint16_stays_in_float(tmp_path: Path) -> None:
    case = _conv_of(np.ones((2, 3, 1, 1), np.int8), Q(None, "uint16", 1e-3, 0))
    wanted = "its output is quantized to uint16, not to 8 bits or int16"
    assert _reason(case, tmp_path, "Conv") == wanted


@pytest.mark.parametrize("op", ["Sigmoid", "Softmax", "HardSwish"])
def test_what_is_looked_up_stays_in_float(op: str, tmp_path: Path) -> None:
    sandwich = Sandwich()
    case = sandwich.finish(op, op, [_input(sandwich, (2, 9), WIDE)], WIDE, opset=21)
    assert _reason(case, tmp_path, op) == f"{op} has no integer form of 16 bits"


def test_a_clamp_alone_stays_in_float(tmp_path: Path) -> None:
    """A Relu that is part of no layer: of bytes it is a table."""
    sandwich = Sandwich()
    case = sandwich.finish("r", "Relu", [_input(sandwich, (2, 9), WIDE)], WIDE, opset=21)
    assert _reason(case, tmp_path, "Relu") == "Relu has no integer form of 16 bits"
