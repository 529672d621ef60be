"""Where the contract's numbers end: no number, infinite factors, biases that outputs see."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.arithmetic import (
    dequantize,
    gemmlowp,
    largest_sums,
    requantize,
    softmax_quantized,
)
from mcu_deploy.arithmetic.tflite import (
    NoMultiplier,
    Sum,
    activation_bounds,
    mean_multiplier,
    multiply,
    quantize_multiplier,
    quotient_multiplier,
    round_half_away,
    rounding_shift,
    wide_factor,
)
from mcu_deploy.ir import DType, Quantization, TensorType


def _model(tmp_path: Path, nodes: list[onnx.NodeProto], arrays: dict[str, np.ndarray]) -> Path:
    """Of an input x int8 [1, 4] and an output y int8."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "ends", [value("x", TensorProto.INT8, [1, 4])],
        [value("y", TensorProto.INT8, None)],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )  # fmt: skip
    path = tmp_path / "ends.onnx"
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


def test_no_number_is_the_lowest_that_a_clamp_allows(tmp_path: Path) -> None:
    """0 / 0 behind a fused Relu: the device clamps it, and so does the oracle."""
    node = helper.make_node
    path = _model(
        tmp_path,
        [
            node("DequantizeLinear", ["x", "s", "z"], ["a"]),
            node("Div", ["a", "a"], ["q"]), node("Relu", ["q"], ["r"]),
            node("QuantizeLinear", ["r", "s", "zy"], ["y"]),
        ],
        {"s": np.float32(0.1), "z": np.int8(0), "zy": np.int8(-20)},
    )  # fmt: skip
    graph = passes.run(formats.attempt(path).graph)
    assert [n.op for n in graph.nodes] == ["Div"]
    (y,) = interpreter.run(graph, [np.array([[0, 1, -3, 0]], np.int8)])
    assert y.tolist() == [[-20, -10, -10, -20]]


@pytest.mark.parametrize(
    ("sums", "factor", "wanted"),
    [
        ([5, -5, 0], 1e30, [127, -128, 3]), ([5, -5, 0], np.inf, [127, -128, -128]),
        ([2**30, -(2**30), 1], 1e20, [127, -128, 127]), ([2**30], 1e-45, [3]),
    ],
)  # fmt: skip
def test_products_saturate_whatever_their_size(
    sums: list[int], factor: float, wanted: list[int]
) -> None:
    found = requantize(np.array(sums), np.float32(factor), 3, (-128, 127), DType.INT8)
    assert found.tolist() == wanted


@pytest.mark.filterwarnings("error")
def test_a_number_past_float32_is_infinite_and_no_warning_says_so() -> None:
    type_ = TensorType(DType.INT8, (2,), Quantization((3e38,), (0,)))
    assert dequantize(np.array([2, -2], np.int8), type_).tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(("y_scale", "is_float"), [(1e-3, False), (6e-4, True)])
def test_a_bias_that_an_output_sees_keeps_its_layer_in_float(
    tmp_path: Path, y_scale: float, is_float: bool
) -> None:
    """Rounded to x_scale * w_scale it would be 0.4 steps of the output away, or 0.7."""
    node = helper.make_node
    path = _model(
        tmp_path,
        [
            node("DequantizeLinear", ["x", "s", "z"], ["a"]),
            node("DequantizeLinear", ["w", "sw", "z"], ["v"]),
            node("Gemm", ["a", "v", "bias"], ["r"]),
            node("QuantizeLinear", ["r", "sy", "z"], ["y"]),
        ],
        {
            "s": np.float32(0.1), "z": np.int8(0), "sw": np.float32(0.01),
            "w": np.eye(4, dtype=np.int8), "sy": np.float32(y_scale),
            "bias": np.float32([0.0004, 0.001, 0.002, 0.003]),
        },
    )  # fmt: skip
    graph = passes.run(formats.attempt(path).graph)
    gemm = next(n for n in graph.nodes if n.op == "Gemm")
    assert graph.type(gemm.writes[0]).dtype.is_float == is_float


@pytest.mark.parametrize(
    ("real", "wanted"),
    [
        (2.0**-33, (0, 0)), (2.0**-32, (2**30, -31)), (2.0**30 - 1, (2**31 - 2, 30)),
        (1 - 2.0**-40, (2**30, 1)), (-(1 - 2.0**-20), (2**11 - 2**31, 0)),
        (2.0**30, None), (1e30, None), (np.inf, None), (np.nan, None),
    ],
)  # fmt: skip
def test_tflite_multiplies_by_factors_of_32_bits(
    real: float, wanted: tuple[int, int] | None
) -> None:
    if wanted is None:
        with pytest.raises(NoMultiplier, match=r"by less than 2\*\*30 only"):
            quantize_multiplier(real)
    else:
        assert quantize_multiplier(real) == wanted


