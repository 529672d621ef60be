"""Functions of one byte for ArmDsp: many operators, with every rest, at the ends of the range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Function:
    """number: the constant operand, which is the first one where `is_first`."""

    op: str
    elements: int = 1
    number: float | None = None
    is_first: bool = False
    dtype: str = "int8"
    zeros: tuple[int, int] = (3, -7)
    scales: tuple[float, float] = (0.05, 0.03)
    attributes: tuple[tuple[str, Any], ...] = ()

    def add(self, model: LayersModel, name: str) -> None:
        x = model.input((1, self.elements), Quantized(self.scales[0], self.zeros[0], self.dtype))
        inputs = [x]
        if self.number is not None:
            stored = model.constant(np.array(100, self.dtype))
            scale = self.number / 100
            inputs.append(model.dequantized(stored, scale, 0, self.dtype))
        y = model.node(self.op, inputs[::-1] if self.is_first else inputs, name,
                       **dict(self.attributes))  # fmt: skip
        model.output(y, Quantized(self.scales[1], self.zeros[1], self.dtype))


@dataclass(frozen=True)
class Gelu(Function):
    """Several operators in float32, of which the compiler makes a table."""

    op: str = "Div"

    def add(self, model: LayersModel, name: str) -> None:
        x = model.input((1, self.elements), Quantized(self.scales[0], self.zeros[0], self.dtype))
        one, half, root = (model.constant(np.float32(v)) for v in (1, 0.5, np.sqrt(2)))
        part = model.node("Erf", [model.node(self.op, [x, root], name)])
        part = model.node("Mul", [model.node("Add", [part, one]), half])
        y = model.node("Mul", [x, part])
        model.output(y, Quantized(self.scales[1], self.zeros[1], self.dtype))


# Whose cycles are asserted.
LARGE = Function("Sigmoid", 4096)
TAKEN = (
    LARGE,
    Function("Tanh", 1),
    Function("LeakyRelu", 15, attributes=(("alpha", 0.1),)),
    Function("HardSwish", 16, dtype="uint8", zeros=(128, 30)),
    Function("Sigmoid", 33, dtype="uint8", zeros=(255, 0), scales=(0.1, 1 / 256)),
    Function("Add", 47, 2.5),
    Function("Mul", 18, 0.3, zeros=(-128, 127)),
    Function("Sub", 7, 1.9, is_first=True),
    Function("Div", 20, 0.7, scales=(0.05, 0.1)),
    Function("Selu", 19, dtype="uint8", zeros=(128, 60)),
    Gelu(elements=35),
)


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, f"table{n}"))
