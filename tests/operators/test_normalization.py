"""LayerNormalization and BatchNormalization on their own: device, oracle, onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from operators.lab import Case, check_cases, compile_case, make_model, run_onnxruntime
from operators.sandwich import Q, Sandwich, random_integers
from operators.test_lowering import lowered

from mcu_deploy.formats.onnx import plain_form


def _layer(axis: int, bias: bool, offset: float = 0.0) -> Case:
    rng = np.random.default_rng(axis + 9)
    shape = (2, 3, 4, 5)
    constants = {"g": rng.standard_normal(shape[axis:]).astype(np.float32)}
    if bias:
        constants["b"] = rng.standard_normal(shape[axis:]).astype(np.float32)
    node = helper.make_node(
        "LayerNormalization", ["x", *constants], ["y"], "ln", axis=axis, epsilon=1e-4
    )
    model = make_model([node], {"x": ("float32", shape)}, {"y": ("float32", None)}, constants)
    x = (rng.standard_normal(shape) * 3 + offset).astype(np.float32)
    return Case(f"layer {axis} {bias} {offset}", model, (x,))


def _batch(shape: tuple[int, ...], relu: bool, convolution: bool) -> Case:
    rng = np.random.default_rng(len(shape))
    channels = shape[1] if len(shape) > 1 else 1
    constants = {
        "scale": rng.standard_normal(channels).astype(np.float32),
        "bias": rng.standard_normal(channels).astype(np.float32),
        "mean": rng.standard_normal(channels).astype(np.float32),
        "variance": rng.uniform(0.1, 2, channels).astype(np.float32),
    }
    names = list(constants)
    nodes = []
    source = "x"
    if convolution:
        # With a Relu behind it the convolution takes the normalization in; without one it is read
        # twice, so that it cannot.
        constants["w"] = rng.standard_normal((channels, channels, 1, 1)).astype(np.float32)
        constants["b"] = rng.standard_normal(channels).astype(np.float32)
        nodes.append(helper.make_node("Conv", ["x", "w", "b"], ["c"]))
        source = "c"
    nodes.append(helper.make_node("BatchNormalization", [source, *names], ["n"], "bn"))
    last = "n"
    if relu:
        nodes.append(helper.make_node("Relu", ["n"], ["r"]))
        last = "r"
    op, reads = ("Sub", [last, source]) if convolution and not relu else ("Abs", [last])
    nodes.append(helper.make_node(op, reads, ["y"]))
    model = make_model(nodes, {"x": ("float32", shape)}, {"y": ("float32", None)}, constants)
    x = rng.standard_normal(shape).astype(np.float32)
    return Case(f"batch {shape} {relu} {convolution}", model, (x,))


def test_a_convolution_whose_bias_is_computed_takes_no_normalization_in(tmp_path: Path) -> None:
    names = ("scale", "shift", "mean", "variance")
    constants = {name: np.ones(2, np.float32) for name in names}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"]),
        helper.make_node("BatchNormalization", ["c", *names], ["y"]),
    ]
    inputs = {"x": ("float32", (1, 2, 3, 3)), "b": ("float32", (2,))}
    constants["w"] = np.ones((2, 2, 1, 1), np.float32)
    graph = lowered(
        Case("", make_model(nodes, inputs, {"y": ("float32", None)}, constants), ()), tmp_path
    )
    assert [node.op for node in graph.nodes] == ["Conv", "BatchNormalization"]


@pytest.mark.needs_host_gcc
def test_normalization(tmp_path: Path) -> None:
    cases = [_layer(axis, bias) for axis in (-1, 1, 2, 3, -3) for bias in (False, True)]
    cases += [_layer(-1, True, 5.0)]
    cases += [
        _batch(shape, relu, convolution)
        for shape in ((2, 3, 4, 5), (4, 6), (1, 3, 7), (5,))
        for relu in (False, True)
        for convolution in (False, True)
        if len(shape) == 4 or not convolution
    ]
    check_cases(cases, tmp_path)


def _quantized() -> Iterator[Case]:
    rng = np.random.default_rng(5)
    for label, shape, axis, x, y, with_bias in (
        ("bytes", (2, 3, 4, 5), -1, Q(None, "int8", 0.05, 3), Q(None, "int8", 0.02, -7), True),
        ("three axes", (2, 3, 4, 5), 1, Q(None, "uint8", 0.01, 100), Q(None, "int8", 0.03, 0),
         True),
        ("without a bias", (7, 16), -1, Q(None, "uint8", 0.05, 0), Q(None, "uint8", 0.02, 130),
         False),
        ("little above epsilon", (9, 12), 1, Q(None, "int8", 1e-4, 3), Q(None, "int8", 0.02, -7),
         True),
        ("the most in 32 bits", (3, 512), -1, Q(None, "uint8", 0.1, 128),
         Q(None, "int8", 0.02, -7), True),
        ("in 64 bits", (3, 513), -1, Q(None, "int8", 0.1, 12), Q(None, "int8", 0.02, -7), True),
        ("the most", (1, 1 << 15), 1, Q(None, "uint8", 0.1, 128), Q(None, "int8", 0.02, -7),
         False),
        ("too many", (1, (1 << 15) + 1), 1, Q(None, "uint8", 0.1, 128), Q(None, "int8", 0.02, -7),
         False),
    ):  # fmt: skip
        sandwich = Sandwich()
        values = random_integers(rng, shape, x.dtype)
        if len(values) > 1:
            values[1] = 5  # all alike
            values[0].flat[::2], values[0].flat[1::2] = Q(None, x.dtype).range  # as far as can be
        given = [sandwich.input(replace(x, shape=shape), values)]
        for name in ("g", "b")[: 1 + with_bias]:
            sandwich.constants[name] = rng.standard_normal(shape[axis:]).astype(np.float32)
            given.append(name)
        attributes = {"axis": axis, "epsilon": 1e-4}
        yield sandwich.finish(label, "LayerNormalization", given, y, attributes)
    for value in (0.0, 1.5):
        sandwich = Sandwich()
        given = [sandwich.input(Q((6, 8)), random_integers(rng, (6, 8), "int8")), "g", "b"]
        sandwich.constants |= {"g": np.full(8, value, np.float32), "b": np.full(1, 1, np.float32)}
        yield sandwich.finish(f"gains of {value}", "LayerNormalization", given, Q(None, scale=0.02))
    sandwich = Sandwich()
    given = [sandwich.input(Q((6, 8)), random_integers(rng, (6, 8), "int8"))]
    given += [
        sandwich.constant("g", random_integers(rng, (8,), "int8"), 0.01, np.int8(0)),
        sandwich.constant("b", rng.integers(-3000, 3000, 8, np.int32), 0.001, np.int32(0)),
    ]
    yield sandwich.finish("quantized gain", "LayerNormalization", given, Q(None, scale=0.02))


@pytest.mark.needs_host_gcc
def test_between_quantized_tensors(tmp_path: Path) -> None:
    check_cases([case for case in _quantized() if case.name != "too many"], tmp_path)


def test_a_sandwich_is_one_integer_node(tmp_path: Path) -> None:
    """Unless the squares of its bytes might leave 32 bits."""
    for index, case in enumerate(_quantized()):
        graph = compile_case(case, tmp_path, index).graph
        in_float = any(graph.type(e).dtype.is_float for n in graph.nodes for e in n.writes)
        assert in_float == (case.name == "too many")
        assert in_float or [node.op for node in graph.nodes] == ["LayerNormalization"]


def test_bytes_that_are_all_alike_have_no_normal(tmp_path: Path) -> None:
    """Without an epsilon they are divided by 0, and NaN is quantized to the lowest number."""
    sandwich = Sandwich()
    given = [sandwich.input(Q((2, 4)), np.array([[1, 1, 1, 1], [0, 1, 0, 1]], np.int8)), "g"]
    sandwich.constants["g"] = np.array([1, 2, 3, 4], np.float32)
    case = sandwich.finish(
        "alike", "LayerNormalization", given, Q(None, scale=0.5, zero_point=1), {"epsilon": 0.0}
    )
    (found,) = compile_case(case, tmp_path, 0).expected
    assert found.tolist() == [[-128] * 4, [-1, 5, -5, 9]]
    check_cases([case], tmp_path)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("opset", [9, 13, 16])
def test_layer_normalization_before_onnx_had_it(tmp_path: Path, opset: int) -> None:
    """In ONNX's domain, as onnxruntime knows it since its first version; also inside of an If."""
    rng = np.random.default_rng(opset)
    gain, bias, x = (rng.standard_normal(s).astype(np.float32) for s in (4, 4, (2, 3, 4)))
    constants = {"g": gain, "b": bias, "yes": np.array(True)}
    normal = helper.make_node("LayerNormalization", ["x", "g", "b"], ["n", "m", "i"], "ln", axis=-1)
    after = [helper.make_node("Relu", ["n"], ["y"]), helper.make_node("Mul", ["m", "i"], ["z"])]
    types = {"x": ("float32", x.shape)}, {"y": ("float32", None), "z": ("float32", None)}
    alone = make_model([normal, *after], *types, constants, opset)
    branches = {
        name: helper.make_graph(
            [helper.make_node("LayerNormalization", ["x", "g"], [name], name)], name, [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)],
        )
        for name in ("then_branch", "else_branch")
    }  # fmt: skip
    held = [
        helper.make_node("ReduceMax", ["x"], ["top"], keepdims=0),
        helper.make_node("Cast", ["top"], ["any"], to=TensorProto.BOOL),
        helper.make_node("If", ["any"], ["y"], **branches),
    ]
    inside = make_model(held, types[0], {"y": ("float32", None)}, {"g": gain}, opset)
    check_cases([Case("alone", alone, (x,)), Case("inside", inside, (x,))], tmp_path)
    (tmp_path / "model.onnx").write_bytes(alone.SerializeToString())
    plain, _ = plain_form(tmp_path / "model.onnx", {})
    run_onnxruntime(onnx.load_model_from_string(plain), (x,), optimise=False)


@pytest.mark.needs_host_gcc
def test_layer_normalization_of_a_constant(tmp_path: Path) -> None:
    """By a gain that is known when it runs."""
    x, gain = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, -2, 3], np.float32)
    node = helper.make_node("LayerNormalization", ["x", "g"], ["y"], "ln")
    types = {"g": ("float32", (3,))}, {"y": ("float32", None)}
    check_cases([Case("constant", make_model([node], *types, {"x": x}), (gain,))], tmp_path)
