"""ConvTranspose in float32 and between quantized tensors: device, oracle, onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Case, check_cases, make_model
from operators.sandwich import Q, quantized_conv
from operators.test_lowering import lowered
from sanitizers import SANITIZED

SHAPE = (1, 4, 5, 6)


def _case(
    label: str,
    w: tuple[int, ...],
    attributes: Mapping[str, Any] | None = None,
    x: tuple[int, ...] = SHAPE,
    bias: bool = True,
    relu: bool = False,
) -> Case:
    rng = np.random.default_rng(len(label))
    filters = w[1] * int((attributes or {}).get("group", 1))
    constants = {"w": rng.standard_normal(w).astype(np.float32)}
    if bias:
        constants["b"] = rng.standard_normal(filters).astype(np.float32)
    result = "c" if relu else "y"
    nodes = [
        helper.make_node("ConvTranspose", ["x", *constants], [result], "t", **(attributes or {}))
    ]
    if relu:
        nodes.append(helper.make_node("Relu", ["c"], ["y"]))
    model = make_model(nodes, {"x": ("float32", x)}, {"y": ("float32", None)}, constants)
    return Case(label, model, (rng.standard_normal(x).astype(np.float32),))


def _cases() -> list[Case]:
    return [
        _case("plain", (4, 3, 3, 3)),
        _case("stride 2", (4, 3, 2, 2), {"strides": [2, 2]}),
        _case("relu", (4, 3, 2, 2), {"strides": [2, 2]}, relu=True),
        _case("pads", (4, 3, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        _case("asymmetric pads", (4, 3, 3, 4), {"strides": [2, 3], "pads": [0, 2, 1, 1]}),
        _case("output padding", (4, 3, 3, 3),
              {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
        _case("output shape", (4, 3, 3, 3), {"strides": [2, 2], "output_shape": [10, 12]}),
        _case("same upper", (4, 3, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        _case("same lower", (4, 3, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
        _case("same of a longer output", (4, 3, 3, 3),
              {"strides": [2, 2], "auto_pad": "SAME_UPPER", "output_padding": [1, 0]}),
        _case("dilations", (4, 3, 3, 2), {"dilations": [2, 3]}),
        _case("groups", (4, 3, 3, 3), {"group": 2, "strides": [2, 1]}),
        _case("depthwise", (4, 1, 3, 3), {"group": 4, "strides": [2, 2]}),
        _case("batch", (3, 2, 2, 2), {"strides": [2, 2]}, (2, 3, 4, 4), bias=False),
        _case("stride above kernel", (4, 3, 1, 2), {"strides": [3, 3]}),
        _case("one dimension", (4, 3, 5), {"strides": [2], "pads": [2, 1]}, (1, 4, 9)),
    ]  # fmt: skip


def _sandwich(label: str, w: tuple[int, ...], x: Q | None = None, **more: Any) -> Case:
    attributes = {k: more.pop(k) for k in list(more) if k not in _OF_QUANTIZED}
    return quantized_conv(
        label, x or Q(SHAPE), w, attributes, op="ConvTranspose", seed=len(label), **more
    )


_OF_QUANTIZED = ("w_dtype", "w_zero", "per_channel", "bias", "output", "activation")


def _quantized() -> list[Case]:
    two = {"strides": [2, 2]}
    pads = {**two, "pads": [1] * 4}
    return [
        _sandwich("stride of the kernel", (4, 3, 2, 2), **two),
        _sandwich("plain", (4, 3, 3, 3)),
        _sandwich("overlapping", (4, 3, 3, 3), **pads, output_padding=[1, 1]),
        _sandwich("four taps", (4, 6, 4, 4), **pads),
        _sandwich("uneven", (4, 3, 5, 4), strides=[3, 2], pads=[1, 0, 2, 1]),
        _sandwich("stride above kernel", (4, 3, 1, 2), strides=[3, 3]),
        _sandwich("dilations", (4, 3, 3, 2), dilations=[2, 3]),
        _sandwich("groups", (4, 3, 3, 3), group=2, strides=[2, 1], per_channel=False),
        _sandwich("depthwise", (4, 1, 3, 3), group=4, **two, per_channel=False),
        _sandwich("per tensor", (4, 3, 2, 2), **two, per_channel=False),
        _sandwich("same upper above kernel", (4, 3, 1, 1), **two, auto_pad="SAME_UPPER"),
        _sandwich("weights with a zero point", (4, 3, 3, 3), **pads, w_zero=-7, per_channel=False),
        _sandwich("uint8", (4, 3, 3, 3), Q(SHAPE, "uint8", 0.03, 100), **pads, w_dtype="uint8",
                  w_zero=131, per_channel=False),
        _sandwich("relu", (4, 3, 2, 2), **two, activation="Relu"),
        _sandwich("clip", (4, 3, 2, 2), **two, activation=(-11.0, 23.5)),
        _sandwich("no bias", (4, 3, 2, 2), **two, bias=False),
        _sandwich("batch", (3, 2, 2, 2), Q((2, 3, 4, 4)), **two),
        _sandwich("one dimension", (4, 3, 5), Q((1, 4, 9)), strides=[2], pads=[2, 1]),
    ]  # fmt: skip


@pytest.mark.needs_host_gcc
def test_conv_transpose(tmp_path: Path) -> None:
    check_cases([*_cases(), *_quantized()], tmp_path)


def test_a_sandwich_becomes_one_node_of_integers(tmp_path: Path) -> None:
    for case in _quantized():
        assert [node.op for node in lowered(case, tmp_path).nodes] == ["ConvTranspose"], case.name
    case = _sandwich("groups of channels", (4, 3, 3, 3), group=2, bias=False)
    assert len([*lowered(case, tmp_path).nodes]) == 3


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_conv_transpose_reads_and_writes_only_its_tensors(tmp_path: Path) -> None:
    check_cases([*_cases(), *_quantized()], tmp_path, SANITIZED)
