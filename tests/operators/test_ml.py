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
    outputs: Mapping[str, tuple[str, None]] | None = None,
    version: int = 3,
) -> Case:
    names = [f"x{k}" for k in range(len(inputs))]
    outputs = outputs or {"y": ("float32", None)}
    node = helper.make_node(
        op, [*names, *(constants or {})], [*outputs], op, "", "ai.onnx.ml", **attributes
    )
    model = make_model(
        [node],
        {n: (v.dtype.name, v.shape) for n, v in zip(names, inputs, strict=True)},
        outputs,
        constants,
    )
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", version))
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


CLASSES = {"label": ("int64", None), "scores": ("float32", None)}
INTEGERS = np.array([[1, 5], [2, -7], [9, 0]], np.int64)


def linear_cases() -> list[Case]:
    made = []
    for name in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        said = {"post_transform": name}
        two = {"coefficients": [1.0, -2.0, 0.5], "intercepts": [0.25], "classlabels_ints": [3, 7]}
        three = {"coefficients": [*map(float, range(-4, 5))], "intercepts": [0.5, -0.5, 0.0],
                 "classlabels_ints": [5, 2, 8]}  # fmt: skip
        made += [_case("LinearClassifier", {**a, **said}, outputs=CLASSES) for a in (two, three)]
        targets = {"coefficients": [*map(float, range(6))], "targets": 2}
        made.append(_case("LinearRegressor", {**targets, **said}))
    return made


def row_cases() -> list[Case]:
    """Of rows, and of labels."""
    rows = np.array([[1, -3, 2], [0, 0, 0], [-1, -2, -4], [np.nan, 1, 0]], np.float32)
    made = [_case("Normalizer", {"norm": n}, (rows[:3],)) for n in ("MAX", "L1", "L2")]
    made += [
        _case("Imputer", {"imputed_value_floats": [9.0, 8.0, 7.0],
                          "replaced_value_float": float("nan")}, (rows,)),
        _case("Imputer", {"imputed_value_floats": [9.0], "replaced_value_float": 0.0}, (rows[:3],)),
        _case("Imputer", {"imputed_value_int64s": [3], "replaced_value_int64": 9}, (INTEGERS,),
              outputs={"y": ("int64", None)}),
        _case("LabelEncoder", {"keys_int64s": [1, 2, 1], "values_int64s": [5, 6, 7]}, (INTEGERS,),
              outputs={"y": ("int64", None)}, version=2),
        _case("LabelEncoder", {"keys_int64s": [1, 9], "values_floats": [0.5, 1.5],
                               "default_float": 3.0}, (INTEGERS,), version=2),
        _case("LabelEncoder", {"keys_floats": [1.0, -3.0], "values_int64s": [4, 6],
                               "default_int64": 8}, (rows[:3],),
              outputs={"y": ("int64", None)}, version=2),
        _case("OneHotEncoder", {"cats_int64s": [1, 2, -7]}, (INTEGERS,)),
        _case("OneHotEncoder", {"cats_int64s": [1, 2]}, (rows[:3] + np.float32(0.5),)),
        _case("FeatureVectorizer", {"inputdimensions": [2, 2]}, (INTEGERS, 2 * INTEGERS)),
    ]  # fmt: skip
    return made


def joined() -> Case:
    """A ColumnTransformer's: Concat of what ONNX infers no type of, behind another of these."""
    nodes = [
        helper.make_node("Scaler", ["x"], ["a"], "", "", "ai.onnx.ml", offset=[1.0], scale=[2.0]),
        helper.make_node("Normalizer", ["a"], ["b"], "", "", "ai.onnx.ml", norm="L1"),
        helper.make_node("Concat", ["b", "x"], ["y"], axis=1),
    ]
    model = make_model(nodes, {"x": ("float32", X.shape)}, {"y": ("float32", None)}, {})
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    return Case("joined columns", model, (X,))


def vector_cases() -> list[Case]:
    generator = np.random.default_rng(4)

    def numbers(count: int) -> list[float]:
        return [float(v) for v in generator.standard_normal(count).astype(np.float32)]

    kinds = {"LINEAR": [0.0, 0.0, 0.0], "RBF": [0.3, 0.0, 0.0], "POLY": [0.5, 1.0, 3.0],
             "SIGMOID": [0.4, 0.2, 0.0]}  # fmt: skip
    made = []
    for kind, parameters in kinds.items():
        said = {"kernel_type": kind, "kernel_params": parameters}
        made.append(_case("SVMRegressor", {**said, "support_vectors": numbers(15), "n_supports": 5,
                                           "coefficients": numbers(5), "rho": [0.5]}))  # fmt: skip
        for classes in (2, 3):
            sizes = [2, 3, 1][:classes]
            total, pairs = sum(sizes), classes * (classes - 1) // 2
            made.append(_case("SVMClassifier", {
                **said, "support_vectors": numbers(3 * total), "vectors_per_class": sizes,
                "coefficients": numbers((classes - 1) * total), "rho": numbers(pairs),
                "classlabels_ints": [7, 3, 5][:classes],
            }, outputs=CLASSES))  # fmt: skip
            made.append(_case("SVMClassifier", {
                **said, "support_vectors": numbers(3 * total), "vectors_per_class": sizes,
                "coefficients": numbers((classes - 1) * total), "rho": numbers(pairs),
                "classlabels_ints": [7, 3, 5][:classes], "prob_a": [-1.5, -2.0, -1.0][:pairs],
                "prob_b": [0.1, -0.2, 0.0][:pairs],
            }, outputs=CLASSES))  # fmt: skip
    one = {"support_vectors": numbers(6), "n_supports": 2, "rho": [-0.2], "one_class": 1}
    one |= {"coefficients": numbers(2), "kernel_params": [0.0, 0.0, 0.0], "kernel_type": "LINEAR"}
    made.append(_case("SVMRegressor", one))
    return made


@pytest.mark.needs_host_gcc
def test_they_are_onnxruntimes(tmp_path: Path) -> None:
    check_cases([*cases(), *linear_cases(), *row_cases(), *vector_cases(), joined()], tmp_path)
