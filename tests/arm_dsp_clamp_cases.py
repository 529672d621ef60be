"""Layers for ArmDsp whose clamp ends inside of the range of their output's bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Clamped:
    """op: Add, AveragePool, Conv, Depthwise, Gemm. shape: of the input, channels first; kernel: of
    one with windows; bounds: the least and the greatest element of the output, None of an absent
    bound; zero: the zero point of the output."""

    op: str
    shape: tuple[int, ...]
    bounds: tuple[int | None, int | None]
    filters: int = 8
    kernel: tuple[int, int] = (1, 1)
    zero: int = -5
    dtype: str = "int8"

    @property
    def y(self) -> Quantized:
        weighted = {"Conv": self.shape[0], "Gemm": self.shape[0]}.get(self.op, 1)
        taps = float(np.prod(self.kernel)) * weighted
        scale = 0.7 if self.op in ("Add", "AveragePool") else 40 * np.sqrt(taps)
        return Quantized(float(np.float32(scale)), self.zero, self.dtype)

    def add(self, model: LayersModel, random: np.random.Generator, name: str) -> None:
        x = model.input((1, *self.shape), Quantized(1.0, 3, self.dtype))
        if self.op == "Add":
            other = model.input((1, *self.shape), Quantized(0.3, 9, self.dtype))
            made = model.node("Add", [x, other], name)
        elif self.op == "AveragePool":
            made = model.node(self.op, [x], name, kernel_shape=self.kernel, strides=self.kernel)
        else:
            made = self._weighted(model, random, x, name)
        real = [
            "" if bound is None else model.constant(np.float32((bound - self.zero) * self.y.scale))
            for bound in self.bounds
        ]
        model.output(model.node("Clip", [made, *real]), self.y)

    def _weighted(self, model: LayersModel, random: np.random.Generator, x: str, name: str) -> str:
        channels = self.shape[0]
        filters = channels if self.op == "Depthwise" else self.filters
        depth = 1 if self.op == "Depthwise" else channels
        shape = (filters, depth) if self.op == "Gemm" else (filters, depth, *self.kernel)
        weights = np.clip(np.rint(random.normal(0, 40, shape)), -127, 127).astype(np.int8)
        scales = random.uniform(0.5, 2, filters)
        zeros = np.zeros(filters)
        w = model.dequantized(model.constant(weights), scales, zeros, "int8", axis=0)
        bias = random.integers(-8000, 8000, filters).astype(np.int32)
        b = model.dequantized(model.constant(bias), scales, zeros, "int32", axis=0)
        if self.op == "Gemm":
            return model.node("Gemm", [x, w, b], name, transB=1)
        group = channels if self.op == "Depthwise" else 1
        return model.node("Conv", [x, w, b], name, group=group)


TAKEN = (
    Clamped("Conv", (8, 5, 7), (-20, 60)),
    Clamped("Conv", (8, 3, 3), (None, 100), filters=5, zero=-128),
    Clamped("Conv", (3, 9, 8), (-127, 127), kernel=(3, 3), zero=-128),
    Clamped("Conv", (3, 6, 5), (90, 200), 6, (3, 3), zero=100, dtype="uint8"),
    Clamped("Conv", (16, 1, 1), (-5, None), filters=3),
    Clamped("Depthwise", (8, 7, 6), (-5, 44), kernel=(3, 3)),
    Clamped("Depthwise", (4, 9, 9), (0, 128), kernel=(5, 5), zero=0, dtype="uint8"),
    Clamped("Gemm", (64,), (-128, 3), filters=33),
    Clamped("Gemm", (20,), (17, 17), filters=21, zero=17),
    Clamped("Add", (1, 61), (-5, 50)),
    Clamped("AveragePool", (8, 6, 6), (0, 9), kernel=(2, 2), zero=0),
)
# Whose pass is priced against what it takes.
LARGE = Clamped("Add", (1, 4096), (-5, 50))


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, np.random.default_rng(n), f"clamped{n}"))
