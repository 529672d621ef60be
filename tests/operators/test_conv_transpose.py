"""ConvTranspose in float32: device, oracle, onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Case, check_cases, make_model

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
        _case("dilations", (4, 3, 3, 2), {"dilations": [2, 3]}),
        _case("groups", (4, 3, 3, 3), {"group": 2, "strides": [2, 1]}),
        _case("depthwise", (4, 1, 3, 3), {"group": 4, "strides": [2, 2]}),
        _case("batch", (3, 2, 2, 2), {"strides": [2, 2]}, (2, 3, 4, 4), bias=False),
        _case("stride above kernel", (4, 3, 1, 2), {"strides": [3, 3]}),
        _case("one dimension", (4, 3, 5), {"strides": [2], "pads": [2, 1]}, (1, 4, 9)),
    ]  # fmt: skip


@pytest.mark.needs_host_gcc
def test_conv_transpose(tmp_path: Path) -> None:
    check_cases(_cases(), tmp_path)


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_conv_transpose_reads_and_writes_only_its_tensors(tmp_path: Path) -> None:
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    check_cases(_cases(), tmp_path, flags)
