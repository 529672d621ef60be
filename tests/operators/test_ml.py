"""Operators of ai.onnx.ml that are read as ONNX's own: device, oracle and onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from operators.lab import Array, Case, check_cases, make_model

X = np.random.default_rng(3).standard_normal((4, 3)).astype(np.float32)


def _case(
    op: str,
    attributes: Mapping[str, Any],
    inputs: tuple[Array, ...] = (X,),
    constants: Mapping[str, Array] | None = None,
) -> Case:
    names = [f"x{k}" for k in range(len(inputs))]
    node = helper.make_node(
        op, [*names, *(constants or {})], ["y"], op, "", "ai.onnx.ml", **attributes
    )
    model = make_model(
        [node],
        {n: (v.dtype.name, v.shape) for n, v in zip(names, inputs, strict=True)},
        {"y": ("float32", None)},
        constants,
    )
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return Case(f"{op} {attributes}", model, inputs)


def cases() -> list[Case]:
    return [
        _case("ArrayFeatureExtractor", {}, constants={"at": np.array([[2, 0]], np.int64)}),
        _case("Binarizer", {"threshold": 0.25}),
        _case("Scaler", {"offset": [0.5, 0.0, -1.0], "scale": [2.0, 1.0, 0.5]}),
        _case("Scaler", {"offset": [0.5], "scale": [2.0]}),
        _case("Scaler", {"offset": [1.0], "scale": [0.5]}, (np.arange(6).reshape(2, 3),)),
        _case("LinearRegressor", {"coefficients": [1.0, -2.0, 0.5], "intercepts": [0.25]}),
        _case("LinearRegressor", {"coefficients": [*map(float, range(6))], "targets": 2}),
        _case("FeatureVectorizer", {"inputdimensions": [3, 2]}, (X, X[:, :2].copy())),
    ]  # fmt: skip


@pytest.mark.needs_host_gcc
def test_they_are_onnxruntimes(tmp_path: Path) -> None:
    check_cases(cases(), tmp_path)
