"""Float models that quantization is tested with, and samples for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from sampling import is_sample

from mcu_deploy import formats
from mcu_deploy.files.samples import open_samples
from mcu_deploy.quantizing import choosing, equalizing, preparing
from mcu_deploy.quantizing.choosing import Trials


def model_of(
    nodes: Sequence[onnx.NodeProto],
    constants: Mapping[str, Any],
    inputs: Mapping[str, Sequence[int]],
    outputs: Mapping[str, Sequence[int]],
    opset: int = 17,
) -> onnx.ModelProto:
    """A model of these nodes; constants of real numbers are stored in float32."""

    def stored(value: Any) -> np.ndarray:
        array = np.asarray(value)
        return array.astype(np.float32) if array.dtype.kind == "f" else array

    def values(shapes: Mapping[str, Sequence[int]]) -> list[onnx.ValueInfoProto]:
        return [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, list(s)) for n, s in shapes.items()
        ]

    graph = helper.make_graph(
        list(nodes), "g", values(inputs), values(outputs),
        [numpy_helper.from_array(stored(v), n) for n, v in constants.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def results(model: onnx.ModelProto | Path, *inputs: np.ndarray) -> list[np.ndarray]:
    """What onnxruntime computes of one sample."""
    given = str(model) if isinstance(model, Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(given, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs, strict=True)))


def depthwise_net(spread: float = 1.0, seed: int = 0) -> onnx.ModelProto:
    """Conv, a depthwise and a pointwise one, each with BatchNormalization and Relu, a pool, a Gemm
    of four classes and a Softmax, of [1, 3, 8, 8]. spread: what the channels of the first are apart
    by, the loudest over the quietest."""
    random = np.random.default_rng(seed)
    gains = np.geomspace(1.0, spread, 8)

    def norm(k: int, scale: np.ndarray) -> dict[str, np.ndarray]:
        count = len(scale)
        return {
            f"g{k}": scale, f"s{k}": random.normal(size=count) * 0.1 * scale,
            f"m{k}": random.normal(size=count) * 0.1, f"v{k}": random.uniform(0.5, 2, count),
        }  # fmt: skip

    constants = {
        "w0": random.normal(size=(8, 3, 3, 3)) / 5,
        "w1": random.normal(size=(8, 1, 3, 3)) / gains[:, None, None, None] / 3,
        "w2": random.normal(size=(12, 8, 1, 1)) / 3,
        "wd": random.normal(size=(12, 4)), "bd": random.normal(size=4),
        **norm(0, gains), **norm(1, np.ones(8)), **norm(2, np.ones(12)),
    }  # fmt: skip
    nodes, x = [], "x"
    for k, more in enumerate(({"pads": [1] * 4}, {"pads": [1] * 4, "group": 8}, {})):
        names = [f"{n}{k}" for n in ("g", "s", "m", "v")]
        nodes += [
            helper.make_node("Conv", [x, f"w{k}"], [f"c{k}"], f"conv{k}", **more),
            helper.make_node("BatchNormalization", [f"c{k}", *names], [f"n{k}"]),
            helper.make_node("Relu", [f"n{k}"], [f"r{k}"]),
        ]
        x = f"r{k}"
    nodes += [
        helper.make_node("GlobalAveragePool", [x], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Identity", ["f"], ["i"]),
        helper.make_node("Gemm", ["i", "wd", "bd"], ["d"], "dense"),
        helper.make_node("Softmax", ["d"], ["y"]),
    ]
    return model_of(nodes, constants, {"x": [1, 3, 8, 8]}, {"y": [1, 4]})


def normalized_net() -> onnx.ModelProto:
    """A stream of sums that two layer normalizations read, between dense layers, of [1, 5, 4]."""
    random = np.random.default_rng(11)
    shapes = {"e": (4, 6), "a": (6, 6), "b": (6, 6), "o": (6, 3), "p": (1, 5, 6), "g": 6, "h": 6}
    constants = {name: random.normal(size=shape) + 0.3 for name, shape in shapes.items()}
    nodes = [
        helper.make_node("MatMul", ["x", "e"], ["u"]),
        helper.make_node("Add", ["u", "p"], ["s0"]),
        helper.make_node("LayerNormalization", ["s0", "g", "h"], ["n0"]),
        helper.make_node("MatMul", ["n0", "a"], ["d0"]),
        helper.make_node("Add", ["s0", "d0"], ["s1"]),
        helper.make_node("LayerNormalization", ["s1", "g", "h"], ["n1"]),
        helper.make_node("MatMul", ["n1", "o"], ["y"]),
    ]
    return model_of(nodes, constants, {"x": [1, 5, 4]}, {"y": [1, 5, 3]})


def dense_net(features: int, seed: int = 12) -> onnx.ModelProto:
    """Three dense layers with Relus between, of [1, features]."""
    random = np.random.default_rng(seed)
    shape = (features, features)
    constants = {f"w{k}": random.normal(size=shape) / features**0.5 for k in range(3)}
    nodes = [
        helper.make_node("Gemm", ["x", "w0"], ["a"], "d0"),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Gemm", ["b", "w1"], ["c"], "d1"),
        helper.make_node("Relu", ["c"], ["d"]),
        helper.make_node("Gemm", ["d", "w2"], ["y"], "d2"),
    ]
    return model_of(nodes, constants, {"x": [1, features]}, {"y": [1, features]})


def samples(count: int, shape: Sequence[int] = (1, 3, 8, 8), seed: int = 1) -> np.ndarray:
    """[count, *shape]: of a normal distribution."""
    return np.random.default_rng(seed).normal(size=(count, *shape)).astype(np.float32)


def prepared(model: onnx.ModelProto, folder: Path) -> preparing.Net:
    """The model, which is written to m.onnx, as it is before its layers are quantized."""
    onnx.save(model, folder / "m.onnx")
    return preparing.prepare(folder / "m.onnx")[1]


def trials(model: onnx.ModelProto, values: np.ndarray, folder: Path) -> Trials:
    """What tries recipes on these samples of the model's one input."""
    net = prepared(model, folder)
    np.savez(folder / "s.npz", in0=values)
    return Trials(net, open_samples(folder / "s.npz", formats.load(folder / "m.onnx")))


def try_one_recipe(patch: pytest.MonkeyPatch) -> None:
    """In the sample `quantize` tries one way to choose ranges, its biases corrected and not."""
    if is_sample():
        method = choosing.SAFE.method
        patch.setattr(choosing, "METHODS", {method: choosing.METHODS[method]})
        patch.setattr(equalizing, "KINDS", (equalizing.NONE,))
