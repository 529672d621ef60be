"""Networks that fork, made by hand: int8, quantized per tensor, with branches of convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]

SIZE = 12  # of the images, in both directions
_SCALE, _ZERO = 0.05, -3  # of all activations: Concat then copies


class _Writer:
    """Collects QDQ nodes, quantized per tensor, and their constants."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.constant("scale", np.float32(_SCALE))
        self.constant("zero", np.int8(_ZERO))

    def constant(self, name: str, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [output], output, **attributes))
        return output

    def real(self, name: str) -> str:
        made = f"{name}_real"
        if any(made in node.output for node in self.nodes):
            return made
        return self.node("DequantizeLinear", [name, "scale", "zero"], made)

    def quantized(self, name: str) -> str:
        return self.node("QuantizeLinear", [name, "scale", "zero"], f"{name}_int8")

    def op(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """An operator between quantized tensors."""
        result = self.node(op, [self.real(name) for name in inputs], output, **attributes)
        return self.quantized(result)

    def conv(self, source: str, output: str, channels: tuple[int, int], size: int) -> str:
        """A convolution that keeps height and width, and a Relu; channels: into and out of it."""
        fan_in = channels[0] * size * size
        weights = self.random.integers(-127, 128, (channels[1], channels[0], size, size), np.int8)
        bias = self.random.integers(-2000, 2000, channels[1], np.int32)
        scale = np.float32(1 / (73 * np.sqrt(fan_in)))  # the values neither vanish nor saturate
        zero = self.constant(f"{output}_w_zero", np.int8(0))
        parameters = []
        for name, value, unit, at in (
            ("w", weights, scale, zero),
            ("b", bias, np.float32(scale * _SCALE), ""),
        ):
            stored = self.constant(f"{output}_{name}", value)
            unit_name = self.constant(f"{stored}_scale", unit)
            inputs = [stored, unit_name, *([at] if at else [])]
            parameters.append(self.node("DequantizeLinear", inputs, f"{stored}_real"))
        pads = (size // 2,) * 4
        made = self.node(
            "Conv", [self.real(source), *parameters], f"{output}_sum",
            kernel_shape=(size, size), pads=pads,
        )  # fmt: skip
        return self.quantized(self.node("Relu", [made], output))


def model(*forks: Sequence[int], channels: int = 16, seed: int = 0) -> onnx.ModelProto:
    """An image classifier: a stem, then forks one after the other, then a head.

    forks: of each, how many 3x3 convolutions each branch has; behind it Concat and a 1x1
    convolution bring the branches together. A fork of one branch is a chain. Input "image": int8
    (1, 3, 12, 12); output "classes": int8 (1, channels, 1, 1).
    """
    writer = _Writer(seed)
    edge = writer.conv("image", "stem", (3, channels), 3)
    for number, depths in enumerate(forks):
        ends = []
        for branch, depth in enumerate(depths):
            end = edge
            for layer in range(depth):
                name = f"fork{number}_branch{branch}_{layer}"
                end = writer.conv(end, name, (channels, channels), 3)
            ends.append(end)
        name = f"fork{number}_joined"
        joined = ends[0] if len(ends) == 1 else writer.op("Concat", ends, name, axis=1)
        edge = writer.conv(joined, f"fork{number}_mixed", (channels * len(ends), channels), 1)
    return _classifier(writer, edge, channels)


def residual(channels: int = 8, seed: int = 0) -> onnx.ModelProto:
    """An image classifier: a stem, a convolution, the sum of both. Input and output as `model`."""
    writer = _Writer(seed)
    stem = writer.conv("image", "stem", (3, channels), 3)
    inner = writer.conv(stem, "inner", (channels, channels), 3)
    return _classifier(writer, writer.op("Add", [stem, inner], "sum"), channels)


def _classifier(writer: _Writer, edge: str, channels: int) -> onnx.ModelProto:
    """The mean of each plane of the last tensor, and all that was written before."""
    classes = writer.op("GlobalAveragePool", [edge], "pooled")
    graph = helper.make_graph(
        writer.nodes, "branchy",
        [helper.make_tensor_value_info("image", TensorProto.INT8, (1, 3, SIZE, SIZE))],
        [helper.make_tensor_value_info(classes, TensorProto.INT8, (1, channels, 1, 1))],
        writer.constants,
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def samples(count: int = 3, seed: int = 1) -> list[Array]:
    """Images for the model."""
    random = np.random.default_rng(seed)
    return [random.integers(-128, 128, (1, 3, SIZE, SIZE), np.int8) for _ in range(count)]
