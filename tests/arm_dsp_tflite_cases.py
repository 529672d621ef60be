"""Layers of TFLite for ArmDsp, which round twice: of many shapes, at the ends of the range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tflite
from sampling import examples
from tflite_models import Operator, Tensor, constant, write

from mcu_deploy import formats


class LayersFile:
    """A .tflite file of layers side by side; of each the input and the output are the model's."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []

    def tensor(
        self, name: str, shape: Sequence[int], scale: float, zero: int, dtype: str = "int8"
    ) -> str:
        shapes = tuple(shape)
        self.tensors.append(Tensor(name, shapes, dtype.upper(), (scale,), (zero,)))
        return name

    def constant(
        self, name: str, value: np.ndarray, scale: Sequence[float] = (), axis: int = 0
    ) -> str:
        self.tensors.append(constant(name, value, scale, axis))
        return name

    def layer(
        self, kind: str, inputs: Sequence[str], output: str, table: str, options: dict[str, Any]
    ) -> None:
        self.operators.append(Operator(kind, tuple(inputs), (output,), table, options))
        given = {t.name for t in self.tensors if t.value is not None}
        self.inputs += [name for name in inputs if name and name not in given]
        self.outputs.append(output)

    def save(self, path: Path) -> Path:
        path.write_bytes(write(self.tensors, self.operators, self.inputs, self.outputs))
        return path


RELU = tflite.ActivationFunctionType.RELU
RELU6 = tflite.ActivationFunctionType.RELU6


@dataclass(frozen=True)
class Mean:
    """A mean over rows and columns. zeros: of input and output; scale: of the output, against the
    input's."""

    shape: tuple[int, int, int, int]
    zeros: tuple[int, int] = (3, -5)
    scale: float = 1.0
    keeps: bool = False

    def add(self, file: LayersFile, name: str) -> None:
        batch, _, _, channels = self.shape
        axes = file.constant(f"{name}_axes", np.array([1, 2], np.int32))
        shape = (batch, 1, 1, channels) if self.keeps else (batch, channels)
        inputs = [file.tensor(f"{name}_x", self.shape, 0.05, self.zeros[0]), axes]
        y = file.tensor(name, shape, 0.05 * self.scale, self.zeros[1])
        file.layer("MEAN", inputs, y, "ReducerOptions", {"KeepDims": self.keeps})


@dataclass(frozen=True)
class Dense:
    """zeros: the zero points of input and output; scale: of the output, against a middling one;
    is_extreme: weights of -127 and 127 only."""

    rows: int
    taps: int
    outputs: int
    is_per_channel: bool = False
    zeros: tuple[int, int] = (3, -5)
    scale: float = 1.0
    is_extreme: bool = False
    activation: int = 0

    def add(self, file: LayersFile, name: str) -> None:
        random = np.random.default_rng(len(file.tensors))
        shape = (self.outputs, self.taps)
        weights = np.clip(np.rint(random.normal(0, 40, shape)), -127, 127)
        if self.is_extreme:
            weights = random.choice([-127, 127], shape)
        scales = random.uniform(0.5, 2, self.outputs) if self.is_per_channel else np.array([0.7])
        bias = random.integers(-8000, 8000, self.outputs).astype(np.int32)
        inputs = [
            file.tensor(f"{name}_x", (self.rows, self.taps), 1.0, self.zeros[0]),
            file.constant(f"{name}_w", weights.astype(np.int8), scales.tolist()),
            file.constant(f"{name}_b", bias),
        ]
        product = float(self.scale * 40 * np.sqrt(self.taps))
        y = file.tensor(name, (self.rows, self.outputs), product, self.zeros[1])
        options = {"FusedActivationFunction": self.activation}
        file.layer("FULLY_CONNECTED", inputs, y, "FullyConnectedOptions", options)


