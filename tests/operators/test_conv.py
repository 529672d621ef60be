"""Conv: device against oracle bit for bit, oracle against onnxruntime exactly (8 bits)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Case, check_cases, make_model
from operators.sandwich import Q, quantized_conv
from sanitizers import SANITIZED

SHAPE = (1, 4, 9, 8)


def _quantized() -> list[Case]:
    conv = quantized_conv
    return [
        conv("3x3", Q(SHAPE), (6, 4, 3, 3)),
        conv("pointwise", Q(SHAPE), (6, 4, 1, 1)),
        conv("pointwise strided", Q(SHAPE), (6, 4, 1, 1), {"strides": [2, 3]}),
        conv("same pads", Q(SHAPE), (6, 4, 3, 3), {"pads": [1, 1, 1, 1]}),
        conv("asymmetric pads", Q(SHAPE), (5, 4, 3, 2), {"pads": [0, 2, 3, 1]}),
        conv("strides", Q(SHAPE), (5, 4, 3, 3), {"strides": [2, 1], "pads": [1, 0, 1, 0]}),
        conv("dilations", Q(SHAPE), (5, 4, 3, 2), {"dilations": [2, 3], "pads": [2, 2, 2, 2]}),
        conv("dilations without pads", Q(SHAPE), (5, 4, 3, 2), {"dilations": [2, 3]}),
        conv("same upper", Q(SHAPE), (5, 4, 3, 2), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        conv("same lower", Q(SHAPE), (5, 4, 3, 2), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
        conv("valid", Q(SHAPE), (5, 4, 3, 2), {"auto_pad": "VALID"}),
        conv("groups", Q(SHAPE), (6, 2, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}),
        conv("depthwise", Q(SHAPE), (4, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
        conv("depthwise multiplier", Q(SHAPE), (8, 1, 3, 3), {"group": 4, "pads": [1, 0, 0, 1]}),
        conv("depthwise unpadded", Q(SHAPE), (4, 1, 3, 3), {"group": 4, "strides": [2, 2]}),
        conv("depthwise dilated", Q(SHAPE), (4, 1, 3, 3),
             {"group": 4, "dilations": [2, 3], "pads": [3, 2, 1, 4], "strides": [1, 2]}),
        conv("batch 2", Q((2, 3, 5, 5)), (4, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
        conv("batch 2 depthwise", Q((2, 3, 5, 5)), (3, 1, 3, 3),
             {"group": 3, "pads": [1, 1, 1, 1]}),
        conv("per tensor", Q(SHAPE), (6, 4, 3, 3), per_channel=False),
        conv("uint8 input", Q(SHAPE, "uint8", 0.03, 128), (6, 4, 3, 3), {"pads": [1, 1, 1, 1]}),
        conv("uint8 weights", Q(SHAPE, "uint8", 0.03, 100), (6, 4, 3, 3), {"pads": [1, 1, 1, 1]},
             w_dtype="uint8", w_zero=131, per_channel=False),
        conv("uint8 weights unpadded", Q(SHAPE, "uint8", 0.03, 100), (6, 4, 3, 3),
             w_dtype="uint8", w_zero=131, per_channel=False),
        conv("int8 weights with a zero point", Q(SHAPE), (6, 4, 3, 3), {"pads": [1, 1, 1, 1]},
             w_zero=-7, per_channel=False),
        conv("no bias", Q(SHAPE), (6, 4, 3, 3), bias=False),
        conv("relu", Q(SHAPE), (6, 4, 3, 3), activation="Relu"),
        conv("relu6", Q(SHAPE, scale=0.02), (6, 4, 3, 3), activation=(0.0, 6.0)),
        conv("clip", Q(SHAPE), (6, 4, 3, 3), activation=(-11.0, 23.5)),
        conv("lowest zero point", Q(SHAPE, zero_point=-128), (6, 4, 3, 3),
             {"pads": [1, 1, 1, 1]}),
        conv("saturating", Q(SHAPE), (6, 4, 3, 3), output=Q(None, "int8", 0.5, 0)),
        conv("one dimension", Q((1, 4, 17)), (6, 4, 5), {"pads": [2, 1], "strides": [2]}),
        conv("one dimension depthwise", Q((1, 4, 17)), (4, 1, 5), {"pads": [2, 2], "group": 4}),
        conv("one dimension dilated", Q((1, 4, 17)), (6, 2, 3), {"dilations": [4], "group": 2}),
        conv("all padding", Q((1, 2, 2, 2)), (3, 2, 2, 2), {"pads": [3, 3, 3, 3]}),
        conv("one channel", Q((1, 1, 9, 8)), (4, 1, 3, 3), {"pads": [1, 1, 1, 1]}),
    ]  # fmt: skip


def _real(
    name: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    attributes: Mapping[str, Any] | None = None,
    bias: bool = True,
    after: str | None = None,
    tolerance: float = 1e-5,
) -> Case:
    rng = np.random.default_rng(len(name))
    constants = {"w": rng.standard_normal(w).astype(np.float32)}
    if bias:
        constants["b"] = rng.standard_normal(w[0]).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", *constants], ["c"], "conv", **(attributes or {}))]
    if after == "Relu":
        nodes.append(helper.make_node("Relu", ["c"], ["y"]))
    elif after == "Clip":
        constants |= {"low": np.float32(-1.5), "high": np.float32(2.0)}
        nodes.append(helper.make_node("Clip", ["c", "low", "high"], ["y"]))
    else:
        nodes[0].output[0] = "y"
    model = make_model(nodes, {"x": ("float32", x)}, {"y": ("float32", None)}, constants)
    return Case(name, model, (rng.standard_normal(x).astype(np.float32),), tolerance=tolerance)


def _floats() -> list[Case]:
    pads = {"pads": [1, 1, 1, 1]}
    return [
        _real("float 3x3", SHAPE, (6, 4, 3, 3)),
        _real("float pads", SHAPE, (6, 4, 3, 3), pads),
        _real("float pointwise", SHAPE, (6, 4, 1, 1), bias=False),
        _real("float groups", SHAPE, (6, 2, 3, 3), pads | {"group": 2}),
        _real("float depthwise", SHAPE, (4, 1, 3, 3), pads | {"group": 4, "strides": [2, 2]}),
        _real("float multiplier", SHAPE, (8, 1, 3, 3), pads | {"group": 4}, after="Relu"),
        _real("float dilated", SHAPE, (6, 4, 3, 3), {"dilations": [2, 2], "pads": [0, 1, 2, 3]}),
        _real("float clip", SHAPE, (6, 4, 3, 3), after="Clip"),
        _real("float same upper", SHAPE, (6, 4, 2, 4), {"auto_pad": "SAME_UPPER"}),
        _real("float one dimension", (2, 4, 17), (6, 4, 5), {"pads": [2, 1], "strides": [2]}),
        # 1,152 terms: 1e-4 by the contract
        _real("float long sums", (1, 128, 4, 4), (3, 128, 3, 3), pads, tolerance=1e-4),
    ]


@pytest.mark.needs_host_gcc
def test_conv(tmp_path: Path) -> None:
    check_cases([*_quantized(), *_floats()], tmp_path)


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_conv_reads_and_writes_only_its_tensors(tmp_path: Path) -> None:
    check_cases([*_quantized(), *_floats()], tmp_path, SANITIZED)
