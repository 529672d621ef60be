"""Padded convolutions for ArmMve whose channels fill vectors: padding that windows have in all
places, rows apart, strides, any number of filters."""

from __future__ import annotations

from arm_dsp_convolutions import Case, model
from arm_mve_conv_cases import BLOCK

TAKEN = (
    Case((16, 9, 12), 4, (3, 3), (1, 1), (2, 2, 2, 2), (2, 1)),
    Case((16, 6, 8), 7, zeros=(0, -1)),
    Case((16, 8, 8), 32, (3, 3), (2, 2), (0, 0, 1, 1), zeros=(-128, 4)),
    Case((64, 5, 8), 64, zeros=(3, -128), weights=(-128, 127), scale=9),
    Case((8, 7, 10), 5, (5, 2), (1, 1), (2, 1, 2, 0), zeros=(7, 9)),
    Case((4, 3, 14), 6, (1, 4), (1, 2), (0, 4, 0, 4), zeros=(127, 9)),
    Case((16, 7, 8), 66, (3, 3), (1, 1), (4, 5, 4, 5)),
    Case((32, 8, 9), 33, (2, 2), (2, 1), (1, 0, 0, 0)),
    Case((16, 30), 8, (3,), (1,), (1, 1), (1,), zeros=(-128, -128)),
)  # fmt: skip

# Little of it has padding, so that a band saves no time and needs more room.
GOLDEN = Case((16, 6, 16), 20, (3, 3), (1, 1), (0, 0, 0, 2), zeros=(-128, 4))

__all__ = ["BLOCK", "GOLDEN", "TAKEN", "Case", "model"]
