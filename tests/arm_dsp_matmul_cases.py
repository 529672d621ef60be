"""Products of computed matrices for ArmDsp: many shapes and batches, the ends of the range."""

from __future__ import annotations

import math
from dataclasses import dataclass

from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Product:
    """zeros: of both factors and the product; scale: of the product, against a middling one;
    dtypes: of the factors, of which the product has the first."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    zeros: tuple[int, int, int] = (3, -5, 7)
    scale: float = 1.0
    dtypes: tuple[str, str] = ("int8", "int8")

    @property
    def macs(self) -> int:
        return math.prod(self.a) * self.b[-1]

    def add(self, model: LayersModel, name: str) -> None:
        left, right = (
            model.input(shape, Quantized(1.0, zero, dtype))
            for shape, zero, dtype in zip((self.a, self.b), self.zeros, self.dtypes, strict=False)
        )
        scale = self.scale * 61.37 * math.sqrt(self.a[-1])
        how = Quantized(scale, self.zeros[2], self.dtypes[0])
        model.output(model.node("MatMul", [left, right], name), how)


# Whose instructions are asserted: of one head of attention.
HEAD = Product((32, 16), (16, 32))
U8 = ("uint8", "uint8")
TAKEN = (
    HEAD,
    Product((6, 64), (64, 9), zeros=(0, 0, 0)),
    Product((1, 4), (4, 1)),
    Product((2, 5), (5, 2), zeros=(-128, 127, -128)),
    Product((3, 6), (6, 3), zeros=(127, -128, 127), scale=0.1),
    Product((4, 7), (7, 4), zeros=(0, 9, -3), scale=30),
    Product((5, 36), (36, 5), zeros=(9, 0, 0)),
    Product((1, 43), (43, 13), zeros=(-128, -128, 0), scale=3),
    Product((7, 150), (150, 6), scale=2),
    Product((4, 3, 8), (4, 8, 7)),
    Product((2, 1, 3, 9), (3, 9, 4), zeros=(-128, 5, 0)),
    Product((3, 2, 3, 12), (2, 12, 2), zeros=(1, 0, 0)),
    Product((5, 8), (2, 8, 3)),
    Product((11,), (11, 6)),
    Product((2, 3, 10), (10,)),
    Product((8, 8), (8, 8), zeros=(0, 255, 128), dtypes=U8),
    Product((3, 33), (33, 4), zeros=(255, 0, 0), scale=4, dtypes=U8),
    Product((2, 3, 21), (2, 21, 5), zeros=(128, -7, 9), dtypes=("uint8", "int8")),
    Product((3, 18), (18, 8), zeros=(-9, 200, 9), dtypes=("int8", "uint8")),
    Product((3, 9), (9, 345)),
)
REFUSED = {
    Product((4, 3), (3, 4)): "whose rows have 4 to 4000 elements",
    Product((4, 8), (8, 4), scale=0.0001): "its factors are too large for a 31-bit scale",
}


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, f"product{n}"))
