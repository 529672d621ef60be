"""Transposed convolutions between quantized tensors, for ArmDsp and ArmMve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Transposed:
    """shape: channels, rows, columns of the input; without rows all is of one axis. zeros: the zero
    points of input and output. more: attributes."""

    shape: tuple[int, ...]
    filters: int
    kernel: tuple[int, ...] = (2, 2)
    strides: tuple[int, ...] = (2, 2)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    zeros: tuple[int, int] = (3, -5)
    dtype: str = "int8"
    weights: tuple[int, ...] | None = None
    middle: int | None = None
    clamp: tuple[float, float] | None = None
    more: Any = None

    def add(self, model: LayersModel, random: np.random.Generator, name: str) -> None:
        scale, shape = 0.0403936, (self.shape[0], self.filters, *self.kernel)
        x = model.input((1, *self.shape), Quantized(scale, self.zeros[0], self.dtype))
        values = np.clip(np.rint(random.normal(0, 40, shape)), -127, 127)
        if self.weights is not None:
            values = random.choice(self.weights, shape)
        met = self.shape[0] * np.prod(self.kernel) / np.prod(self.strides)
        scales = random.uniform(0.02, 0.04, self.filters) / np.sqrt(max(met, 1))
        if self.middle is None:
            kept = model.constant(values.astype(np.int8))
            w = model.dequantized(kept, scales, np.zeros(self.filters), "int8", axis=1)
        else:
            scales = scales[:1]
            kept = model.constant(np.clip(values + self.middle, 0, 255).astype(np.uint8))
            w = model.dequantized(kept, scales[0], self.middle, "uint8")
        bias = random.integers(-3000, 3000, self.filters).astype(np.int32)
        kept = model.constant(bias)
        zeros = np.zeros(len(scales))
        b = (
            model.dequantized(kept, scales * scale, zeros, "int32", axis=0)
            if self.middle is None
            else model.dequantized(kept, scales[0] * scale, 0, "int32")
        )
        y = model.node(
            "ConvTranspose", [x, w, b], name, strides=self.strides, pads=self.pads,
            **(self.more or {}),
        )  # fmt: skip
        if self.clamp is not None:
            low, high = (model.constant(np.float32(bound)) for bound in self.clamp)
            y = model.node("Clip", [y, low, high])
        model.output(y, Quantized(0.08, self.zeros[1], self.dtype))


_ONE = (1, 1, 1, 1)
# As the two of a U-Net.
APART = Transposed((32, 8, 8), 16, zeros=(-128, -5))
OVERLAPPING = Transposed(
    (16, 16, 16), 8, (3, 3), (2, 2), _ONE, zeros=(-128, 3), more={"output_padding": (1, 1)}
)
TAKEN = (
    APART,
    OVERLAPPING,
    Transposed((4, 3, 5), 3, zeros=(127, -128)),
    Transposed((8, 4, 7), 4, (4, 4), (2, 2), _ONE, zeros=(-7, 0)),
    Transposed((12, 3, 2), 2, (2, 2), (2, 2), dtype="uint8", zeros=(200, 17)),
    Transposed((6, 4, 5), 3, (3, 3), (3, 3), weights=(-127, 127)),
    Transposed((5, 4, 3), 2, (5, 4), (3, 2), (1, 1, 2, 1)),
    Transposed((8, 5, 4), 2, (3, 2), (2, 2), (1, 0, 1, 0)),  # rows that are no multiple of two
    Transposed((8, 3, 4), 2, (1, 2), (2, 2), zeros=(9, 1)),  # rows of biases alone are cut off
    Transposed((8, 3, 4), 3, (1, 1), (2, 2), more={"output_padding": (1, 1)}),  # pixels of those
    Transposed((7, 4, 5), 5, (3, 3), (1, 1), _ONE, zeros=(-128, 0)),
    Transposed((4, 2, 4), 4, (2, 6), (1, 2), (0, 2, 0, 2), dtype="uint8", middle=131,
               zeros=(100, 7)),
    Transposed((8, 3, 5), 4, clamp=(-1.1, 2.3)),
    Transposed((8, 9), 4, (4,), (2,), (1, 1)),
    Transposed((8, 9), 4, (2,), (2,), (0, 0), zeros=(0, 0)),
    Transposed((8, 1, 1), 6, (4, 4), (1, 1)),  # one pixel, of which an image is made
)  # fmt: skip
REFUSED = (
    Transposed((4, 4, 4), 2, (3, 3), (2, 2), _ONE),  # an odd number of columns
    Transposed((4, 4, 4), 2, (3, 4), (2, 2), (0, 1, 1, 1), more={"dilations": (2, 1)}),
)


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, np.random.default_rng(n), f"up_{n}"))
