"""Convolutions with a function of a byte behind them, for ArmDsp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side

_NONE = (0, 0, 0, 0)


@dataclass(frozen=True)
class Looked:
    """shape: channels, rows, columns of the input. zeros: of the input, what is between, the
    output. tied: factors of the filters are powers of two, so that no integers round them."""

    function: str
    shape: tuple[int, int, int]
    filters: int
    kernel: tuple[int, int] = (1, 1)
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = _NONE
    group: int = 1
    zeros: tuple[int, int, int] = (3, -7, -128)
    dtype: str = "int8"
    tied: bool = False

    def add(self, model: LayersModel, random: np.random.Generator, name: str) -> None:
        depth = self.shape[0] // self.group
        shape = (self.filters, depth, *self.kernel)
        x = model.input((1, *self.shape), Quantized(1.0, self.zeros[0], self.dtype))
        weights = np.clip(np.rint(random.normal(0, 40, shape)), -127, 127).astype(np.int8)
        scales = random.uniform(0.5, 2, self.filters) if not self.tied else np.ones(self.filters)
        zeros = np.zeros(self.filters)
        w = model.dequantized(model.constant(weights), scales, zeros, "int8", axis=0)
        bias = random.integers(-8000, 8000, self.filters).astype(np.int32)
        b = model.dequantized(model.constant(bias), scales, zeros, "int32", axis=0)
        how = {"strides": self.strides, "pads": self.pads, "group": self.group}
        y = model.node("Conv", [x, w, b], name, **how)
        scale = 64.0 if self.tied else float(np.float32(40 * np.sqrt(np.prod(shape[1:]))))
        y = model.quantized(y, Quantized(scale, self.zeros[1], self.dtype))
        # Functions with their bend or their poles inside of the range.
        y = model.node("Mul", [y, model.constant(np.float32(4 / scale))])
        y = model.quantized(y, Quantized(4.0, self.zeros[1], self.dtype))
        model.output(model.node(self.function, [y]), Quantized(2.9, self.zeros[2], self.dtype))


# Whose cycles are asserted.
LARGE = Looked("LeakyRelu", (32, 12, 12), 32)
TAKEN = (
    LARGE,
    Looked("LeakyRelu", (8, 5, 4), 6, dtype="uint8", zeros=(7, 100, 3)),
    Looked("HardSwish", (4, 5, 5), 10, zeros=(0, 127, 0)),
    Looked("LeakyRelu", (8, 4, 6), 8, tied=True),
    Looked("LeakyRelu", (3, 9, 7), 5, (3, 3), (2, 2), (1, 1, 1, 1)),
    Looked("HardSwish", (8, 6, 6), 8, (3, 3), (1, 1), (1, 1, 1, 1), zeros=(-128, -128, 5)),
    Looked("LeakyRelu", (8, 6, 7), 8, (3, 3), (1, 1), (1, 1, 1, 1), 2, dtype="uint8",
           zeros=(255, 17, 0)),
    Looked("Elu", (16, 8, 4), 12, (2, 3), (1, 2), (0, 1, 1, 1), tied=True),
)  # fmt: skip


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, np.random.default_rng(n), f"conv_{n}"))
