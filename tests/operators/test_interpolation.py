"""Resize and Upsample in the modes linear and cubic: device, oracle and onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Array, Case, check_cases, compile_case, make_model, run_onnxruntime
from operators.sandwich import Q, Sandwich, random_integers

from mcu_deploy.interpreter import node_call
from mcu_deploy.operators.interpolation import BITS, in_integers

SHAPE = (1, 3, 5, 6)
_TIES = 0.05  # of the values, which lie in the middle of two
WAYS = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
)  # fmt: skip


def _model(
    names: list[str], constants: dict[str, Array], opset: int, op: str = "Resize", **attributes: Any
) -> Any:
    node = helper.make_node(op, names, ["y"], **attributes)
    types = {"x": ("float32", SHAPE)}, {"y": ("float32", None)}
    return make_model([node], *types, constants, opset)


def _x() -> Array:
    return np.random.default_rng(4).standard_normal(SHAPE).astype(np.float32)


def resizes() -> Iterator[Case]:
    for mode in ("linear", "cubic"):
        for way in WAYS:
            for size in ((8, 9), (3, 4), (1, 6)):
                constants = {"n": np.array([1, 3, *size], np.int64)}
                attributes = {"mode": mode, "coordinate_transformation_mode": way}
                model = _model(["x", "", "", "n"], constants, 19, **attributes)
                yield Case(f"{mode} {way} to {size}", model, (_x(),))
    for name, attributes in (
        ("antialias", {"antialias": 1}),
        ("cubic antialias", {"antialias": 1, "mode": "cubic"}),
        ("exclude", {"exclude_outside": 1, "mode": "cubic", "cubic_coeff_a": -0.5}),
    ):
        constants = {"s": np.array([1, 1, 0.6, 0.5], np.float32)}
        model = _model(["x", "", "s"], constants, 19, **{"mode": "linear"} | attributes)
        yield Case(name, model, (_x(),))


def older() -> Iterator[Case]:
    """Upsample-7 with its scales as an attribute, Upsample-9 and Resize-10 with an input."""
    scales = [1.0, 1.0, 2.0, 1.5]
    given = {"s": np.array(scales, np.float32)}
    yield Case("7", _model(["x"], {}, 7, "Upsample", mode="linear", scales=scales), (_x(),))
    yield Case("9", _model(["x", "s"], given, 9, "Upsample", mode="linear"), (_x(),))
    yield Case("10", _model(["x", "s"], given, 10, mode="linear"), (_x(),))


def beyond_the_border() -> Iterator[Case]:
    """Positions outside of the image, whose taps of GridSample onnxruntime moves one by one."""
    grid = np.random.default_rng(3).uniform(-2, 2, (1, 4, 7, 2)).astype(np.float32)
    types = {"x": ("float32", SHAPE), "g": ("float32", grid.shape)}
    for aligned in (0, 1):
        node = helper.make_node(
            "GridSample", ["x", "g"], ["y"],
            mode="cubic", padding_mode="border", align_corners=aligned,
        )  # fmt: skip
        model = make_model([node], types, {"y": ("float32", None)}, opset=20)
        yield Case(f"cubic border {aligned}", model, (_x(), grid))


def quantized() -> Iterator[Case]:
    rng = np.random.default_rng(7)
    for dtype, y in (("int8", Q(None, "int8", 0.07, -3)), ("uint8", Q(None, "uint8", 0.06, 9))):
        sandwich = Sandwich()
        q = Q(SHAPE, dtype, 0.05, -7 if dtype == "int8" else 120)
        name = sandwich.input(q, random_integers(rng, SHAPE, dtype))
        sandwich.constants["s"] = np.array([1, 1, 2, 2], np.float32)
        yield sandwich.finish(
            f"quantized {dtype}", "Resize", [name, "", "s"], y, {"mode": "linear"}
        )
    for label, shape, scales, x, y, attributes in (
        ("of one scale", SHAPE, (1, 1, 2, 2), Q(None, "int8", 0.05, -6), None, {}),
        ("odd zero point", SHAPE, (1, 1, 2, 2), Q(None, "int8", 0.05, 3), None, {}),
        ("bytes of one scale", SHAPE, (1, 1, 2, 4), Q(None, "uint8", 0.05, 121), None, {}),
        ("lowest zero point", SHAPE, (1, 1, 3, 1.5), Q(None, "int8", 0.05, -128), None, {}),
        ("other zero point", SHAPE, (1, 1, 2, 2), Q(None, "int8", 0.05, 3),
         Q(None, "int8", 0.05, 100), {}),
        ("other type", SHAPE, (1, 1, 2, 2), Q(None, "int8", 0.05, 3),
         Q(None, "uint8", 0.05, 90), {}),
        ("channels last", (1, 5, 4, 3), (1, 2, 2, 1), Q(None, "int8", 0.05, 3), None, {}),
        ("one axis", (2, 3, 7), (1, 1, 2.3), Q(None, "int8", 0.05, 3), None, {}),
        ("smaller", (1, 2, 9, 8), (1, 1, 0.5, 0.7), Q(None, "uint8", 0.05, 0), None, {}),
        ("corners", SHAPE, (1, 1, 2, 2), Q(None, "int8", 0.05, 3), None,
         {"coordinate_transformation_mode": "align_corners"}),
        ("three axes in float32", (1, 2, 3, 4, 3), (1, 1, 2, 2, 2), Q(None, "int8", 0.05, 3), None,
         {}),
        ("cubic in float32", SHAPE, (1, 1, 2, 2), Q(None, "int8", 0.05, 3), None,
         {"mode": "cubic"}),
    ):  # fmt: skip
        sandwich = Sandwich()
        name = sandwich.input(replace(x, shape=shape), random_integers(rng, shape, x.dtype))
        sandwich.constants["s"] = np.array(scales, np.float32)
        attributes = {"mode": "linear"} | attributes
        case = sandwich.finish(f"quantized {label}", "Resize", [name, "", "s"], y or x, attributes)
        yield replace(case, apart=_TIES)


@pytest.mark.needs_host_gcc
def test_interpolation(tmp_path: Path) -> None:
    check_cases([*resizes(), *older(), *beyond_the_border(), *quantized()], tmp_path)


@pytest.mark.needs_host_gcc
def test_quantized_windows_over_three_axes_stay_float(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sandwich = Sandwich()
    shape = (1, 2, 4, 5, 3)
    name = sandwich.input(Q(shape), random_integers(rng, shape, "int8"))
    case = sandwich.finish("3-D", "AveragePool", [name], Q(None, "int8", 0.07, -3),
                           {"kernel_shape": [2, 3, 2], "strides": [2, 1, 1]})  # fmt: skip
    operators = [n.op for n in compile_case(case, tmp_path, 0).graph.nodes]
    assert operators == ["DequantizeLinear", "AveragePool", "QuantizeLinear"]
    check_cases([case], tmp_path)


def test_what_differs_from_onnxruntime_is_a_tie(tmp_path: Path) -> None:
    """Which float32 sees a little above or below."""
    (case,) = (case for case in quantized() if case.name == "quantized odd zero point")
    (found,) = compile_case(case, tmp_path, 0).expected
    (theirs,) = run_onnxruntime(case.model, case.inputs, optimise=False)
    x = np.pad(case.inputs[0][0].astype(np.int64) - 3, ((0, 0), (1, 1), (1, 1)), "edge")
    for axis in (1, 2):  # sixteenths, in which a step is a quarter of one, and three
        first = np.take(x, range(x.shape[axis] - 1), axis)
        behind = np.take(x, range(1, x.shape[axis]), axis)
        both = np.stack([first + 3 * behind, 3 * behind + np.roll(behind, -1, axis)], axis + 1)
        shape = list(x.shape)
        shape[axis] = 2 * (x.shape[axis] - 2)
        x = np.take(both, range(x.shape[axis] - 2), axis).reshape(shape)
    is_tie = x[None] % 16 == 8
    assert 0.01 < is_tie.mean() < 0.1
    assert not (found != theirs)[~is_tie].any()
    assert not ((found[is_tie].astype(np.int64) - 3) % 2).any()


def test_weights_of_integers_add_up(tmp_path: Path) -> None:
    """So that an image of one element is resized to that."""
    found = {}
    for index, case in enumerate(quantized()):
        (node,) = compile_case(case, tmp_path, index).graph.nodes
        graph = compile_case(case, tmp_path, index).graph
        along = in_integers(node_call(graph, node, graph.data.constants))
        found[case.name] = along is not None
        for taps in (along or {}).values():
            assert (taps.weights.sum(axis=1) == 1 << BITS).all() and taps.weights.min() >= 0
    assert [name for name, is_there in found.items() if not is_there] == [
        "quantized three axes in float32", "quantized cubic in float32"
    ]  # fmt: skip


def test_a_sandwich_is_one_integer_node(tmp_path: Path) -> None:
    for index, case in enumerate(quantized()):
        (node,) = compile_case(case, tmp_path, index).graph.nodes
        assert (node.domain, node.op) == ("mcu", "Resize")
