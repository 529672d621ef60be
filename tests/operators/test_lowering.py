"""Which QDQ sandwiches become integer operators, and which must stay in float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper
from operators.lab import Case, check_cases, check_oracle, make_model
from operators.sandwich import Q, Sandwich, quantized_conv, quantized_gemm, random_integers

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.backends.registry import Registry
from mcu_deploy.choose import assign
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import Graph, verify


def lowered(case: Case, folder: Path) -> Graph:
    path = folder / "case.onnx"
    path.write_bytes(case.model.SerializeToString())
    graph = formats.load(path)
    for _, function in passes.passes():
        graph = function(graph)
        verify(graph)
    return graph


def operators(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


FLOAT_CONV = ["DequantizeLinear", "Conv", "QuantizeLinear"]


def test_a_sandwich_becomes_one_node_with_its_body(tmp_path: Path) -> None:
    graph = lowered(quantized_conv("c", Q((1, 3, 5, 5)), (4, 3, 3, 3), activation="Relu"), tmp_path)
    (node,) = graph.nodes
    assert node.op == "Conv"
    assert graph.leaf_nodes(node.id) != (node.name,)
    assert "relu" in graph.leaf_nodes(node.id)


def _set(case: Case, name: str, value: np.ndarray) -> Case:
    for tensor in case.model.graph.initializer:
        if tensor.name == name:
            tensor.CopyFrom(numpy_helper.from_array(value, name))
    return case


def test_an_accumulator_that_could_overflow_stays_float(tmp_path: Path) -> None:
    case = quantized_conv("c", Q((1, 3, 5, 5)), (4, 3, 3, 3))
    large = np.array([0, 2**31 - 1, 0, -(2**31)], np.int32)
    graph = lowered(_set(case, "b", large), tmp_path)
    assert operators(graph) == FLOAT_CONV


def test_an_accumulator_that_just_fits_is_integer(tmp_path: Path) -> None:
    case = quantized_conv("c", Q((1, 1, 5, 5), zero_point=0), (1, 1, 1, 1))
    weight = next(t for t in case.model.graph.initializer if t.name == "w")
    value = abs(int(numpy_helper.to_array(weight).reshape(-1)[0]))
    fits = 2**31 - 1 - 128 * value
    assert operators(lowered(_set(case, "b", np.array([fits], np.int32)), tmp_path)) == ["Conv"]
    over = _set(case, "b", np.array([fits + 1], np.int32))
    assert operators(lowered(over, tmp_path)) == FLOAT_CONV


def test_two_computed_matrices_of_great_depth_stay_float(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for depth, wanted in ((33_000, ["MatMul"]), (34_000, None)):
        sandwich = Sandwich()
        q = Q((1, depth), "uint8", 0.01, 0)
        p = Q((depth, 1), "uint8", 0.01, 0)
        assert q.shape is not None
        assert p.shape is not None
        names = [
            sandwich.input(q, random_integers(rng, q.shape, "uint8")),
            sandwich.input(p, random_integers(rng, p.shape, "uint8")),
        ]
        case = sandwich.finish("deep", "MatMul", names, Q(None, "uint8", 3.0, 0))
        found = operators(lowered(case, tmp_path))
        assert found == (
            wanted or ["DequantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear"]
        )


def test_a_scaled_gemm_stays_float(tmp_path: Path) -> None:
    for factor in ("alpha", "beta"):
        case = quantized_gemm("g", 2, 8, 4)
        gemm = next(n for n in case.model.graph.node if n.op_type == "Gemm")
        gemm.attribute.append(helper.make_attribute(factor, 0.5))
        assert operators(lowered(case, tmp_path)) == ["DequantizeLinear", "Gemm", "QuantizeLinear"]


def test_scales_of_channels_that_groups_share_stay_float(tmp_path: Path) -> None:
    case = quantized_conv(
        "t", Q((1, 4, 3, 3)), (4, 2, 2, 2), {"group": 2}, op="ConvTranspose", bias=False
    )
    assert operators(lowered(case, tmp_path)) == [
        "DequantizeLinear", "ConvTranspose", "QuantizeLinear"
    ]  # fmt: skip


def test_a_window_of_three_axes_stays_float(tmp_path: Path) -> None:
    graph = lowered(quantized_conv("c", Q((1, 2, 3, 3, 3)), (3, 2, 2, 2, 2)), tmp_path)
    assert operators(graph) == FLOAT_CONV


def test_a_change_to_scales_of_channels_stays_float(tmp_path: Path) -> None:
    sandwich = Sandwich()
    name = sandwich.input(Q((2, 3)), np.zeros((2, 3), np.int8))
    case = sandwich.finish("c", "Identity", [name], Q(None))
    scales = _set(case, "y_scale", np.array([0.1, 0.2, 0.3], np.float32))
    graph = lowered(_set(scales, "y_zero", np.zeros(3, np.int8)), tmp_path)
    assert operators(graph) == ["DequantizeLinear", "QuantizeLinear"]


def test_a_bias_with_a_zero_point_stays_float(tmp_path: Path) -> None:
    case = quantized_conv("c", Q((1, 3, 5, 5)), (4, 3, 3, 3))
    graph = lowered(_set(case, "b_zero", np.array([0, 0, 1, 0], np.int32)), tmp_path)
    assert operators(graph) == FLOAT_CONV


def test_different_zero_points_per_channel_stay_float(tmp_path: Path) -> None:
    case = quantized_conv("c", Q((1, 3, 5, 5)), (4, 3, 3, 3))
    graph = lowered(_set(case, "w_zero", np.array([0, 1, -3, 7], np.int8)), tmp_path)
    assert operators(graph) == FLOAT_CONV
    check_oracle(
        Case(case.name, case.model, case.inputs), interpreter.run(graph, list(case.inputs))
    )


def _wide() -> Case:
    """Add between tensors of uint16."""
    rng = np.random.default_rng(0)
    sandwich = Sandwich()
    q = Q((3, 5), "uint16", 0.001, 9000)
    names = [sandwich.input(q, rng.integers(0, 18000, (3, 5)).astype(np.uint16)) for _ in range(2)]
    return sandwich.finish("16 bits", "Add", names, q, opset=21)


def test_uint16_stays_float(tmp_path: Path) -> None:
    found = operators(lowered(_wide(), tmp_path))
    assert found == ["DequantizeLinear", "DequantizeLinear", "Add", "QuantizeLinear"]


@pytest.mark.needs_host_gcc
def test_float_fallbacks_compile_and_run(tmp_path: Path) -> None:
    case = quantized_gemm("scaled", 2, 8, 4)
    gemm = next(n for n in case.model.graph.node if n.op_type == "Gemm")
    gemm.attribute.append(helper.make_attribute("alpha", 0.5))
    check_cases([_wide(), Case("scaled", case.model, case.inputs)], tmp_path)


@pytest.mark.needs_host_gcc
def test_a_scale_computed_at_run_time_stays_in_float(tmp_path: Path) -> None:
    model = make_model(
        [
            helper.make_node("DequantizeLinear", ["x", "s"], ["r"], "dq"),
            helper.make_node("Relu", ["r"], ["t"], "relu"),
            helper.make_node("QuantizeLinear", ["t", "s", "z"], ["y"], "q"),
        ],
        {"x": ("int8", (2, 3)), "s": ("float32", ())},
        {"y": ("int8", None)},
        {"z": np.int8(0)},
    )
    x = np.array([[-128, -3, 0], [5, 77, 127]], np.int8)
    case = Case("dynamic", model, (x, np.array(0.37, np.float32)))
    assert operators(lowered(case, tmp_path)) == ["DequantizeLinear", "Relu", "QuantizeLinear"]
    check_cases([case], tmp_path)


def test_quantized_bounds_of_a_clip_are_read_as_reals(tmp_path: Path) -> None:
    sandwich = Sandwich()
    x = np.arange(-128, 128).astype(np.int8)
    names = [sandwich.input(Q(x.shape), x)]
    names.append(sandwich.constant("lo", np.int8(-20), np.float32(0.1), np.int8(0)))
    names.append(sandwich.constant("hi", np.int8(25), np.float32(0.1), np.int8(0)))
    case = sandwich.finish("clip", "Clip", names, Q(None))
    graph = lowered(case, tmp_path)
    assert operators(graph) == ["Clip"]
    check_oracle(case, interpreter.run(graph, list(case.inputs)))


def test_unsupported_operators_are_listed_together(tmp_path: Path) -> None:
    """Also operators that nothing knows; the model is refused once, with all of them."""
    model = make_model(
        [
            helper.make_node("Bernoulli", ["x"], ["a"], "first"),
            helper.make_node("Relu", ["a"], ["b"], "second"),
            helper.make_node("RandomNormalLike", ["b"], ["c"], "third"),
        ],
        {"x": ("float32", (2, 3, 3))},
        {"b": ("float32", None), "a": ("float32", None), "c": ("float32", None)},
    )
    graph = lowered(Case("unknown", model, ()), tmp_path)
    with pytest.raises(UnsupportedError) as caught:
        assign(graph, Registry.builtin().preference("host"))
    text = str(caught.value)
    assert "Bernoulli 'first'" in text
    assert "RandomNormalLike 'third'" in text
    assert "'second'" not in text
