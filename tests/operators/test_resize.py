"""Resize to the nearest element: every way of finding a position, as onnxruntime finds it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from operators.lab import Array, Case, check_cases, make_model, run_onnxruntime

from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.base import Call
from mcu_deploy.operators.selection import nearest_positions

_TRANSFORMS = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
    "tf_half_pixel_for_nn",
)  # fmt: skip
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _resize(shape: tuple[int, ...], given: Array, opset: int, **attributes: Any) -> Case:
    """One Resize of the numbers 0, 1, 2 ... by scales (floats) or to sizes (integers)."""
    by_scales = given.dtype == np.float32
    names = ["x", "v"] if opset < 11 else ["x", "e", "v"] if by_scales else ["x", "e", "e", "v"]
    constants: dict[str, Array] = {"v": given}
    if "e" in names:
        constants["e"] = np.zeros(0, np.float32)
    node = helper.make_node("Resize", names, ["y"], mode="nearest", **attributes)
    types = {"x": ("float32", shape)}, {"y": ("float32", None)}
    model = make_model([node], *types, constants, opset)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    label = f"{shape} by {given.tolist()}, opset {opset}, {attributes}"
    return Case(label, model, (x,))


def _sizes(*values: int) -> Array:
    return np.array(values, np.int64)


def _found(case: Case, wanted: Array) -> Array:
    """What the oracle picks for an output of the shape of `wanted`."""
    node, (x,) = case.model.graph.node[0], case.inputs
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in case.model.graph.initializer}
    given = tuple(constants.get(name) for name in node.input[1:])
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    text = {k: v.decode() if isinstance(v, bytes) else v for k, v in attributes.items()}
    types = TensorType(DType.FLOAT32, x.shape), TensorType(DType.FLOAT32, wanted.shape)
    opset = case.model.opset_import[0].version
    call = Call("Resize", text, (x, *given), (types[0],), (types[1],), opset)
    return np.asarray(x[np.ix_(*nearest_positions(call))])


def _scale(rng: random.Random, size: int) -> float:
    """One that leaves an element, and whose new size no rounding to float32 changes."""
    while True:
        chosen = rng.choice((1.0, rng.uniform(1 / size, 3), rng.randint(1, 9) / rng.randint(1, 3)))
        scale = np.float32(chosen)
        new = np.floor(size * np.float64(scale))
        if new >= 1 and new == np.floor(np.float32(size) * scale):
            return float(scale)


def _random_case(rng: random.Random) -> Case:
    opset = rng.choice((10, 11, 13, 18, 19))
    shape = tuple(rng.randint(1, 9) for _ in range(rng.randint(1, 4)))
    axes = list(range(len(shape)))
    attributes: dict[str, Any] = {}
    if opset >= 11:
        transforms = [t for t in _TRANSFORMS if opset >= 19 or not t.endswith("symmetric")]
        attributes["coordinate_transformation_mode"] = rng.choice(transforms)
        attributes["nearest_mode"] = rng.choice(_ROUNDINGS)
    if opset >= 18 and rng.random() < 0.5:
        axes = attributes["axes"] = rng.sample(axes, rng.randint(1, len(axes)))
    if opset >= 11 and rng.random() < 0.5:
        if opset >= 18:
            policies = ("stretch", "not_larger", "not_smaller")
            attributes["keep_aspect_ratio_policy"] = rng.choice(policies)
        sizes = [rng.choice((shape[a], rng.randint(1, 25))) for a in axes]
        return _resize(shape, _sizes(*sizes), opset, **attributes)
    scales = [_scale(rng, shape[a]) for a in axes]
    return _resize(shape, np.array(scales, np.float32), opset, **attributes)


def _check_positions(cases: list[Case]) -> None:
    failures = []
    for case in cases:
        (wanted,) = run_onnxruntime(case.model, case.inputs, optimise=False)
        if not np.array_equal(_found(case, wanted), wanted):
            failures.append(case.name)
    assert not failures, f"{len(failures)} of {len(cases)}:\n" + "\n".join(failures[:20])


def test_positions_in_the_middle_are_not_lost_to_a_rounded_scale() -> None:
    _check_positions(
        [
            _resize((7,), _sizes(2), 13, coordinate_transformation_mode="asymmetric",
                    nearest_mode="round_prefer_ceil"),
            _resize((14,), _sizes(19), 13),
            _resize((14,), _sizes(1), 13),
        ]
    )  # fmt: skip


def test_a_random_sample_is_onnxruntimes() -> None:
    rng = random.Random(7)
    _check_positions([_random_case(rng) for _ in range(300)])


@pytest.mark.matrix
def test_all_pairs_of_small_sizes_are_onnxruntimes() -> None:
    _check_positions(
        [
            _resize((size,), _sizes(new), 19, coordinate_transformation_mode=transform,
                    nearest_mode=rounding)
            for size in range(1, 21)
            for new in range(1, 25)
            for transform in _TRANSFORMS
            for rounding in _ROUNDINGS
        ]
    )  # fmt: skip


@pytest.mark.needs_host_gcc
def test_device_oracle_and_onnxruntime_pick_the_same(tmp_path: Path) -> None:
    rng = random.Random(11)
    middle = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "round_prefer_ceil"}
    given = [_resize((1, 2, 7), _sizes(1, 2, 2), 13, **middle), _resize((14,), _sizes(19), 13)]
    check_cases([*given, *(_random_case(rng) for _ in range(25))], tmp_path)
