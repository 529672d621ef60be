"""Layers of CpuRef's kernels with TFLite's arithmetic, side by side: for what they cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tflite
from tflite_models import Operator, Tensor, constant, int8, write

SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID
_CHANNELS = 8


class _Layers:
    """Collects layers of two inputs; each output goes through float32 to the one that joins all."""

    def __init__(self, plane: int) -> None:
        self.plane, self.shape = plane, (1, plane, plane, _CHANNELS)
        self.tensors: list[Tensor] = [
            int8("x", self.shape, 0.05, 3), int8("x2", self.shape, 0.06, -2),
            Tensor("real", self.shape),
        ]  # fmt: skip
        self.operators: list[Operator] = []
        self.names: set[str] = set()
        self._ends: list[tuple[str, int]] = []
        self._random = np.random.default_rng(3)

    def add(
        self, kind: str, inputs: Sequence[str], shape: Sequence[int] = (), table: str = "",
        scale: float = 0.07, zero: int = 1, **options: Any,
    ) -> None:  # fmt: skip
        """A layer, named by its output."""
        shape = tuple(shape) or self.shape
        name = f"{kind.lower()}_{len(self.names)}"
        self.names.add(name)
        self.tensors.append(int8(name, shape, scale, zero))
        self.operators.append(Operator(kind, tuple(inputs), (name,), table, options))
        count = math.prod(shape)
        size = np.array([1, count], np.int32)
        self.tensors += [
            Tensor(f"{name}:real", shape), constant(f"{name}:size", size),
            Tensor(f"{name}:flat", (1, count)),
        ]  # fmt: skip
        self.operators += [
            Operator("DEQUANTIZE", (name,), (f"{name}:real",)),
            Operator("RESHAPE", (f"{name}:real", f"{name}:size"), (f"{name}:flat",)),
        ]
        self._ends.append((f"{name}:flat", count))

    def extent(self, kernel: int, stride: int, padding: int) -> int:
        n = self.plane
        return -(-n // stride) if padding == SAME else (n - kernel) // stride + 1

    def pool(self, kind: str, kernel: int, stride: int, padding: int) -> None:
        n = self.extent(kernel, stride, padding)
        self.add(
            kind, ("x",), (1, n, n, _CHANNELS), "Pool2DOptions", 0.05, 3, Padding=padding,
            StrideH=stride, StrideW=stride, FilterHeight=kernel, FilterWidth=kernel,
        )  # fmt: skip

    def convolution(self, kernel: int, stride: int, padding: int, filters: int, more: int) -> None:
        """more: of a depthwise one the filters of a channel; 0 where it is none."""
        n, number = self.extent(kernel, stride, padding), len(self.names)
        shape = (1 if more else filters, kernel, kernel, filters if more else _CHANNELS)
        value = self._random.integers(-127, 128, shape, np.int8)
        scales = np.linspace(0.01, 0.02, filters).tolist()
        self.tensors += [
            constant(f"w{number}", value, scales, 3 if more else 0),
            constant(f"b{number}", np.zeros(filters, np.int32)),
        ]
        word = "DEPTHWISE_CONV_2D" if more else "CONV_2D"
        self.add(
            word, ("x", f"w{number}", f"b{number}"), (1, n, n, filters),
            "DepthwiseConv2DOptions" if more else "Conv2DOptions", 0.5, Padding=padding,
            StrideH=stride, StrideW=stride, DilationHFactor=1, DilationWFactor=1,
            **({"DepthMultiplier": more} if more else {}),
        )  # fmt: skip

    def content(self) -> bytes:
        self.tensors.append(Tensor("all", (1, sum(count for _, count in self._ends))))
        joined = Operator(
            "CONCATENATION", tuple(name for name, _ in self._ends), ("all",),
            "ConcatenationOptions", {"Axis": 1},
        )  # fmt: skip
        return write(self.tensors, [*self.operators, joined], ["x", "x2", "real"], ["all"])


def model(plane: int) -> tuple[bytes, set[str]]:
    """The file, and the names of its layers; plane: rows and columns of the inputs."""
    layers = _Layers(plane)
    layers.add("QUANTIZE", ("real",), scale=0.05, zero=3)
    layers.add("QUANTIZE", ("x",), scale=0.031, zero=5)
    for word in ("ADD", "SUB", "MUL"):
        layers.add(word, ("x", "x2"), table=f"{word.capitalize()}Options")
    layers.add("LOGISTIC", ("x",), scale=1 / 256, zero=-128)
    layers.add("TANH", ("x",), scale=1 / 128, zero=0)
    layers.add("HARD_SWISH", ("x",))
    layers.tensors.append(constant("resized", np.array([2 * plane, 2 * plane + 1], np.int32)))
    layers.add(
        "RESIZE_BILINEAR", ("x", "resized"), (1, 2 * plane, 2 * plane + 1, _CHANNELS),
        "ResizeBilinearOptions", 0.05, 3, HalfPixelCenters=True,
    )  # fmt: skip
    layers.add("LEAKY_RELU", ("x",), table="LeakyReluOptions", Alpha=0.1)
    layers.add("SOFTMAX", ("x",), (), "SoftmaxOptions", 1 / 256, -128, Beta=1.0)
    for word in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
        for kernel, stride, padding in ((2, 2, VALID), (3, 2, SAME), (3, 1, SAME), (4, 4, VALID)):
            layers.pool(word, kernel, stride, padding)
    layers.tensors.append(constant("axes", np.array([1, 2], np.int32)))
    layers.tensors.append(constant("last", np.array([3], np.int32)))
    layers.add("MEAN", ("x", "axes"), (1, _CHANNELS), "ReducerOptions")
    layers.add("MEAN", ("x", "last"), (1, plane, plane), "ReducerOptions")
    layers.add("SUM", ("x", "axes"), (1, _CHANNELS), "ReducerOptions", 1.0)
    for kernel, stride, padding, filters, more in (
        (3, 1, VALID, 8, 1), (3, 1, SAME, 8, 1), (3, 2, SAME, 16, 2), (5, 1, VALID, 8, 1),
        (3, 1, VALID, 6, 0), (3, 2, SAME, 16, 0), (1, 1, VALID, 16, 0),
    ):  # fmt: skip
        layers.convolution(kernel, stride, padding, filters, more)
    return layers.content(), layers.names
