"""LayerNormalization for ArmMve: rows of all rests, flat ones, outputs at the ends of the range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Normalization:
    """x, y: scale and zero point of input and output; gain: about how large."""

    shape: tuple[int, ...]
    axis: int = -1
    x: tuple[float, int] = (0.05, 3)
    y: tuple[float, int] = (0.03, -4)
    dtype: str = "int8"
    gain: float = 1.0
    has_bias: bool = True

    def add(self, model: LayersModel, name: str) -> None:
        random = np.random.default_rng(len(self.shape) + self.shape[-1])
        shape = self.shape[self.axis :]
        given = [random.normal(self.gain, 0.3, shape), random.normal(0, 0.5, shape)]
        constants = [model.constant(g.astype(np.float32)) for g in given[: 1 + self.has_bias]]
        x = model.input(self.shape, Quantized(*self.x, self.dtype))
        made = model.node("LayerNormalization", [x, *constants], name, axis=self.axis)
        model.output(made, Quantized(*self.y, self.dtype))


# Whose cycles are asserted: of a transformer of 64 channels.
ALONE = Normalization((64, 64))
TAKEN = (
    Normalization((5, 32), x=(0.2, -128), y=(0.02, 127)),
    Normalization((3, 7, 19), y=(0.002, 0)),
    Normalization((2, 3, 6, 5), axis=-2, has_bias=False, x=(1e-4, 0)),
    Normalization((9, 4), x=(0.01, 127), gain=0),
    Normalization((4, 1), y=(0.01, 5)),
    Normalization((6, 37), dtype="uint8", x=(0.1, 255), y=(0.02, 9)),
    Normalization((2, 512), dtype="uint8", x=(3.0, 0), y=(0.03, 130), gain=-2),
)
GOLDEN = Normalization((6, 20))


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, f"normal{n}"))