def test_tflite_rounds_ties_away_from_zero() -> None:
    ties = np.float32([-2.5, -0.5, -0.49999997, 0.49999997, 0.5, 2.5])
    assert round_half_away(ties).tolist() == [-3, -1, 0, 0, 1, 3]
    type_ = TensorType(DType.INT8, (1,), Quantization((0.5,), (3,)))
    assert activation_bounds((-1.25, 1.25), type_) == (0, 6)
    assert rounding_shift(np.array([-6, -5, -2, 2, 5, 6]), 2).tolist() == [-2, -1, -1, 1, 1, 2]


def test_tflite_shifts_to_the_left_in_32_bits_and_to_the_right_once_more() -> None:
    """2**31 is -2**31 there; -5/2 is rounded before it is halved."""
    x, half = np.array([2**30, 2**29, -(2**29)]), 2**30
    assert multiply(x, half, 2).tolist() == [0, -(2**30), -(2**30)]
    assert multiply(np.array([-5, 5]), half, -1).tolist() == [-1, 2]


def test_a_mean_s_multiplier_is_shifted_no_further_than_its_shift_allows() -> None:
    types = [TensorType(DType.INT8, (8,), Quantization((s,), (0,))) for s in (2.0**-31, 1.0)]
    assert mean_multiplier(*types, 8) == (2**28, -31)
    assert mean_multiplier(types[1], types[1], 8) == (2**30, -2)


def test_a_square_s_factor_and_a_quotient_s_have_the_bits_that_are_left_of_32() -> None:
    """Behind 7 bits in front of each operand of the square, and 23 in front of a difference."""
    half, quarter, one, large = (
        TensorType(DType.INT8, (8,), Quantization((scale,), (0,)))
        for scale in (0.5, 0.25, 1.0, 2.0**22)
    )
    assert Sum.squared(half, quarter, one) == Sum((2**30, 0), (2**30, -1), (2**30, -13), 7)
    assert Sum.squared(one, half, half).result == (2**30, -10)
    assert quotient_multiplier(large, one, one) == (2**30, 23)
    with pytest.raises(NoMultiplier, match=r"by less than 2\*\*23 only"):
        quotient_multiplier(large, half, one)


def test_tflite_multiplies_sums_of_64_bits_by_less_than_2_to_the_7() -> None:
    multiplier, shift = wide_factor(np.array([2**30 + 2**15, 2**31 - 1]), np.array([7, -31]))
    assert (multiplier.tolist(), shift.tolist()) == ([2**14 + 1, 2**15 - 1], [8, 46])
    with pytest.raises(NoMultiplier, match=r"by 2\*\*7 or more"):
        wide_factor(np.array([2**30, 2**30]), np.array([7, 8]))


def test_gemmlowp_s_functions_are_as_exact_as_their_series() -> None:
    """A step of Newton's less, or a term that is twice as large, is off by 1e-5."""
    a = -np.unique(np.geomspace(1, 2**31 - 1, 1000).astype(np.int64))
    for bits in (4, 5):
        exact = np.exp(a / 2.0 ** (31 - bits))
        assert np.abs(gemmlowp.exp_of_negative(a, bits) / 2**31 - exact).max() < 3e-7
    x = np.linspace(0, 2**31 - 1, 1001).astype(np.int64)
    assert np.abs(gemmlowp.reciprocal(x) / 2**31 - 1 / (1 + x / 2**31)).max() < 1e-8


def test_the_numbers_of_gemmlowp_are_those_of_its_functions() -> None:
    powers = [round(math.exp(-(2.0**n)) * 2**31) for n in range(-2, 5)]
    assert list(gemmlowp._POWERS) == powers
    assert round(math.exp(-1 / 8) * 2**31) == gemmlowp._EXP_MINUS_EIGHTH
    assert round(2**31 / 3) == gemmlowp._ONE_THIRD
    assert round(2**31 * 0.5**0.5) == gemmlowp._ROOT_OF_HALF
    line = (gemmlowp.RECIPROCAL_AT_0, gemmlowp.RECIPROCAL_SLOPE)
    assert line == (round(48 / 17 * 2**29), round(-32 / 17 * 2**29))


def test_a_slice_of_weights_in_groups_has_the_largest_of_their_biases() -> None:
    """Of a ConvTranspose: its outputs are the slices of the first group, then of the second."""
    weights, bias = np.array([[1, -2], [3, 4]]), np.array([10, -20, 40, 30])
    assert largest_sums(weights, 1, 5, bias).tolist() == [20 + 40, 30 + 30]
    assert largest_sums(weights, 1, 5, None).tolist() == [20, 30]


def test_a_softmax_over_rows_is_that_of_the_columns_turned() -> None:
    x = np.array([[-128, 3, 127], [5, 3, -7]], np.int8)
    types = [TensorType(DType.INT8, x.shape, Quantization((scale,), (-128,)))
             for scale in (0.05, 1 / 256)]  # fmt: skip
    rows = softmax_quantized(x, *types, axis=0)
    assert rows.tolist() == softmax_quantized(x.T, *types, axis=1).T.tolist()
    exact = np.exp(0.05 * x.astype(np.float64))
    wanted = np.rint(exact / exact.sum(axis=0) * 256) - 128
    assert np.abs(rows - np.minimum(wanted, 127)).max() <= 1
