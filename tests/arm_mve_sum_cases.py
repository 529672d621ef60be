"""Sums and differences for ArmMve: of two scales, at the ends of the range, of every rest."""

from __future__ import annotations

from arm_dsp_sum_cases import Sum, model

# Whose cycles are asserted; the first is of the image classification model.
ALONE = Sum(16384)
PRODUCT = Sum(8192, op="Mul")
TIES = Sum(4096, (0.1, 0.1, 0.2))
TAKEN = (
    Sum(1, (0.05, 0.05, 0.05), (0, 0, 0)),
    Sum(13, (0.0310177, 0.0770329, 0.0501713), (127, -128, 127)),
    Sum(32, (0.2003413, 0.0100371, 0.0602311), (-128, 127, -128), op="Sub"),
    Sum(39, (0.0123127, 0.0321547, 0.0411337), (0, 9, 0)),
    Sum(100, (0.7012939, 0.9009173, 0.1003391), (-5, 6, -7)),
    Sum(135, (0.0301241, 0.0401339, 0.0702713), (0, 255, 0), dtype="uint8"),
    Sum(61, (0.0441419, 0.0223127, 0.0301703), (128, 3, 255), op="Sub", dtype="uint8"),
    Sum(op="Sub", shapes=((3, 17), (3, 17)), constant=0),
    Sum(64, (0.001, 0.0011, 0.0301703), (0, 0, 0)),
    # In floats: products, and sums with ties.
    Sum(70, (0.0393936, 0.1041950, 0.0447614), op="Mul"),
    Sum(4, (0.4, 0.5, 0.6), (0, 0, 0), op="Mul"),
    Sum(31, (0.0123127, 0.0321547, 0.0411337), (127, -128, -128), op="Mul"),
    Sum(33, (0.0301241, 0.0401339, 0.0702713), (0, 255, 128), op="Mul", dtype="uint8"),
    Sum(37, (0.1, 0.1, 0.2)),
    Sum(66, (0.1, 0.3, 0.2), (3, 4, -5), op="Sub"),
    Sum(35, (0.25, 0.5, 0.75), (3, 4, 9), op="Mul", dtype="uint8"),
    Sum(shapes=((1,), (1, 1))),
    # All of whose elements are at one end of the range.
    Sum(42, (0.8113923, 0.7215928, 1.1058921), (127, 127, -128)),
)
GOLDEN = TAKEN[1]

__all__ = ["ALONE", "GOLDEN", "PRODUCT", "TAKEN", "TIES", "Sum", "model"]
