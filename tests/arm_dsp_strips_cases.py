"""Pairs of convolutions for ArmDsp's strips, with and without a residual block's sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side

_Pads = tuple[int, int, int, int]


@dataclass(frozen=True)
class Block:
    """shape: channels, rows, columns of the input. middle: the first one's filters; filters: the
    second one's, 0 in a residual block. zeros: of the input, of both convolutions' outputs and of
    the sum; scale: of all but the sum. swapped: the input is the sum's second operand. dilation:
    of the second convolution; between: a function of an element in front of that."""

    shape: tuple[int, int, int]
    middle: int
    filters: int = 0
    kernels: tuple[tuple[int, int], tuple[int, int]] = ((3, 3), (3, 3))
    pads: tuple[_Pads, _Pads] = ((1, 1, 1, 1), (1, 1, 1, 1))
    strides: tuple[int, int] = (1, 1)
    zeros: tuple[int, int, int, int] = (-128, -128, 4, -128)
    dtype: str = "int8"
    op: str = "Add"
    swapped: bool = False
    dilation: int = 1
    scale: float = 0.0403936
    between: str = ""

    def _convolve(
        self, model: LayersModel, random: np.random.Generator, x: str, index: int
    ) -> tuple[str, Quantized]:
        channels = (self.shape[0], self.middle, self.filters or self.shape[0])
        rows, columns = self.kernels[index]
        shape = (channels[index + 1], channels[index], rows, columns)
        scales = random.uniform(0.02, 0.04, shape[0]) / np.sqrt(np.prod(shape[1:]))
        weights = np.clip(np.rint(random.normal(0, 40, shape)), -127, 127)
        kept = model.constant(weights.astype(np.int8))
        w = model.dequantized(kept, scales, np.zeros(shape[0]), "int8", axis=0)
        kept = model.constant(random.integers(-3000, 3000, shape[0]).astype(np.int32))
        b = model.dequantized(kept, scales * self.scale, np.zeros(shape[0]), "int32", axis=0)
        y = model.node(
            "Conv", [x, w, b], strides=[self.strides[index]] * 2, pads=self.pads[index],
            dilations=[self.dilation if index else 1] * 2,
        )  # fmt: skip
        return y, Quantized(self.scale, self.zeros[index + 1], self.dtype)

    def add(self, model: LayersModel, random: np.random.Generator) -> None:
        x = model.input((1, *self.shape), Quantized(self.scale, self.zeros[0], self.dtype))
        y, how = x, Quantized()
        for index in range(2):
            y, how = self._convolve(model, random, y, index)
            if index == 0 or not self.filters:
                y = model.quantized(y, how)
            if index == 0 and self.between:
                y = model.quantized(model.node(self.between, [y]), how)
        if not self.filters:
            y = model.node(self.op, [y, x] if self.swapped else [x, y])
            how = Quantized(0.0501713, self.zeros[3], self.dtype)
        model.output(y, how)


_NONE = (0, 0, 0, 0)
# As in the image classification model, and its rows are not whole tiles of three.
BLOCK = Block((16, 12, 32), 16)
TAKEN = (
    BLOCK,
    Block((8, 15, 16), 16, zeros=(3, -7, 9, 20), swapped=True),
    Block((8, 11, 15), 8, zeros=(127, 0, -128, 0), op="Sub"),
    Block((8, 16, 16), 16, kernels=((1, 1), (3, 3)), pads=(_NONE, (1, 1, 1, 1)), op="Sub",
          swapped=True),
    Block((4, 17, 18), 8, kernels=((3, 3), (1, 1)), pads=((1, 1, 1, 1), _NONE), dtype="uint8",
          zeros=(0, 7, 130, 255)),
    Block((4, 26, 16), 8, kernels=((5, 5), (3, 3)), pads=((2, 2, 2, 2), (1, 1, 1, 1))),
    Block((4, 32, 18), 8, kernels=((3, 3), (5, 5)), pads=((1, 1, 1, 1), (2, 2, 2, 2))),
    Block((8, 27, 18), 8, pads=((1, 1, 1, 1), (2, 2, 2, 2)), dilation=2),
    Block((4, 15, 40), 4, 6),
    Block((3, 50, 41), 4, 5, strides=(2, 1), pads=((0, 0, 1, 1), (1, 1, 1, 1))),
    Block((5, 21, 16), 7, 16, strides=(1, 2), pads=((1, 1, 1, 1), (1, 0, 1, 1)),
          zeros=(9, 8, 7, 0)),
    Block((8, 16, 12), 8, 9, pads=((1, 1, 1, 1), _NONE), dtype="uint8", zeros=(200, 17, 255, 0)),
    Block((8, 12, 16), 8, 4, pads=((0, 1, 2, 1), (2, 1, 0, 1))),
    Block((8, 12, 16), 8, zeros=(3, 20, 9, 11), between="LeakyRelu"),
)  # fmt: skip


model = side_by_side(lambda case, made, n: case.add(made, np.random.default_rng(n)))
