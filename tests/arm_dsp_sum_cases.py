"""Sums, differences, products and maxima for ArmDsp: of two scales, at the ends of the range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from quantized_layers import LayersModel, Quantized, side_by_side


@dataclass(frozen=True)
class Sum:
    """scales and zeros: of both operands and the output. shapes: of both operands, where these are
    not rows of as many elements. constant: which operand is one."""

    elements: int = 0
    scales: tuple[float, float, float] = (0.0393936, 0.1041950, 0.0447614)
    zeros: tuple[int, int, int] = (-128, 4, -17)
    op: str = "Add"
    dtype: str = "int8"
    shapes: tuple[tuple[int, ...], ...] = ()
    constant: int | None = None

    def add(self, model: LayersModel, name: str) -> None:
        a, b, y = (
            Quantized(scale, zero, self.dtype)
            for scale, zero in zip(self.scales, self.zeros, strict=True)
        )
        shapes = self.shapes or ((1, self.elements),) * 2
        operands = []
        for index, (shape, how) in enumerate(zip(shapes, (a, b), strict=True)):
            if index != self.constant:
                operands.append(model.input(shape, how))
                continue
            limits = np.iinfo(how.dtype)
            values = np.random.default_rng(len(shape)).integers(limits.min, limits.max + 1, shape)
            kept = model.constant(values.astype(how.dtype))
            operands.append(model.dequantized(kept, *how))
        model.output(model.node(self.op, operands, name), y)


# Whose instructions are asserted: as in the image classification model.
LARGE = Sum(4096)
LARGE_PRODUCT = Sum(2048, op="Mul")
TIES = Sum(37, (0.1, 0.1, 0.2))
TIED_PRODUCT = Sum(2048, (0.1, 0.3, 0.6), (3, -7, 5), op="Mul")
POWERS = Sum(1030, (0.015625, 0.03125, 0.0625), (-128, 41, 106), op="Mul")
# Behind eights: a word, and none.
ENDS = (
    Sum(36, (0.0441419, 0.0223127, 0.0301703), (128, 3, 255), op="Sub", dtype="uint8"),
    Sum(36, (0.0310177, 0.0770329, 0.0501713), (127, -128, 127), op="Mul"),
)
TAKEN = (
    LARGE,
    Sum(8, (0.05, 0.05, 0.05), (0, 0, 0)),
    Sum(13, (0.0310177, 0.0770329, 0.0501713), (127, -128, 127)),
    Sum(22, (0.2003413, 0.0100371, 0.0602311), (-128, 127, -128), op="Sub"),
    Sum(31, (0.0123127, 0.0321547, 0.0411337), (0, 9, 0)),
    Sum(48, (0.7012939, 0.9009173, 0.1003391), (-5, 6, -7)),
    Sum(63, (0.0301241, 0.0401339, 0.0702713), (0, 255, 0), dtype="uint8"),
    ENDS[0],
    LARGE_PRODUCT,
    Sum(4, (0.4, 0.5, 0.6), (0, 0, 0), op="Mul"),
    Sum(31, (0.0123127, 0.0321547, 0.0411337), (127, -128, -128), op="Mul"),
    Sum(38, (0.2003413, 0.0100371, 0.0192311), (-128, 127, 9), op="Mul"),
    Sum(61, (0.0301241, 0.0401339, 0.0702713), (0, 255, 128), op="Mul", dtype="uint8"),
    # All of whose elements are at one end of the range.
    Sum(42, (0.8113923, 0.7215928, 1.1058921), (127, 127, -128)),
    # In floats, by which integers are rounded that lie halfway.
    TIES,
    Sum(66, (0.1, 0.3, 0.2), (3, 4, -5), op="Sub"),
    POWERS,
    Sum(35, (0.25, 0.5, 0.75), (3, 4, 9), op="Mul", dtype="uint8"),
    TIED_PRODUCT,
)
# Channels, planes and numbers, in either order; loops of no, one and two kinds around the runs.
# The first is as in squeeze-and-excite.
_EXCITED = (1, 64, 16, 16)
EXCITED = Sum(op="Mul", shapes=(_EXCITED, (1, 64, 1, 1)))
SHIFTED = Sum(shapes=((1, 64, 1, 1), _EXCITED))
_SCALES = (0.0310177, 0.0770329, 0.0501713)
_ROUND = (0.05, 0.05, 0.07)
_BYTES = (0.0301241, 0.0401339, 0.0702713), (0, 255, 128)
_ALIKE = {"scales": (0.05,) * 3, "zeros": (3,) * 3}
EXTREMES = (
    Sum(38, op="Max", **_ALIKE),
    Sum(33, op="Min", dtype="uint8", **_ALIKE),
    Sum(op="Min", shapes=((1, 9, 3, 7), (1, 9, 1, 1)), **_ALIKE),
    Sum(op="Max", shapes=((2, 5, 1, 1), (2, 5, 3, 2)), dtype="uint8", **_ALIKE),
    Sum(op="Max", shapes=((3, 17), (3, 17)), constant=1, **_ALIKE),
)
BROADCAST = (
    EXCITED,
    SHIFTED,
    Sum(op="Mul", shapes=((2, 8, 3, 5), (2, 8, 1, 1)), scales=_SCALES, zeros=(127, -128, 127)),
    Sum(op="Sub", shapes=((2, 5, 1, 1), (2, 5, 3, 4))),
    Sum(*(0, *_BYTES), op="Mul", shapes=((1, 1, 6, 7), (1, 9, 6, 7)), dtype="uint8"),
    Sum(*(0, *_BYTES), op="Sub", shapes=((1, 13, 4, 3), (1, 1, 4, 3)), dtype="uint8"),
    Sum(op="Mul", shapes=((3, 1, 1), (2, 3, 4, 5))),
    Sum(shapes=((4, 5), (2, 3, 4, 5))),
    Sum(*(0, *_BYTES), op="Mul", shapes=((1, 46), (1, 1)), dtype="uint8"),
    Sum(op="Sub", shapes=((1,), (3, 15))),
    Sum(shapes=((7, 1), (1, 9)), scales=_SCALES),
    Sum(op="Mul", shapes=((3, 1), (1, 3)), scales=_SCALES),
    Sum(op="Mul", shapes=((2, 1, 4, 6), (1, 5, 1, 6))),
    Sum(op="Mul", shapes=((4, 3, 5), (4, 3, 1)), scales=_SCALES),
    Sum(*(0, *_BYTES), shapes=((4, 3, 10), (4, 1, 10)), dtype="uint8"),
    Sum(shapes=((12,), (1, 5, 12)), constant=0),
    Sum(op="Mul", shapes=((2, 6, 4, 5), (1, 6, 4, 5)), scales=_SCALES, constant=1),
    Sum(*(0, *_BYTES), op="Sub", shapes=((2, 9, 3, 2), (1, 9, 1, 1)), dtype="uint8", constant=1),
    Sum(op="Sub", shapes=((3, 17), (3, 17)), constant=0),
    Sum(op="Mul", shapes=((2, 3, 3, 5), (2, 3, 1, 1)), scales=_ROUND, zeros=(3, -7, 5)),
    Sum(op="Mul", shapes=((2, 3, 3, 5), (2, 3, 1, 1)), scales=(0.015625, 0.03125, 0.0625)),
    Sum(op="Sub", shapes=((2, 5, 1, 1), (2, 5, 3, 4)), scales=(0.1, 0.3, 0.2)),
    *EXTREMES,
)
REFUSED = {
    Sum(16, (9.0, 0.1, 0.001)): "neither integers nor float32 numbers round it",
    Sum(shapes=((2, 1, 3, 1, 2), (1, 2, 1, 2, 2))): "its operands are broadcast in many loops",
    Sum(16, (9.0, 0.1, 0.001), op="Mul"): "neither integers nor float32 numbers round it",
    Sum(16, op="Max"): "it compares tensors of the output's scale and zero point",
    Sum(5): "there are less than 8 elements",
    Sum(shapes=((1,), (1, 1))): "there are less than 8 elements",
}


# Its layers are called by the numbers of the cases.
model = side_by_side(lambda case, made, n: case.add(made, f"sum{n}"))
