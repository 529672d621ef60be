"""Operators of com.microsoft that are read as what they are made of: device, oracle and
onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper
from operators.lab import Array, Case, check_cases, make_model

_RNG = np.random.default_rng(5)


def _case(
    op: str,
    inputs: tuple[Array, ...],
    constants: Mapping[str, Array] | None = None,
    **attributes: Any,
) -> Case:
    names = [f"x{k}" for k in range(len(inputs))]
    given = [*names[:1], *(constants or {}), *names[1:]]
    node = helper.make_node(op, given, ["y"], op, "", "com.microsoft", **attributes)
    types = {n: (v.dtype.name, v.shape) for n, v in zip(names, inputs, strict=True)}
    model = make_model([node], types, {"y": ("float32", None)}, constants)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return Case(f"{op} {attributes}", model, inputs)


def _reads(case: Case, *names: str) -> Case:
    """The case with a node that reads these."""
    case.model.graph.node[0].input[:] = names
    return case


def _real(*shape: int) -> Array:
    return _RNG.standard_normal(shape).astype(np.float32)


def _attention() -> list[Case]:
    keys = (_real(2, 3, 8), _real(2, 5, 8), _real(2, 5, 4))
    biased = _case("MultiHeadAttention", keys, num_heads=2)
    biased.model.graph.node[0].input.extend(["bias", "", "added"])
    for name, value in (("bias", _real(20)), ("added", _real(1, 2, 3, 5))):
        biased.model.graph.initializer.append(numpy_helper.from_array(value, name))
    weights = {"w": _real(6, 14), "b": _real(14)}
    own, masked = {"w": _real(8, 12), "b": _real(12)}, _real(2, 4, 8)
    some = np.array([[1, 0, 1, -1], [0, 1, 1, 1]], np.int32)
    return [
        _case("Attention", (_real(2, 3, 8),), {"w": _real(8, 12), "b": _real(12)}, num_heads=2),
        _case(
            "Attention", (_real(1, 4, 6),), weights, num_heads=2, qkv_hidden_sizes=[4, 4, 6],
            unidirectional=1, scale=0.3,
        ),
        _case("Attention", (masked, np.array([3, 4, 1, 0], np.int32)), own, num_heads=2),
        _case("Attention", (masked, some), own, num_heads=2, mask_filter_value=-2.0),
        _case("MultiHeadAttention", keys, num_heads=2, unidirectional=0),
        _case("MultiHeadAttention", keys, num_heads=2, unidirectional=1),
        *(
            _reads(
                _case("MultiHeadAttention", (*keys, mask), num_heads=2), "x0", "x1", "x2", "", "x3"
            )
            for mask in (np.array([2, 5], np.int32), _RNG.integers(0, 2, (2, 3, 5), np.int32))
        ),
        biased,
    ]  # fmt: skip


def cases() -> list[Case]:
    x, image = _real(3, 8), _real(1, 2, 5, 6)
    kernel = {"w": _real(4, 2, 3, 3), "b": _real(4)}
    conv = {"kernel_shape": [3, 3], "pads": [1, 0, 1, 0]}
    return [
        _case("Gelu", (4 * x,)),
        _case("FastGelu", (4 * x,)),
        _case("FastGelu", (4 * x,), {"bias": _real(8)}),
        _case("BiasGelu", (4 * x,), {"bias": _real(8)}),
        _case("QuickGelu", (x,)),
        _case("QuickGelu", (x,), alpha=0.7),
        *_attention(),
        _case("FusedMatMul", (x,), {"w": _real(8, 5)}, alpha=0.25),
        _case("FusedMatMul", (_real(2, 4, 3), _real(2, 5, 4)), transA=1, transB=1),
        _case(
            "FusedMatMul", (_real(4, 2, 3), _real(5, 2, 3)), transBatchA=1, transBatchB=1, transB=1
        ),
        _case("FusedMatMul", (_real(4, 2, 3), _real(2, 4, 5)), transBatchA=1, transA=1),
        _case("FusedGemm", (x,), {"w": _real(5, 8), "b": _real(5)}, transB=1, activation="Tanh"),
        _case(
            "FusedGemm", (x,), {"w": _real(8, 5)}, alpha=0.5, activation="LeakyRelu",
            activation_alpha=0.2,
        ),
        _case(
            "SkipLayerNormalization", (_real(1, 3, 8),),
            {"skip": _real(1, 3, 8), "gamma": _real(8), "beta": _real(8), "bias": _real(8)},
            epsilon=1e-5,
        ),
        _case("FusedConv", (image,), kernel, **conv),
        _case("FusedConv", (image,), kernel, activation="Relu", **conv),
        _case(
            "FusedConv", (image,), kernel, activation="Clip", activation_params=[-0.5, 1.5], **conv
        ),
        _case(
            "FusedConv", (image,), kernel, activation="HardSigmoid", activation_params=[0.3, 0.4],
            **conv,
        ),
        _case("FusedConv", (image, _real(1, 4, 5, 4)), kernel, activation="Sigmoid", **conv),
        # One input is absent, and one is read twice.
        _reads(
            _case("FusedConv", (image, _real(1, 4, 5, 4)), {"w": kernel["w"]}, **conv),
            "x0", "w", "", "x1",
        ),
        _reads(
            _case("SkipLayerNormalization", (_real(1, 3, 8),), {"g": _real(8), "b": _real(8)}),
            "x0", "x0", "g", "b",
        ),
    ]  # fmt: skip


@pytest.mark.needs_host_gcc
def test_they_are_onnxruntimes(tmp_path: Path) -> None:
    check_cases(cases(), tmp_path)
