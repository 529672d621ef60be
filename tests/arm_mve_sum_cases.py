"""Sums and differences for ArmMve: of two scales, at the ends of the range, of every rest."""

from __future__ import annotations

from arm_dsp_sum_cases import Sum, model

# The one whose cycles are asserted: of the image classification model.
ALONE = Sum(16384)
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
)
GOLDEN = TAKEN[1]

__all__ = ["ALONE", "GOLDEN", "TAKEN", "Sum", "model"]
