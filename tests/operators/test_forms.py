"""Models of older opsets whose shapes ONNX's inference does not see as onnxruntime does, and
quantized operators of com.microsoft: with what they mean, or a sentence, and never another shape.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from operators.lab import (
    Array,
    Case,
    check_cases,
    check_oracle,
    compile_case,
    make_model,
    run_onnxruntime,
)

from mcu_deploy import formats
from mcu_deploy.errors import ModelError, UnsupportedError


def _declared(case: Case) -> Case:
    """The same model, whose output has the shape that onnxruntime gives it."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    (result,) = run_onnxruntime(model, case.inputs, optimise=False)
    shape = model.graph.output[0].type.tensor_type.shape
    shape.SetInParent()
    for size in result.shape:
        shape.dim.add().dim_value = size
    return Case(f"{case.name}, declared", model, case.inputs)


def _one(
    op: str, x: Array, opset: int, constants: dict[str, Array] | None = None, **attributes: Any
) -> Case:
    names = ["x", *(constants or {})] if op != "Concat" else ["x", "x"]
    node = helper.make_node(op, names, ["y"], op, **attributes)
    types = {"x": ("float32", x.shape)}, {"y": ("float32", None)}
    return Case(f"{op}-{opset} {attributes}", make_model([node], *types, constants, opset), (x,))


def _axes() -> list[Case]:
    x = np.arange(6, dtype=np.float32).reshape(2, 1, 3, 1)
    found = []
    for opset in (7, 10, 11):
        found += [_one("Squeeze", x, opset, axes=a) for a in ([-1], [-3], [1, -1], [-1, 1], [3, 1])]
        found += [_one("Unsqueeze", x, opset, axes=a) for a in ([-1], [-5], [0, -1], [-1, 0])]
        found.append(_one("Concat", x, opset, axis=-2))
    return [*found, _one("Slice", x, 9, axes=[-2, 0], starts=[1, 0], ends=[3, 1])]


def _pools() -> list[Case]:
    rng = random.Random(3)
    found = []
    while len(found) < 24:
        op, opset = rng.choice(("AveragePool", "MaxPool")), rng.choice((10, 12, 19, 22))
        shape = (1, 2, rng.randint(4, 9), rng.randint(4, 9))
        kernel = [rng.randint(2, 3), rng.randint(2, 3)]
        attributes: dict[str, Any] = {"kernel_shape": kernel, "ceil_mode": 1}
        attributes["strides"] = [rng.randint(1, k) for k in kernel]
        if rng.random() < 0.6:
            attributes["pads"] = [rng.randint(0, k - 1) for k in (*kernel, *kernel)]
        else:
            attributes["auto_pad"] = rng.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
        if op == "AveragePool":
            attributes["count_include_pad"] = rng.randint(0, 1)
        x = np.random.default_rng(len(found)).standard_normal(shape).astype(np.float32)
        found.append(_one(op, x, opset, **attributes))
    # Strides beyond the kernel, where the last window would lie behind the input.
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 16)
    return [*found, _one("MaxPool", x, 10, kernel_shape=[2], strides=[4], ceil_mode=1)]


@pytest.mark.needs_host_gcc
def test_axes_and_pools_of_older_opsets(tmp_path: Path) -> None:
    """Undeclared, and declared as onnxruntime has it."""
    cases = [*_axes(), *_pools()]
    check_cases([*cases, *map(_declared, cases)], tmp_path)


def test_pools_in_a_row_whose_shapes_are_declared_right(tmp_path: Path) -> None:
    """The second one's input has its shape from the first, which inference takes otherwise."""
    x = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
    attributes = {"kernel_shape": [1, 1], "strides": [3, 3], "ceil_mode": 1}
    nodes = [
        helper.make_node("MaxPool", ["x"], ["m"], "first", **attributes),
        helper.make_node("MaxPool", ["m"], ["y"], "second", **attributes),
    ]
    types = {"x": ("float32", x.shape)}, {"y": ("float32", None)}
    case = _declared(Case("two", make_model(nodes, *types, opset=12), (x,)))
    info = helper.make_tensor_value_info("m", TensorProto.FLOAT, (1, 1, 3, 3))
    case.model.graph.value_info.append(info)
    (found,) = compile_case(case, tmp_path, 0).expected
    (wanted,) = run_onnxruntime(case.model, case.inputs, optimise=False)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("op", "constants", "declared", "gives"),
    [
        ("Reshape", {"s": np.array([3, 2])}, (2, 3), [3, 2]),
        ("Flatten", {}, (3, 2), [2, 3]),
        ("Unsqueeze", {"a": np.array([0])}, (2, 3, 1), [1, 2, 3]),
        ("Slice", {"s": np.array([1]), "e": np.array([9])}, (2, 3), [1, 3]),
    ],
)
def test_a_declared_shape_that_the_operator_does_not_give_is_passed_by(
    tmp_path: Path, op: str, constants: dict[str, Array], declared: tuple[int, ...], gives: Any
) -> None:
    """onnxruntime warns of it and computes."""
    node = helper.make_node(op, ["x", *constants], ["y"], "node")
    types = {"x": ("float32", (2, 3))}, {"y": ("float32", declared)}
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    case = Case(op, make_model([node], *types, constants), (x,))
    compiled = compile_case(case, tmp_path, 0)
    (edge,) = compiled.graph.outputs
    assert list(compiled.graph.type(edge).shape) == gives
    check_oracle(case, compiled.expected)


