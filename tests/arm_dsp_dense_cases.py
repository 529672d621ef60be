"""Fully connected layers for ArmDsp: of many shapes, at the ends of the range."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Dense:
    """zeros: the zero points of input and output; scale: of the output, against a middling one;
    is_extreme: weights of -127 and 127 only; is_matmul: without bias, and with a batch; plane and
    kernel: of a convolution, whose kernel is its image or one pixel; middle: the zero point of
    weights of uint8, None for those of int8."""

    rows: int
    taps: int
    outputs: int
    is_per_channel: bool = False
    zeros: tuple[int, int] = (3, -5)
    scale: float = 1.0
    is_extreme: bool = False
    is_matmul: bool = False
    dtype: str = "int8"
    lowest_weight: int = -127
    plane: tuple[int, ...] = ()
    kernel: tuple[int, ...] = ()
    middle: int | None = None

    @property
    def macs(self) -> int:
        return self.rows * self.taps * self.outputs

    def add(self, model: LayersModel, random: np.random.Generator) -> None:
        shape = (self.outputs, self.taps)
        weights = np.clip(np.rint(random.normal(0, 40, shape)), self.lowest_weight, 127)
        if self.is_extreme:
            weights = random.choice([self.lowest_weight, 127], shape)
        if self.lowest_weight < -127:
            weights[: min(2, self.outputs)] = self.lowest_weight
        scales = np.full(self.outputs, 0.7) if not self.is_per_channel else (
            random.uniform(0.5, 2, self.outputs)
        )  # fmt: skip
        product = self.scale * 40 * np.sqrt(self.taps)
        w_type, middle = ("int8", 0) if self.middle is None else ("uint8", self.middle)
        if self.middle is not None:
            weights = np.clip(weights + middle, 0, 255)
        shape, kept = (self.rows, self.taps), weights.astype(w_type)
        if self.is_matmul:
            shape, kept = (2, self.rows // 2, self.taps), kept.T
        if self.plane:
            channels = self.taps // math.prod(self.kernel)
            shape = (self.rows * self.taps // channels // math.prod(self.plane), channels)
            shape, kept = (*shape, *self.plane), kept.reshape(-1, channels, *self.kernel)
        x = model.input(shape, Quantized(1.0, self.zeros[0], self.dtype))
        w = model.dequantized(
            model.constant(np.ascontiguousarray(kept)),
            scales if self.is_per_channel else scales[0],
            np.full(self.outputs if self.is_per_channel else (), middle), w_type,
            axis=1 if self.is_matmul else 0,
        )  # fmt: skip
        if self.is_matmul:
            y = model.node("MatMul", [x, w])
        else:
            bias = model.constant(random.integers(-8000, 8000, self.outputs).astype(np.int32))
            zeros = np.zeros(self.outputs)
            b = model.dequantized(bias, scales, zeros, "int32", axis=0)
            of = ("Conv", {}) if self.plane else ("Gemm", {"transB": 1})
            y = model.node(of[0], [x, w, b], **of[1])
        model.output(y, Quantized(float(product), self.zeros[1], self.dtype))


# Those whose instructions are asserted: of the anomaly detection and keyword spotting models.
WIDE = Dense(1, 640, 128)
SMALL = Dense(1, 64, 12)
# Whose last outputs have a loop of their own.
ENDED = Dense(1, 4096, 10, is_extreme=True, is_per_channel=True, scale=60)
# Written out, of one or two outputs.
FEW = (
    Dense(1, 16, 1),
    Dense(1, 64, 2, is_per_channel=True, zeros=(-128, 127)),
    Dense(1, 20, 1, dtype="uint8", middle=7, zeros=(255, 0)),
    Dense(
        1, 8, 2, is_extreme=True, lowest_weight=-128, zeros=(127, -128), plane=(1, 2), kernel=(1, 2)
    ),
)
TAKEN = (
    SMALL,
    WIDE,
    Dense(1, 128, 8, zeros=(-128, -128)),
    Dense(1, 8, 128, zeros=(127, 0)),
    Dense(1, 1, 1),
    Dense(1, 7, 3, zeros=(-128, 127)),
    Dense(1, 9, 5, is_per_channel=True),
    Dense(3, 21, 6, zeros=(-7, -128)),
    Dense(5, 12, 10, is_per_channel=True, scale=0.05),
    Dense(2, 8, 4, is_extreme=True, scale=4),
    Dense(2, 136, 9, is_extreme=True, scale=8, zeros=(127, 127)),
    Dense(1, 250, 18, is_per_channel=True, is_extreme=True, scale=3),
    Dense(1, 392, 7, dtype="uint8", zeros=(255, 0)),
    Dense(4, 30, 17, dtype="uint8", zeros=(0, 255), is_per_channel=True),
    Dense(6, 33, 11, is_matmul=True),
    Dense(1, 801, 6, is_extreme=True, scale=4),
    Dense(2, 790, 3, is_extreme=True, is_per_channel=True, dtype="uint8", zeros=(7, 9)),
    Dense(2, 64, 64, is_matmul=True, is_per_channel=True),
    Dense(1, 96, 8, is_per_channel=True, plane=(1, 1), kernel=(1, 1)),
    Dense(1, 6, 21, zeros=(-128, -128), plane=(1,), kernel=(1,)),
    Dense(2, 10, 7, dtype="uint8", zeros=(9, 200), plane=(1, 2), kernel=(1, 1)),
    Dense(1, 60, 5, is_per_channel=True, plane=(3, 4), kernel=(3, 4)),
    Dense(3, 48, 6, zeros=(127, -128), plane=(4, 2), kernel=(4, 2)),
    # Taken apart four times, and with wide words: of too few taps for that, of -128, of uint8.
    Dense(1, 2000, 2, is_extreme=True, scale=50),
    Dense(2, 2056, 5, is_extreme=True, is_per_channel=True, dtype="uint8", zeros=(255, 9), scale=8),
    Dense(1, 1021, 6, is_extreme=True, scale=50, zeros=(-128, 0)),
    Dense(1, 16, 4, lowest_weight=-128),
    Dense(2, 21, 7, is_per_channel=True, middle=100),
    Dense(1, 130, 9, is_extreme=True, middle=130, scale=4, zeros=(-128, 127)),
    Dense(1, 40, 8, dtype="uint8", middle=3, zeros=(9, 200)),
    Dense(1, 136, 9, is_per_channel=True, middle=130, zeros=(-128, 127)),
    Dense(12, 40, 8, middle=30),
    # In one part, two and more.
    Dense(1, 1024, 5, is_per_channel=True, zeros=(-128, -128)),
    Dense(1, 1028, 14, zeros=(5, 7)),
    Dense(1, 1280, 9, is_per_channel=True, scale=1e-2),
    Dense(1, 1536, 10, dtype="uint8", zeros=(128, 9)),
    Dense(1, 2048, 6, is_extreme=True, scale=50, zeros=(-128, 0)),
    ENDED,
    *FEW,
)
REFUSED = {
    Dense(1, 16, 4, scale=0.001): "its factors are too large for a 31-bit scale",
}


model = side_by_side(lambda case, made, n: case.add(made, np.random.default_rng(n)))
