"""Convolutions with a pool behind them, for ArmDsp's strips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Pooled:
    """shape: channels, rows, columns of the input. kernel, strides, pads: of the convolution;
    window, steps: of the pool. zeros: of the input, the convolution's output and the pool's.
    between: a function of an element in front of the pool."""

    shape: tuple[int, int, int]
    filters: int
    op: str = "MaxPool"
    window: tuple[int, int] = (2, 2)
    steps: tuple[int, int] = (2, 2)
    kernel: tuple[int, int] = (3, 3)
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    zeros: tuple[int, int, int] = (-128, -128, -128)
    dtype: str = "int8"
    pool_pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    between: str = ""

    def add(self, model: LayersModel, random: np.random.Generator) -> None:
        scale, shape = 0.0403936, (self.filters, self.shape[0], *self.kernel)
        x = model.input((1, *self.shape), Quantized(scale, self.zeros[0], self.dtype))
        scales = random.uniform(0.02, 0.04, shape[0]) / np.sqrt(np.prod(shape[1:]))
        weights = np.clip(np.rint(random.normal(0, 40, shape)), -127, 127)
        kept = model.constant(weights.astype(np.int8))
        w = model.dequantized(kept, scales, np.zeros(shape[0]), "int8", axis=0)
        kept = model.constant(random.integers(-3000, 3000, shape[0]).astype(np.int32))
        b = model.dequantized(kept, scales * scale, np.zeros(shape[0]), "int32", axis=0)
        y = model.node("Conv", [x, w, b], strides=self.strides, pads=self.pads)
        y = model.quantized(y, Quantized(scale, self.zeros[1], self.dtype))
        if self.between:
            y = model.node(self.between, [y])
            y = model.quantized(y, Quantized(0.0271, self.zeros[1], self.dtype))
            scale = 0.0271
        y = model.node(
            self.op, [y], kernel_shape=self.window, strides=self.steps, pads=self.pool_pads
        )
        is_same = self.op == "MaxPool"
        model.output(
            y, Quantized(scale * (1 if is_same else 0.7), self.zeros[1 + (not is_same)], self.dtype)
        )


_NONE = (0, 0, 0, 0)
# As in a model of the zoo, its windows half as wide.
SPEECH = Pooled((1, 49, 20), 16, "MaxPool", (2, 2), (2, 2), (10, 8), pads=(4, 3, 5, 4))
TAKEN = (
    SPEECH,
    Pooled((4, 16, 15), 8, "AveragePool", zeros=(3, -7, 9)),
    Pooled((8, 21, 12), 12, "MaxPool", (3, 3), (2, 2), zeros=(127, 0, 0)),
    Pooled((3, 33, 20), 8, "AveragePool", (3, 2), (1, 2), strides=(2, 2), zeros=(9, -128, 127)),
    Pooled((12, 18, 10), 4, "MaxPool", (2, 5), (2, 5), (1, 1), pads=_NONE),
    Pooled((8, 17, 14), 20, "AveragePool", (2, 14), (2, 14), zeros=(0, 0, -3)),
    Pooled((4, 24, 9), 8, "MaxPool", (4, 3), (4, 3), (5, 5), pads=(2, 2, 2, 2), dtype="uint8",
           zeros=(0, 130, 130)),
    Pooled((8, 12, 13), 8, "AveragePool", (3, 3), (3, 3), pads=(0, 1, 2, 1), dtype="uint8",
           zeros=(255, 17, 0)),
    Pooled((4, 12, 10), 6, "MaxPool", zeros=(0, -128, -128)),
    Pooled((4, 18, 12), 8, "MaxPool", (3, 3), (2, 2), zeros=(5, -20, 0), between="LeakyRelu"),
    Pooled((8, 16, 15), 8, "AveragePool", dtype="uint8", zeros=(3, 99, 7), between="HardSwish"),
)  # fmt: skip
# Which are two layers: windows with gaps between them, padding, a pool of the whole image.
OTHERS = (
    Pooled((8, 16, 16), 8, "MaxPool", (2, 2), (3, 3)),
    Pooled((8, 16, 16), 8, "MaxPool", (3, 3), (2, 2), pool_pads=(1, 1, 1, 1)),
    Pooled((8, 8, 8), 8, "AveragePool", (8, 8), (8, 8)),
)


model = side_by_side(lambda case, made, n: case.add(made, np.random.default_rng(n)))
