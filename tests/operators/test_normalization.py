"""LayerNormalization and BatchNormalization on their own: device, oracle, onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from operators.lab import Case, check_cases, make_model


def _layer(axis: int, bias: bool, offset: float = 0.0) -> Case:
    rng = np.random.default_rng(axis + 9)
    shape = (2, 3, 4, 5)
    constants = {"g": rng.standard_normal(shape[axis:]).astype(np.float32)}
    if bias:
        constants["b"] = rng.standard_normal(shape[axis:]).astype(np.float32)
    node = helper.make_node(
        "LayerNormalization", ["x", *constants], ["y"], "ln", axis=axis, epsilon=1e-4
    )
    model = make_model([node], {"x": ("float32", shape)}, {"y": ("float32", None)}, constants)
    x = (rng.standard_normal(shape) * 3 + offset).astype(np.float32)
    return Case(f"layer {axis} {bias} {offset}", model, (x,))


def _batch(shape: tuple[int, ...], relu: bool, convolution: bool) -> Case:
    rng = np.random.default_rng(len(shape))
    channels = shape[1]
    constants = {
        "scale": rng.standard_normal(channels).astype(np.float32),
        "bias": rng.standard_normal(channels).astype(np.float32),
        "mean": rng.standard_normal(channels).astype(np.float32),
        "variance": rng.uniform(0.1, 2, channels).astype(np.float32),
    }
    names = list(constants)
    nodes = []
    source = "x"
    if convolution:
        # Read twice, so that the convolution cannot take the normalization in.
        constants["w"] = rng.standard_normal((channels, channels, 1, 1)).astype(np.float32)
        nodes.append(helper.make_node("Conv", ["x", "w"], ["c"]))
        source = "c"
    nodes.append(helper.make_node("BatchNormalization", [source, *names], ["n"], "bn"))
    last = "n"
    if relu:
        nodes.append(helper.make_node("Relu", ["n"], ["r"]))
        last = "r"
    op, reads = ("Sub", [last, source]) if convolution else ("Abs", [last])
    nodes.append(helper.make_node(op, reads, ["y"]))
    model = make_model(nodes, {"x": ("float32", shape)}, {"y": ("float32", None)}, constants)
    x = rng.standard_normal(shape).astype(np.float32)
    return Case(f"batch {shape} {relu} {convolution}", model, (x,))


@pytest.mark.needs_host_gcc
def test_normalization(tmp_path: Path) -> None:
    cases = [_layer(axis, bias) for axis in (-1, 1, 2, 3, -3) for bias in (False, True)]
    cases += [_layer(-1, True, 5.0)]
    cases += [
        _batch(shape, relu, convolution)
        for shape in ((2, 3, 4, 5), (4, 6), (1, 3, 7))
        for relu in (False, True)
        for convolution in (False, True)
        if len(shape) == 4 or not convolution
    ]
    check_cases(cases, tmp_path)
