"""Means over all spatial axes, for ArmMve and ArmDsp, which are averages of one window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quantized_layers import LayersModel, Quantized


@dataclass(frozen=True)
class Mean:
    """shape: of the input; is_last: whether that has the channels last; keeps: whether the output
    has the axes; zeros: the zero points of input and output; scale: of the output, against the
    input's."""

    shape: tuple[int, ...]
    keeps: bool = True
    zeros: tuple[int, int] = (-128, -128)
    scale: float = 1.0
    dtype: str = "int8"
    is_last: bool = False

    def add(self, model: LayersModel, name: str) -> None:
        x_scale = 0.0231
        x = model.input(self.shape, Quantized(x_scale, self.zeros[0], self.dtype))
        axes = [axis + 2 - self.is_last for axis in range(len(self.shape) - 2)]
        y = model.node("ReduceMean", [x], name, axes=axes, keepdims=int(self.keeps))
        model.output(y, Quantized(x_scale * self.scale, self.zeros[1], self.dtype))


TAKEN = (
    Mean((1, 64, 7, 7)),
    Mean((1, 21, 5, 4), keeps=False, zeros=(3, -7), scale=0.3),
    Mean((2, 8, 9, 6), zeros=(127, 0), scale=0.7),
    Mean((1, 3, 40, 30), keeps=False, zeros=(0, 5), scale=0.1),
    Mean((1, 19, 11), zeros=(-5, 9)),
    Mean((2, 12, 6, 6), keeps=False, zeros=(200, 17), dtype="uint8", scale=0.5),
    Mean((2, 6, 7, 20), is_last=True, zeros=(3, 4), scale=0.4),
)


def model(cases: Sequence[Mean], path: Path) -> Path:
    """The layers are called by the numbers of the cases."""
    made = LayersModel()
    for index, case in enumerate(cases):
        case.add(made, f"mean{index}")
    return made.save(path)
