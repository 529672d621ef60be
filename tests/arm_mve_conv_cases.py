"""Convolutions for ArmMve in one model: kernels, strides, pads, dilations, ends of the range."""

from __future__ import annotations

from arm_dsp_convolutions import GROUPS, Case, model

_NONE = (0, 0, 0, 0)
_BYTES = ("uint8", "uint8")
# Of the models for keyword spotting and image classification.
SPEECH = Case((1, 49, 10), 64, (10, 4), (2, 2), (4, 1, 5, 1), zeros=(83, -128))
BLOCK = Case((16, 32, 32), 16, zeros=(-128, -128))
TAKEN = (
    Case((1, 5, 5), 1, zeros=(-128, 127)),
    Case((1, 17, 10), 20, (10, 4), (2, 2), (4, 1, 5, 1), zeros=(83, -128)),
    Case((2, 7, 4), 3, (5, 5), (1, 2), (2, 2, 2, 2), zeros=(127, -128)),
    Case((3, 12, 12), 8, (3, 3), (2, 2), (0, 0, 1, 1), zeros=(-128, -128)),
    Case((3, 8, 8), 16, zeros=(-128, -128)),
    Case((3, 9, 8), 5, (7, 7), (2, 3), (3, 2, 3, 4), scale=0.1),
    Case((4, 6, 9), 2, (1, 3), (1, 1), (0, 1, 0, 1), weights=(-127, 127), scale=8),
    Case((7, 5, 6), 3, (3, 3), (3, 3), (2, 0, 1, 2), weights=(-128, -1, 127)),
    Case((8, 9, 9), 8, (1, 1), (2, 2), _NONE, scale=0.03),
    Case((8, 7, 3), 6, (3, 3), (1, 1), _NONE, weights=(-128, 127), scale=6),
    Case((16, 6, 7), 7, zeros=(0, -1)),
    Case((16, 8, 8), 32, (3, 3), (2, 2), (0, 0, 1, 1), zeros=(-128, 4)),
    Case((16, 8, 8), 32, (1, 1), (2, 2), _NONE, zeros=(-128, -17)),
    Case((16, 9, 11), 4, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    Case((32, 4, 5), 20, zeros=(-128, -17)),
    Case((64, 4, 4), 16, zeros=(3, -128), weights=(-128, 127), scale=9),
    Case((64, 3, 4), 18, zeros=(-128, 5)),
    Case((3, 11, 9), 2, (3, 2), (2, 1), (0, 2, 3, 0), (2, 3), zeros=(-128, 0)),
    Case((1, 11, 4), 6, (10, 4), (1, 1), (0, 3, 0, 0), weights=(-128, 0, 127), scale=4),
    Case((4, 3, 2), 2, (2, 2), (1, 1), _NONE),
    Case((2, 1, 2), 4, (3, 5), (1, 1), (1, 3, 1, 2)),
    Case((12, 4, 4), 4, scale=1e-7, zeros=(0, 127)),
    Case((32, 5, 5), 4, weights=(-128,), zeros=(127, 0), scale=4),
    Case((20, 3, 3), 2, (3, 3), (1, 1), (4, 4, 4, 4)),
    Case((12, 6, 130), 6, (2, 2), (2, 1), _NONE, zeros=(-128, 3)),
    Case((8, 30), 6, (5,), (1,), (2, 2), (1,), zeros=(-128, -128)),
    Case((3, 29), 5, (8,), (3,), (3, 4), (1,), zeros=(7, 0)),
    Case((12, 17), 8, (3,), (1,), (4, 0), (2,), scale=0.2),
    Case((5, 6, 5), 4, dtypes=_BYTES, zeros=(200, 17)),
    Case((16, 7, 8), 18, dtypes=_BYTES, zeros=(0, 200)),
    Case((8, 6, 6), 20, (1, 1), (1, 1), _NONE, dtypes=_BYTES, zeros=(255, 0)),
    Case((17, 4, 5), 3, (3, 3), (1, 1), (1, 1, 1, 1), dtypes=_BYTES, zeros=(0, 255)),
    Case((3, 12, 12), 8, (3, 3), (2, 2), (0, 0, 1, 1), dtypes=_BYTES, zeros=(9, 3), scale=3),
    *GROUPS,
    Case((16, 6, 7), 40, (1, 1), (2, 2), _NONE, group=2, zeros=(-128, 0)),
    Case((12, 7, 6), 36, (2, 2), (1, 1), _NONE, group=2, zeros=(-128, -128)),
    Case((40, 9, 8), 8, (3, 1), (1, 1), (1, 0, 1, 0), group=2, dtypes=_BYTES, zeros=(3, 9)),
    # More rows, and pairs of pixels, than CMP compares with.
    Case((1, 513, 1), 2, (3, 1), (1, 1), (1, 0, 1, 0)),
    Case((4, 1, 514), 2, (1, 2), (1, 1), _NONE),
)

GOLDEN = Case((4, 6, 6), 20, zeros=(-128, 4))

__all__ = ["BLOCK", "GOLDEN", "SPEECH", "TAKEN", "Case", "model"]
