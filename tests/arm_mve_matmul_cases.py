"""Products of computed matrices for ArmMve: those of ArmDsp's tests of int8 and four columns and
more, and others of long rows and of columns that are far apart."""

from __future__ import annotations

from arm_dsp_matmul_cases import TAKEN as _TAKEN
from arm_dsp_matmul_cases import Product, model

# Whose cycles are asserted: of a head of attention over 64 positions.
ALONE = Product((64, 32), (32, 64))
TAKEN = (
    *(case for case in _TAKEN if "uint8" not in case.dtypes and len(case.b) > 1 and case.b[-1] > 3),
    Product((2, 3), (3, 4), zeros=(-128, 127, -128), scale=1e-4),
    Product((3, 17), (17, 262), zeros=(9, 0, 5)),
    Product((9, 300), (300, 5), zeros=(-128, -128, 0), scale=30),
)
GOLDEN = Product((6, 20), (20, 10))

__all__ = ["ALONE", "GOLDEN", "TAKEN", "Product", "model"]