@dataclass(frozen=True)
class Conv:
    """A convolution with as much padding as keeps the plane. zeros: of input and output; scale: of
    the output, against a middling one; spread: of the filters' factors."""

    channels: int
    filters: int
    plane: tuple[int, int]
    kernel: tuple[int, int] = (1, 1)
    zeros: tuple[int, int] = (3, -5)
    is_extreme: bool = False
    activation: int = 0
    scale: float = 1.0
    spread: float = 2.0

    def add(self, file: LayersFile, name: str) -> None:
        random = np.random.default_rng(len(file.tensors))
        shape = (self.filters, *self.kernel, self.channels)
        weights = np.clip(np.rint(random.normal(0, 40, shape)), -128, 127)
        if self.is_extreme:
            weights = random.choice([-127, 127], shape)
        scales = random.uniform(1 / self.spread, self.spread, self.filters)
        bias = random.integers(-8000, 8000, self.filters).astype(np.int32)
        inputs = [
            file.tensor(f"{name}_x", (1, *self.plane, self.channels), 1.0, self.zeros[0]),
            file.constant(f"{name}_w", weights.astype(np.int8), scales.tolist()),
            file.constant(f"{name}_b", bias),
        ]
        product = float(self.scale * 40 * np.sqrt(np.prod(shape[1:])))
        y = file.tensor(name, (1, *self.plane, self.filters), product, self.zeros[1])
        window = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1}
        options = {**window, "DilationHFactor": 1, "DilationWFactor": 1}
        options["FusedActivationFunction"] = self.activation
        file.layer("CONV_2D", inputs, y, "Conv2DOptions", options)


@dataclass(frozen=True)
class Depthwise:
    """A depthwise convolution whose factors are from far below 1 to hardly below it, or to
    `most`."""

    channels: int
    plane: tuple[int, int]
    kernel: tuple[int, int]
    zeros: tuple[int, int] = (3, -5)
    most: float = 0.99

    def add(self, file: LayersFile, name: str) -> None:
        random = np.random.default_rng(len(file.tensors))
        factors = np.geomspace(0.0005, self.most, self.channels)
        shape = (1, *self.kernel, self.channels)
        weights = np.clip(np.rint(random.normal(0, 0.4 / factors, shape)), -128, 127)
        bias = random.integers(-90, 90, self.channels).astype(np.int32)
        shape = (1, *self.plane, self.channels)
        inputs = [
            file.tensor(f"{name}_x", shape, 1.0, self.zeros[0]),
            file.constant(f"{name}_w", weights.astype(np.int8), factors.tolist(), axis=3),
            file.constant(f"{name}_b", bias),
        ]
        y = file.tensor(name, shape, 1.0, self.zeros[1])
        window = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1}
        options = {**window, "DilationHFactor": 1, "DilationWFactor": 1, "DepthMultiplier": 1}
        file.layer("DEPTHWISE_CONV_2D", inputs, y, "DepthwiseConv2DOptions", options)


