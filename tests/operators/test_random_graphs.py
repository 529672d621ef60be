"""Random quantized operators: the oracle against onnxruntime, and the device against the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sampling
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from operators.exact_cases import examples
from operators.lab import Case, check_cases, check_oracle
from operators.sandwich import Q, Sandwich, quantized_conv, quantized_gemm, random_integers

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.arithmetic import dequantize, quantize, requantize
from mcu_deploy.ir import DType, Quantization, TensorType

SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def oracle(case: Case, folder: Path) -> tuple[list[Any], Iterable[str]]:
    """The oracle's outputs, and the operators of the optimised graph."""
    path = folder / "case.onnx"
    path.write_bytes(case.model.SerializeToString())
    graph = passes.run(formats.load(path))
    return interpreter.run(graph, list(case.inputs)), [n.op for n in graph.nodes]


def quantization(dtype: str) -> st.SearchStrategy[Q]:
    low, high = (0, 255) if dtype == "uint8" else (-128, 127)
    return st.builds(
        Q,
        st.none(),
        st.just(dtype),
        st.floats(2.0**-13, 2.0, width=32),
        st.integers(low, high),
    )


@st.composite
def convolutions(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(["int8", "uint8"]))
    q = draw(quantization(dtype))
    rank = draw(st.integers(1, 2))
    group = draw(st.sampled_from([1, 1, 2, 4]))
    depth = draw(st.integers(1, 5))
    filters = group * draw(st.integers(1, 3))
    kernel = draw(st.tuples(*[st.integers(1, 3)] * rank))
    dilations = draw(st.tuples(*[st.integers(1, 2)] * rank))
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    extents = [r + draw(st.integers(0, 6)) for r in reach]
    attributes: Mapping[str, Any] = {
        "group": group,
        "dilations": list(dilations),
        "strides": [draw(st.integers(1, 3)) for _ in range(rank)],
        "pads": [draw(st.integers(0, 2)) for _ in range(2 * rank)],
    }
    weight_zero = draw(st.sampled_from([0, 0, 3]))
    shape = (draw(st.integers(1, 2)), group * depth, *extents)
    activation = draw(st.sampled_from([None, "Relu", (-0.5, 4.0)]))
    return quantized_conv(
        "conv", Q(shape, dtype, q.scale, q.zero_point), (filters, depth, *kernel), attributes,
        w_zero=weight_zero, per_channel=weight_zero == 0 and draw(st.booleans()),
        bias=draw(st.booleans()), activation=activation, seed=draw(st.integers(0, 2**31)),
    )  # fmt: skip


@st.composite
def products(draw: st.DrawFn) -> Case:
    uint8_weights = draw(st.booleans())
    return quantized_gemm(
        "gemm", draw(st.integers(1, 4)), draw(st.integers(1, 300)), draw(st.integers(1, 20)),
        op=draw(st.sampled_from(["Gemm", "MatMul"])),
        dtype="uint8" if uint8_weights else draw(st.sampled_from(["int8", "uint8"])),
        w_dtype="uint8" if uint8_weights else "int8",
        w_zero=draw(st.integers(0, 255)) if uint8_weights else 0,
        transposed=draw(st.booleans()), per_channel=not uint8_weights and draw(st.booleans()),
        bias=draw(st.booleans()), activation=draw(st.sampled_from([None, "Relu"])),
        seed=draw(st.integers(0, 2**31)),
    )  # fmt: skip


@st.composite
def sums(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from(["int8", "uint8"]))
    op = draw(st.sampled_from(["Add", "Sub", "Mul"]))
    a, b, y = (draw(quantization(dtype)) for _ in range(3))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    sandwich = Sandwich()
    shape = (8, 40)
    names = [
        sandwich.input(Q(shape, dtype, q.scale, q.zero_point), random_integers(rng, shape, dtype))
        for q in (a, b)
    ]
    return sandwich.finish(op, op, names, y, None, draw(st.sampled_from([None, "Relu"])))


@SETTINGS
@given(convolutions())
def test_conv_is_onnxruntimes(tmp_path: Path, case: Case) -> None:
    outputs, operators = oracle(case, tmp_path)
    assert operators == ["Conv"]
    check_oracle(case, outputs)


@SETTINGS
@given(products())
def test_gemm_is_onnxruntimes(tmp_path: Path, case: Case) -> None:
    outputs, operators = oracle(case, tmp_path)
    assert operators in (["Gemm"], ["MatMul"])
    check_oracle(case, outputs)


@SETTINGS
@given(sums())
def test_binary_is_within_a_step(tmp_path: Path, case: Case) -> None:
    outputs, operators = oracle(case, tmp_path)
    assert len(list(operators)) == 1
    check_oracle(case, outputs)


@pytest.mark.needs_host_gcc
def test_device_gives_the_oracles_bits(tmp_path: Path) -> None:
    count = sampling.examples(400, 20)
    check_cases(examples(st.one_of(convolutions(), products(), sums()), count), tmp_path)


FACTORS = st.floats(2.0**-40, 4.0, width=32)
INT32 = st.integers(-(2**31), 2**31 - 1)


@given(INT32, INT32, FACTORS, st.integers(-128, 127))
def test_requantize_is_monotone_and_saturates(a: int, b: int, factor: float, zero: int) -> None:
    low, high = sorted((a, b))
    values = np.array([low, high], np.int32)
    result = requantize(values, np.array(factor, np.float32), zero, (-128, 127), DType.INT8)
    assert result.dtype == np.int8
    assert result[0] <= result[1]


@given(INT32, FACTORS, st.integers(-128, 127), st.integers(-128, 127), st.integers(-128, 127))
def test_requantize_keeps_the_bounds(a: int, factor: float, zero: int, b: int, c: int) -> None:
    bounds = (min(b, c), max(b, c))
    value, scale = np.array([a], np.int32), np.array(factor, np.float32)
    result = int(requantize(value, scale, zero, bounds, DType.INT8)[0])
    free = int(requantize(value, scale, zero, (-128, 127), DType.INT8)[0])
    assert result == min(max(free, bounds[0]), bounds[1])


@given(INT32, FACTORS)
def test_requantize_is_the_float32_product_rounded_half_to_even(a: int, factor: float) -> None:
    from fractions import Fraction

    result = requantize(
        np.array([a], np.int32), np.array(factor, np.float32), 0, (-(2**22), 2**22), DType.INT32
    )
    product = float(np.float32(np.float32(a) * np.float32(factor)))
    # Python rounds fractions half to even
    assert int(result[0]) == min(max(round(Fraction(product)), -(2**22)), 2**22)


@given(st.integers(-128, 127), st.floats(2.0**-20, 2.0**20, width=32), st.integers(-128, 127))
def test_quantize_undoes_dequantize(value: int, scale: float, zero: int) -> None:
    type_ = TensorType(DType.INT8, (1,), Quantization((float(np.float32(scale)),), (zero,)))
    x = np.array([value], np.int8)
    assert quantize(dequantize(x, type_), type_) == x


@given(st.floats(width=32), st.floats(2.0**-20, 2.0**20, width=32), st.integers(-128, 127))
def test_quantize_never_leaves_the_type(real: float, scale: float, zero: int) -> None:
    type_ = TensorType(DType.INT8, (1,), Quantization((scale,), (zero,)))
    result = int(quantize(np.array([real], np.float32), type_)[0])
    if np.isnan(real):
        assert result == -128
    elif abs(real) / scale > 300:
        assert result == (127 if real > 0 else -128)
