"""Slice, Split, Gather and Resize: device, oracle, onnxruntime; also channel-last and quantized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Array, Case, check_cases, make_model
from operators.sandwich import Q, Sandwich, random_integers


def _case(
    label: str,
    op: str,
    shape: tuple[int, ...],
    constants: Mapping[str, Array],
    outputs: int = 1,
    opset: int = 17,
    inputs: Sequence[str] | None = None,
    convolution: bool = False,
    **attributes: Any,
) -> Case:
    """The operator alone, or behind a convolution, where its input lies channel-last."""
    rng = np.random.default_rng(len(label))
    x = rng.standard_normal(shape).astype(np.float32)
    names = [f"y{i}" for i in range(outputs)]
    reads = ["x", *(constants if inputs is None else inputs)]
    nodes = []
    extra: dict[str, Array] = dict(constants)
    if convolution:
        extra["w"] = rng.standard_normal((shape[1], shape[1], 1, 1)).astype(np.float32)
        nodes.append(helper.make_node("Conv", ["x", "w"], ["c"], "conv"))
        reads[0] = "c"
    nodes.append(helper.make_node(op, reads, names, op, **attributes))
    model = make_model(
        nodes, {"x": ("float32", shape)}, dict.fromkeys(names, ("float32", None)), extra, opset
    )
    return Case(f"{op} {label}", model, (x,))


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


BIG = 2**62


def _slices() -> list[Case]:
    def one(label: str, starts: Array, ends: Array, *more: Array, conv: bool = False) -> Case:
        names = ("starts", "ends", "axes", "steps")
        constants = dict(zip(names, (starts, ends, *more), strict=False))
        return _case(label, "Slice", (2, 3, 6, 5), constants, convolution=conv)

    return [
        one("front", _ints(1), _ints(2)),
        one("axes", _ints(1, 0), _ints(5, 2), _ints(2, 1)),
        one("negative", _ints(-3, -4), _ints(-1, BIG), _ints(-1, -2)),
        one("steps", _ints(0, 1), _ints(BIG, 5), _ints(2, 3), _ints(2, 3)),
        one("backwards", _ints(-1, BIG), _ints(-BIG, -BIG), _ints(2, 3), _ints(-1, -2)),
        one("channel-last", _ints(1, 1), _ints(3, 4), _ints(1, 3), conv=True),
        one("channel-last backwards", _ints(2), _ints(-BIG), _ints(1), _ints(-1), conv=True),
        one("one element", _ints(1, 2), _ints(2, 3), _ints(2, 3)),
        _case("of opset 9", "Slice", (4, 6), {}, opset=9, starts=[1, -4], ends=[3, 100]),
    ]


def _splits() -> list[Case]:
    return [
        _case("equal", "Split", (2, 6, 5), {}, 3, axis=1),
        _case("sizes", "Split", (2, 6, 5), {"s": _ints(1, 3, 2)}, 3, axis=1),
        _case("of nothing", "Split", (0, 2), {"s": _ints(0, 0)}, 2, axis=0),
        _case("last", "Split", (2, 6, 5), {"s": _ints(4, 1)}, 2, axis=-1),
        _case("opset 11", "Split", (6, 5), {}, 2, 11, axis=0, split=[2, 4]),
        _case("opset 18", "Split", (7, 5), {}, 2, 18, axis=0, num_outputs=2),
        _case("channel-last", "Split", (1, 4, 5, 3), {"s": _ints(1, 3)}, 2, convolution=True,
              axis=1),
    ]  # fmt: skip


def _gathers() -> list[Case]:
    return [
        _case("rows", "Gather", (5, 4), {"i": _ints(3, 0, 3)}),
        _case("scalar", "Gather", (2, 5, 4), {"i": np.array(-1, np.int64)}, axis=1),
        _case("matrix", "Gather", (2, 5, 4), {"i": np.array([[0, -2], [4, 1]])}, axis=1),
        _case("last", "Gather", (2, 5, 4), {"i": np.array([1], np.int32)}, axis=-1),
        _case("channels", "Gather", (1, 4, 5, 3), {"i": _ints(2, 0)}, convolution=True, axis=1),
    ]


def _resizes() -> list[Case]:
    cases = []
    modes = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
    roundings = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    for mode in modes:
        for rounding in roundings:
            for scale in (2.0, 1.5, 0.6):
                constants = {"scales": np.array([1, 1, scale, scale + 0.5], np.float32)}
                cases.append(
                    _case(
                        f"{mode} {rounding} {scale}",
                        "Resize",
                        (1, 2, 5, 6),
                        constants,
                        inputs=("", "scales"),
                        coordinate_transformation_mode=mode,
                        nearest_mode=rounding,
                    )
                )
    sizes = {"sizes": _ints(1, 3, 7, 4)}
    cases += [
        _case("sizes", "Resize", (1, 3, 5, 6), sizes, inputs=("", "", "sizes")),
        _case("channel-last", "Resize", (1, 3, 4, 5), {"s": np.array([1, 1, 2, 2], np.float32)},
              inputs=("", "s"), convolution=True, coordinate_transformation_mode="asymmetric",
              nearest_mode="floor"),
        _case("opset 10", "Resize", (1, 3, 4, 5), {"s": np.array([1, 1, 2, 3], np.float32)},
              opset=10),
        _case("tf", "Resize", (1, 1, 5, 6),
              {"r": np.zeros(0, np.float32), "s": np.array([1, 1, 1.7, 0.7], np.float32)},
              inputs=("r", "s"), coordinate_transformation_mode="tf_half_pixel_for_nn", opset=11,
              nearest_mode="floor"),
    ]  # fmt: skip
    return cases


def _quantized() -> list[Case]:
    rng = np.random.default_rng(1)
    cases = []
    for op, constants, arguments, attributes in (
        ("Slice", {"s": _ints(1), "e": _ints(3), "a": _ints(2)}, ("s", "e", "a"), {}),
        ("Gather", {"i": _ints(1, 0)}, ("i",), {"axis": 1}),
        ("Resize", {"s": np.array([1, 1, 2, 2], np.float32)}, ("", "s"),
         {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    ):  # fmt: skip
        sandwich = Sandwich()
        q = Q((1, 2, 4, 3), "int8", 0.05, -7)
        name = sandwich.input(q, random_integers(rng, (1, 2, 4, 3), "int8"))
        sandwich.constants.update(constants)
        output = Q(None, "int8", 0.05, -7)
        reads = [name, *arguments]
        label = f"quantized {op}"
        cases.append(sandwich.finish(label, op, reads, output, attributes, exact=True))
    return cases


@pytest.mark.needs_host_gcc
def test_selection(tmp_path: Path) -> None:
    cases = [*_slices(), *_splits(), *_gathers(), *_resizes(), *_quantized()]
    check_cases(cases, tmp_path)