def test_a_shape_that_no_declaration_makes_right_is_refused(tmp_path: Path) -> None:
    node = helper.make_node("Squeeze", ["x", "a"], ["y"], "node")
    types = {"x": ("float32", (2, 3))}, {"y": ("float32", (3, 2))}
    path = tmp_path / "model.onnx"
    path.write_bytes(make_model([node], *types, {"a": np.array([0])}).SerializeToString())
    with pytest.raises(ModelError, match="removes the axes"):
        formats.load(path)


def test_a_last_window_that_would_begin_outside_is_refused_where_the_padding_counts(
    tmp_path: Path,
) -> None:
    node = helper.make_node(
        "AveragePool", ["x"], ["y"], "pool", kernel_shape=[1, 2], strides=[3, 2], ceil_mode=1,
        count_include_pad=1,
    )  # fmt: skip
    model = make_model([node], {"x": ("float32", (1, 1, 5, 5))}, {"y": ("float32", None)})
    with pytest.raises(UnsupportedError, match="a stride larger than its kernel"):
        compile_case(Case("pool", model, ()), tmp_path, 0)


def _quantized(op: str, x: Array, constants: dict[str, Array], **attributes: Any) -> Case:
    """An operator of com.microsoft alone; its inputs are x and the constants, in order."""
    kind = TensorProto.INT8 if x.dtype == np.int8 else TensorProto.UINT8
    names = ["" if name.startswith("absent") else name for name in constants]
    names.insert(2 if op == "QLinearConcat" else 0, "x")
    node = helper.make_node(op, names, ["y"], op, domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node],
        "case",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(v, n) for n, v in constants.items() if n in names],
    )
    imported = [helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imported, ir_version=8)
    return Case(f"{op} {attributes} {x.shape} {x.dtype}", model, (x,))


def _com_microsoft() -> list[Case]:
    return [case for dtype in (np.uint8, np.int8) for case in _of_type(dtype)]


def _of_type(dtype: type) -> list[Case]:
    rng, found, f = np.random.default_rng(5), [], np.float32
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    def some(*shape: int) -> Array:
        return rng.integers(low, high + 1, shape).astype(dtype)

    zero = np.array((low + high) // 2 + 3, dtype)
    x = {"xs": np.array(0.05, f), "xz": zero}
    y = {"ys": np.array(0.07, f), "yz": zero}
    w = {"ws": np.array(0.02, f), "wz": zero}
    bias = np.array([1000, -700, 30], np.int32)
    share = {"ys": np.array(1 / 256, f), "yz": np.array(low, dtype)}
    for alpha in (1.0, 0.5, 3.0):
        product = {**x, "w": some(4, 3), **w, "b": bias, "ys": np.array(0.4, f), "yz": zero}
        found.append(_quantized("QGemm", some(2, 4), product, alpha=alpha))
    turned = {**x, "w": some(3, 4), **w, "absent": bias, "ys": np.array(0.4, f), "yz": zero}
    found.append(_quantized("QGemm", some(2, 4), turned, transB=1, alpha=0.25))
    for opset, axis in ((11, None), (12, 1), (12, 0), (13, 1), (17, None)):
        given = {"opset": opset} if axis is None else {"opset": opset, "axis": axis}
        found.append(_quantized("QLinearSoftmax", some(2, 3, 4), {**x, **share}, **given))
    for op in ("QLinearAdd", "QLinearMul"):
        found.append(_quantized(op, some(2, 3), {**x, "w": some(3), **w, **y}))
    parts = {**y, **x, "w": some(2, 2), **w}
    found.append(_quantized("QLinearConcat", some(2, 3), parts, axis=-1))
    found.append(_quantized("QLinearSigmoid", some(3, 5), {**x, **y}))
    found.append(_quantized("QLinearLeakyRelu", some(3, 5), {**x, **y}, alpha=0.3))
    image = some(1, 2, 5, 6)
    pool = {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 0, 1, 1]}
    found.append(_quantized("QLinearAveragePool", image, {**x, **y}, **pool))
    found.append(_quantized("QLinearGlobalAveragePool", image, {**x, **y}, channels_last=0))
    return found


def test_an_unknown_attribute_of_com_microsoft_is_refused(tmp_path: Path) -> None:
    case = next(c for c in _com_microsoft() if c.name.startswith("QLinearSigmoid"))
    case.model.graph.node[0].attribute.append(helper.make_attribute("saturate", 1))
    path = tmp_path / "model.onnx"
    path.write_bytes(case.model.SerializeToString())
    with pytest.raises(UnsupportedError, match="has the attribute 'saturate'"):
        formats.load(path)


@pytest.mark.needs_host_gcc
def test_operators_of_com_microsoft_alone(tmp_path: Path) -> None:
    check_cases(_com_microsoft(), tmp_path)


@pytest.mark.needs_host_gcc
def test_int32_may_have_the_zero_point_0(tmp_path: Path) -> None:
    """As tract writes it; ONNX has no other one for sums."""
    x = np.array([-(2**31), -7, 0, 9, 2**31 - 1], np.int32)
    constants = {"s": np.array(0.003, np.float32), "z": np.array(0, np.int32)}
    node = helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"])
    types = {"x": ("int32", x.shape)}, {"y": ("float32", None)}
    check_cases([Case("int32", make_model([node], *types, constants), (x,))], tmp_path)
