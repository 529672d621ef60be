"""Means and maxima over axes, for ArmMve and ArmDsp, which are pools of one window."""

from __future__ import annotations

import math
from dataclasses import dataclass

from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Mean:
    """shape: of the input; axes: those that go, or all but the first two; keeps: whether the output
    has them; zeros: the zero points of input and output; scale: of the output, against the
    input's."""

    shape: tuple[int, ...]
    keeps: bool = True
    zeros: tuple[int, int] = (-128, -128)
    scale: float = 1.0
    dtype: str = "int8"
    axes: tuple[int, ...] = ()
    op: str = "ReduceMean"

    @property
    def channels(self) -> int:
        return math.prod(self.shape[self.axes[-1] + 1 :]) if self.axes else self.shape[1]

    def add(self, model: LayersModel, name: str) -> None:
        x_scale = 0.0231
        x = model.input(self.shape, Quantized(x_scale, self.zeros[0], self.dtype))
        axes = self.axes or range(2, len(self.shape))
        y = model.node(self.op, [x], name, axes=[*axes], keepdims=int(self.keeps))
        model.output(y, Quantized(x_scale * self.scale, self.zeros[1], self.dtype))


TAKEN = (
    Mean((1, 64, 7, 7)),
    Mean((1, 21, 5, 4), keeps=False, zeros=(3, -7), scale=0.3),
    Mean((2, 8, 9, 6), zeros=(127, 0), scale=0.7),
    Mean((1, 3, 40, 30), keeps=False, zeros=(0, 5), scale=0.1),
    Mean((1, 19, 11), zeros=(-5, 9)),
    Mean((2, 12, 6, 6), keeps=False, zeros=(200, 17), dtype="uint8", scale=0.5),
    Mean((2, 6, 7, 20), axes=(1, 2), zeros=(3, 4), scale=0.4),
    Mean((2, 5, 7, 12), axes=(2,), zeros=(-3, 4)),
    Mean((3, 4, 8), axes=(1,), op="ReduceMax"),
    Mean((1, 6, 5, 9), axes=(1,), keeps=False, zeros=(9, 9), dtype="uint8", op="ReduceMax"),
    Mean((17, 20), axes=(0,), keeps=False, zeros=(0, -128), scale=0.2),
    Mean((2, 3, 2, 5, 6, 4), axes=(2, 3, 4), zeros=(-9, 9)),
    Mean((4, 3, 21), axes=(2,), keeps=False, zeros=(5, -2)),
)


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, f"mean{n}"))
