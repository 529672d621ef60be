"""1x1 convolutions with a depthwise one behind them, for ArmMve in one model: images of several
bands of strips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side

FILTERS = 16


@dataclass(frozen=True)
class Case:
    """shape: channels, rows, columns of the input. stride, kernel, pads: of the depthwise
    convolution; zeros: of the input and of both outputs; scale: of all."""

    shape: tuple[int, int, int]
    stride: int = 1
    kernel: tuple[int, int] = (3, 3)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    zeros: tuple[int, int, int] = (-128, -128, -128)
    scale: float = 0.0403936

    def add(self, model: LayersModel, random: np.random.Generator) -> None:
        how = Quantized(self.scale, self.zeros[0])
        y = model.input((1, *self.shape), how)
        for taps, more in (
            ((self.shape[0], 1, 1), {}),
            ((1, *self.kernel), {
                "group": FILTERS, "strides": [self.stride] * 2, "pads": self.pads
            }),
        ):  # fmt: skip
            shape = (FILTERS, *taps)
            scales = random.uniform(0.02, 0.04, FILTERS) / np.sqrt(np.prod(taps))
            weights = np.clip(np.rint(random.normal(0, 40, shape)), -127, 127).astype(np.int8)
            zeros = np.zeros(FILTERS)
            w = model.dequantized(model.constant(weights), scales, zeros, "int8", axis=0)
            bias = random.integers(-3000, 3000, FILTERS).astype(np.int32)
            b = model.dequantized(
                model.constant(bias), scales * self.scale, zeros, "int32", axis=0
            )  # fmt: skip
            y = model.node("Conv", [y, w, b], **more)
            how = Quantized(self.scale, self.zeros[1 if not more else 2])
            if not more:
                y = model.quantized(y, how)
        model.output(y, how)


# The one whose cycles are asserted.
ALONE = Case((8, 48, 48))
TAKEN = (
    Case((8, 24, 48), 2, pads=(0, 0, 1, 1)),
    Case((8, 19, 34), zeros=(3, -7, 9)),
    Case((20, 22, 30), kernel=(5, 5), pads=(2, 2, 2, 2), zeros=(-128, 4, -17)),
    Case((16, 25, 32), 2, zeros=(127, 0, 20)),
    Case((5, 16, 40), kernel=(3, 2), pads=(0, 0, 1, 1), scale=0.05),
)

GOLDEN = Case((8, 12, 44), 2, pads=(0, 0, 1, 1))


model = side_by_side(lambda case, made, n: case.add(made, np.random.default_rng(n)))