@dataclass(frozen=True)
class Pool:
    op: str
    channels: int
    plane: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    dtype: str = "int8"
    is_same: bool = False
    activation: int = 0

    def add(self, file: LayersFile, name: str) -> None:
        sizes = zip(self.plane, self.kernel, self.strides, strict=True)
        out = [-(-(size if self.is_same else size - k + 1) // step) for size, k, step in sizes]
        x = file.tensor(f"{name}_x", (1, *self.plane, self.channels), 0.1, 7, self.dtype)
        y = file.tensor(name, (1, *out, self.channels), 0.1, 7, self.dtype)
        (down, right), (height, width) = self.strides, self.kernel
        options = {
            "Padding": tflite.Padding.SAME if self.is_same else tflite.Padding.VALID,
            "StrideH": down, "StrideW": right,
            "FilterHeight": height, "FilterWidth": width,
            "FusedActivationFunction": self.activation,
        }  # fmt: skip
        file.layer(f"{self.op}_POOL_2D", [x], y, "Pool2DOptions", options)


@dataclass(frozen=True)
class Binary:
    """A sum, difference or product of two tensors, or with a constant number. scales and zeros: of
    both operands and the output. rows: of the first operand, where the second has one."""

    op: str
    elements: int
    scales: tuple[float, float, float] = (0.0393936, 0.1041950, 0.0447614)
    zeros: tuple[int, int, int] = (-128, 4, -17)
    number: int | None = None
    dtype: str = "int8"
    activation: int = 0
    rows: int = 1

    def add(self, file: LayersFile, name: str) -> None:
        shape = (1, self.elements)
        whole = (self.rows, self.elements)
        a = file.tensor(f"{name}_a", whole, self.scales[0], self.zeros[0], self.dtype)
        if self.number is None:
            b = file.tensor(f"{name}_b", shape, self.scales[1], self.zeros[1], self.dtype)
        else:
            value = np.array(self.number, np.dtype(self.dtype))
            b = file.constant(f"{name}_b", value, (self.scales[1],))
        y = file.tensor(name, whole, self.scales[2], self.zeros[2], self.dtype)
        options = {"FusedActivationFunction": self.activation}
        file.layer(self.op, [a, b], y, f"{self.op.title()}Options", options)


@dataclass(frozen=True)
class Softmax:
    """scale: of the input, by which a flat row and a steep one differ."""

    shape: tuple[int, ...]
    scale: float
    beta: float = 1.0
    dtype: str = "int8"

    def add(self, file: LayersFile, name: str) -> None:
        x = file.tensor(f"{name}_x", self.shape, self.scale, 9, self.dtype)
        y = file.tensor(name, self.shape, 1 / 256, -128 if self.dtype == "int8" else 0, self.dtype)
        file.layer("SOFTMAX", [x], y, "SoftmaxOptions", {"Beta": self.beta})


Case = Binary | Conv | Dense | Depthwise | Mean | Pool | Softmax
# A model has 16 inputs and outputs at most. The first is of nearly all kinds.
MODELS: dict[str, tuple[Case, ...]] = {
    "mixed": (
        Binary("ADD", 45),
        Binary("MUL", 37, (0.0039, 0.0157, 0.0078), number=127),
        Conv(8, 6, (3, 5)),
        Pool("AVERAGE", 16, (6, 7), (2, 3), (2, 2)),
        Dense(1, 64, 12, zeros=(-128, -128)),
        Dense(3, 21, 6, zeros=(-7, -128), is_per_channel=True),
        Dense(2, 136, 9, is_extreme=True, scale=200, zeros=(127, 127)),
    ),
    "softmax": (
        Softmax((30, 2), 0.02),
        Softmax((30, 3), 0.1),
        Softmax((20, 4), 0.011, beta=0.5),
        Softmax((5, 4, 5), 9.0),
        Softmax((20, 11), 0.05, beta=3.0),
        Softmax((64, 32), 0.07),
        Softmax((4, 130), 0.03),
        Softmax((1, 2048), 0.004),
        Softmax((6, 7), 0.09, dtype="uint8"),
        Softmax((20, 32), 0.03, dtype="uint8"),
    ),
    "clamped": (
        Binary("ADD", 45, activation=RELU6),
        Binary("SUB", 65, (0.7012939, 0.9009173, 0.1003391), (-5, 6, -7), activation=RELU),
        Binary("ADD", 33, zeros=(0, 255, 9), dtype="uint8", activation=RELU6),
        Conv(8, 6, (3, 5), activation=RELU),
        Conv(3, 8, (6, 7), (3, 3), zeros=(127, -127), activation=RELU),
        Dense(3, 21, 6, zeros=(-7, 0), is_per_channel=True, activation=RELU),
    ),
    "sums": (
        Binary("ADD", 8, (0.05, 0.05, 0.05), (0, 0, 0)),
        Binary("ADD", 31, (0.0310177, 0.0770329, 0.0501713), (127, -128, 127)),
        Binary("SUB", 22, (0.2003413, 0.0100371, 0.0602311), (-128, 127, -128)),
        Binary("SUB", 65, (0.7012939, 0.9009173, 0.1003391), (-5, 6, -7), number=99),
        Binary("ADD", 63, (0.0301241, 0.0401339, 0.0702713), (0, 255, 0), dtype="uint8"),
    ),
    "products": (
        Binary("MUL", 64, (0.0123127, 0.0321547, 0.0171337), (12, -128, 5)),
        Binary("MUL", 47, (0.0931271, 0.0871547, 0.9113371), (127, -128, -128)),
        Binary("MUL", 33, (0.0310177, 0.0770329, 0.0501713), (127, -128, 127)),
        Binary("MUL", 6, (0.0301241, 0.0401339, 0.0702713), (0, 255, 0), dtype="uint8"),
    ),
    "broadcast": (
        Binary("SUB", 22, (0.2003413, 0.0100371, 0.0602311), (-128, 127, -128), rows=3),
        Binary("MUL", 16, (0.0123127, 0.0321547, 0.0171337), (12, -128, 5), rows=5),
        Binary("MUL", 1, (0.0931271, 0.0871547, 0.9113371), (127, -128, -128), rows=30),
    ),
    "pools": (
        Pool("AVERAGE", 64, (25, 5), (25, 5)),
        Pool("AVERAGE", 8, (8, 8), (8, 8)),
        Pool("AVERAGE", 4, (3, 2), (1, 1)),
        Pool("AVERAGE", 20, (7, 9), (3, 2), (2, 3)),
        Pool("AVERAGE", 12, (16, 16), (16, 16)),
        Pool("AVERAGE", 8, (20, 30), (20, 30)),
        Pool("AVERAGE", 16, (4, 6), (2, 6), dtype="uint8"),
        Pool("MAX", 12, (7, 9), (3, 2), (2, 3), is_same=True),
    ),
    "means": (
        Mean((1, 6, 4, 40)),
        Mean((1, 7, 7, 20), zeros=(-128, -128), scale=0.4, keeps=True),
        Mean((2, 5, 9, 8), zeros=(127, 100), scale=0.8),
        Mean((1, 30, 20, 4), zeros=(-7, 0), scale=0.2),
        Mean((1, 2, 1, 16), zeros=(-128, 5), scale=1.4),
        Mean((1, 16, 16, 16), zeros=(-128, -128)),
        Mean((1, 23, 23, 16), zeros=(40, 127), scale=0.03),
    ),
    "padded pools": (
        Pool("AVERAGE", 16, (6, 7), (3, 3), is_same=True),
        Pool("AVERAGE", 20, (7, 9), (4, 5), (2, 3), is_same=True),
        Pool("AVERAGE", 8, (5, 6), (2, 2), (2, 1), dtype="uint8", is_same=True),
        Pool("AVERAGE", 4, (17, 12), (16, 15), dtype="uint8", is_same=True),
        Pool("AVERAGE", 12, (20, 18), (13, 16), (3, 2), is_same=True),
    ),
    "convolutions": (
        Conv(4, 4, (5, 5), is_extreme=True, zeros=(-128, 127)),
        Conv(7, 5, (4, 3), zeros=(-1, 0)),
        Conv(3, 8, (6, 7), (3, 3), zeros=(127, -127)),
        Conv(4, 3, (6, 4), (2, 5)),
        Conv(22, 6, (1, 1)),
        Depthwise(12, (5, 6), (3, 3)),
        Depthwise(7, (4, 7), (5, 3)),
        Dense(1, 810, 5, is_extreme=True, is_per_channel=True),
    ),
    "dense": (
        Dense(1, 640, 128),
        Dense(1, 1, 1),
        Dense(1, 7, 3, zeros=(-128, 127)),
        Dense(2, 12, 10, is_per_channel=True, scale=0.05),
        Dense(2, 8, 4, is_extreme=True, scale=4),
        Dense(1, 250, 18, is_per_channel=True, is_extreme=True, scale=300, zeros=(0, 100)),
        Dense(1, 30, 5, zeros=(0, 0), scale=2000),
        Dense(1, 810, 5, is_extreme=True, zeros=(-3, 4)),
        Dense(1, 16, 1, zeros=(-128, 14), scale=2),
    ),
}


def model(cases: Sequence[Case], path: Path) -> Path:
    """The outputs are called by the numbers of the cases."""
    file = LayersFile()
    for index, case in enumerate(cases):
        case.add(file, f"y{index}")
    return file.save(path)


def extremes(path: Path) -> Path:
    """Samples of such a model beside it: random, the end of the range that is farther from zero
    (where sums are largest), the other end, and either of both. In the sample the first two."""
    graph, random = formats.load(path), np.random.default_rng(7)
    arrays: dict[str, np.ndarray] = {}
    for edge in graph.inputs:
        (low, high), shape = graph.type(edge).dtype.range, graph.type(edge).shape
        near, far = sorted((low, high), key=abs)
        rows = [
            random.integers(low, high + 1, shape), np.full(shape, far), np.full(shape, near),
            random.choice([low, high], shape),
        ][: examples(4, 2)]  # fmt: skip
        arrays[graph.edge_name(edge)] = np.stack(rows).astype(graph.type(edge).dtype.numpy)
    np.savez(samples := path.with_suffix(".npz"), **arrays)
    return samples
