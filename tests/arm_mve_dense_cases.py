"""Fully connected layers for ArmMve in one model: of many shapes, at the ends of the range."""

from __future__ import annotations

from arm_dsp_dense_cases import Dense, model

# The one whose cycles are asserted: of the anomaly detection model.
WIDE = Dense(1, 640, 128, zeros=(-128, -128))
TAKEN = (
    Dense(1, 128, 8, zeros=(-128, -128)),
    Dense(1, 8, 128, zeros=(127, 0)),
    Dense(1, 1, 1),
    Dense(1, 7, 3, zeros=(-128, 127)),
    Dense(1, 9, 35, is_per_channel=True),
    Dense(1, 64, 12, is_per_channel=True, zeros=(-128, 19)),
    Dense(1, 128, 320, zeros=(3, -128)),
    Dense(1, 16, 640, is_per_channel=True, zeros=(5, 4)),
    Dense(1, 16, 272, zeros=(-128, 5)),
    Dense(1, 250, 18, is_per_channel=True, is_extreme=True, scale=3),
    Dense(1, 801, 6, is_extreme=True, scale=4),
    Dense(1, 256, 32, is_extreme=True, lowest_weight=-128, zeros=(127, -128), scale=0.01),
    Dense(1, 264, 16, is_per_channel=True, zeros=(0, 1), scale=1e-3),
    Dense(1, 22, 2, scale=1e-7, zeros=(-128, -1)),
    Dense(3, 21, 6, zeros=(-7, -128)),
    Dense(5, 12, 10, is_per_channel=True, scale=0.05),
    Dense(2, 136, 9, is_extreme=True, scale=8, zeros=(127, 127)),
    Dense(6, 33, 11, is_matmul=True),
    Dense(2, 64, 64, is_matmul=True, is_per_channel=True),
    Dense(1, 96, 8, is_per_channel=True, plane=(1, 1), kernel=(1, 1)),
    Dense(1, 6, 21, zeros=(-128, -128), plane=(1,), kernel=(1,)),
    Dense(1, 60, 5, is_per_channel=True, plane=(3, 4), kernel=(3, 4)),
    Dense(3, 48, 6, zeros=(127, -128), plane=(4, 2), kernel=(4, 2)),
    Dense(1, 392, 7, dtype="uint8", zeros=(255, 0)),
    Dense(1, 128, 32, dtype="uint8", zeros=(0, 200), is_per_channel=True),
    Dense(1, 9, 5, dtype="uint8", zeros=(7, 9), is_extreme=True),
)

GOLDEN = Dense(1, 24, 20, zeros=(-128, 3))

__all__ = ["GOLDEN", "TAKEN", "WIDE", "Dense", "model"]
