"""1x1 convolutions for ArmMve in one model: of many shapes, at the ends of the range."""

from __future__ import annotations

from arm_dsp_cases import Case, model

# The one whose cycles are asserted: of the keyword spotting model.
ALONE = Case(64, 64, 25, 5)
TAKEN = (
    Case(16, 16, 3, 3),
    Case(8, 16, 4, 3, zeros=(-128, -128, -128)),
    Case(4, 3, 1, 1),
    Case(1, 1, 1, 2),
    Case(12, 10, 5, 1, zeros=(127, 0, -128), scale=0.05),
    Case(20, 4, 4, 4, is_extreme=True, scale=8),
    Case(32, 32, 3, 5, zeros=(3, 0, -17)),
    Case(33, 16, 2, 3, zeros=(3, 0, 127)),
    Case(48, 20, 2, 2, zeros=(-128, 0, -128), scale=0.01),
    Case(60, 107, 6, 6, zeros=(-128, 0, -128)),
    Case(107, 57, 3, 3, zeros=(5, 0, 4)),
    Case(64, 64, 2, 5, is_extreme=True, zeros=(-128, 0, -5)),
    Case(80, 48, 3, 3, scale=1e-3),
    Case(144, 19, 2, 1, zeros=(0, 0, 1)),
    Case(160, 24, 3, 1, scale=1e-7),
    Case(17, 130, 1, 3),
    Case(256, 8, 1, 5, is_extreme=True, scale=0.1, zeros=(127, 0, -128)),
)

GOLDEN = Case(52, 20, 3, 3, zeros=(3, 0, -17))

__all__ = ["ALONE", "GOLDEN", "TAKEN", "Case", "model"]
