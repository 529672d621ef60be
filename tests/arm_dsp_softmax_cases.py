"""Softmax for ArmDsp: rows of all rests, flat and steep ones, outputs at the ends of the range."""

from __future__ import annotations

from dataclasses import dataclass

from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Softmax:
    """x, y: scale and zero point of input and output."""

    shape: tuple[int, ...]
    x: tuple[float, int] = (0.06, 3)
    y: tuple[float, int] = (1 / 256, -128)
    dtypes: tuple[str, str] = ("int8", "int8")
    axis: int = -1

    def add(self, model: LayersModel, name: str) -> None:
        x, y = (
            Quantized(*how, dtype) for how, dtype in zip((self.x, self.y), self.dtypes, strict=True)
        )
        made = model.node("Softmax", [model.input(self.shape, x)], name, axis=self.axis)
        model.output(made, y)


# Whose instructions are asserted: of attention over 32 positions.
HEAD = Softmax((64, 32), y=(0.0031337, -128))
U8 = ("uint8", "uint8")
TAKEN = (
    HEAD,
    Softmax((40, 4), x=(0.02, -128)),
    Softmax((8, 4), y=(0.25 / 100.5, -128)),  # of equal elements in the middle of two
    Softmax((50, 5), x=(0.011, 127)),
    Softmax((3, 9, 6), x=(0.2, 0), y=(0.00388, 5)),
    Softmax((30, 7), x=(1.3, 0), y=(0.0007, -128)),
    Softmax((60, 8), x=(0.04, 9), y=(1 / 255, 0), dtypes=U8),
    Softmax((20, 11), x=(0.004, 255), y=(0.0021, 60), dtypes=U8),
    Softmax((4, 130), x=(0.03, 0), y=(0.0014, -128)),
    Softmax((2, 6, 5), axis=1),
    Softmax((1, 9, 4, 3), axis=1),
    Softmax((2, 1001), x=(0.09, -5), dtypes=("int8", "uint8"), y=(0.00091, 3)),
)
REFUSED = {
    Softmax((6, 3)): "it takes the last axis, or channels, of 4 elements or more",
    Softmax((2, 6, 5, 3), axis=2): "it takes the last axis, or channels, of 4 elements or more",
    Softmax((2, 6), y=(0.0006, -128)): "its output has too fine a scale",
}


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, f"softmax{n}"))
