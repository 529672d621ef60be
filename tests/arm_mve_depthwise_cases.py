"""Depthwise convolutions for ArmMve: kernels, strides, pads, dilations and channels, at the ends of
the range."""

from __future__ import annotations

from arm_dsp_convolutions import Case, model
from arm_dsp_depthwise_cases import _BYTES, _NONE, _case

# The one whose cycles are asserted: of the keyword spotting model.
ALONE = _case(64, (25, 5), (3, 3), zeros=(-128, -128))
TAKEN = (
    _case(16, (6, 6), (3, 3), zeros=(-128, -128)),
    _case(32, (7, 5), (3, 3), zeros=(3, -17)),
    _case(8, (9, 7), (3, 3), (2, 2), (0, 0, 1, 1), zeros=(127, 3), scale=2),
    _case(16, (48, 48), (3, 3), zeros=(-128, -128)),
    _case(16, (48, 48), (3, 3), (2, 2), (0, 0, 1, 1), zeros=(-128, -128)),
    # Lines of which one window is left by loops over three, in bands of several groups, too.
    _case(48, (16, 20), (3, 3), zeros=(-128, -128)),
    _case(4, (6, 80), (3, 3), zeros=(5, -7)),
    _case(8, (4, 26), (5, 5), zeros=(4, 9)),
    _case(19, (31, 29), (3, 3), zeros=(5, 4), dtypes=_BYTES),
    _case(25, (3, 3), (3, 3), weights=(-127, 127)),
    _case(107, (6, 6), (3, 3), scale=0.1),
    _case(8, (1, 1), (3, 3)),
    _case(4, (8, 10), (5, 5), zeros=(-128, -128)),
    _case(8, (9, 7), (7, 7), zeros=(127, 3), scale=2),
    _case(16, (12, 16), (5, 5), (2, 2), (1, 1, 2, 2), dtypes=_BYTES, zeros=(200, 17)),
    _case(8, (4, 5), (7, 7), weights=(-128, 127), zeros=(-128, 0), scale=6),
    _case(64, (5, 6), (5, 5), (2, 2), weights=(-128, 0, 127), zeros=(127, -128)),
    _case(17, (6, 5), (3, 5), dtypes=_BYTES, zeros=(0, 255)),
    _case(7, (5, 9), (5, 3), (1, 2), (2, 0, 2, 1), dtypes=("uint8", "int8"), zeros=(255, 0)),
    _case(5, (9, 9), (3, 3), (1, 1), None, (2, 2)),
    _case(8, (11, 13), (3, 3), (2, 1), (3, 2, 3, 4), (3, 2), zeros=(4, 4)),
    _case(4, (13, 11), (3, 3), (3, 3), (1, 1, 1, 1), dtypes=("int8", "uint8"), zeros=(-3, 0)),
    _case(4, (10, 10), (2, 2), (2, 2), _NONE),
    _case(12, (6, 7), (2, 2), (1, 1), (0, 0, 1, 1), weights=(-127, 127)),
    _case(8, (30, 1), (9, 1), (1, 1), _NONE, zeros=(-128, -128)),
    _case(40, (9, 1), (9, 1), (1, 1), _NONE, scale=0.3),
    _case(4, (1, 50), (1, 13), zeros=(11, 4)),
    _case(8, (1, 21), (1, 4), (1, 3), (0, 2, 0, 1)),
    _case(4, (40, 30), (5, 5), zeros=(7, -7)),
    _case(4, (30, 80), (7, 7), (2, 1), (3, 3, 2, 3), scale=0.2),
    _case(40, (31,), (9,), (1,), (8, 0), (1,), zeros=(-128, 5)),
    _case(8, (25,), (5,), (1,), (8, 8), (4,)),
    _case(4, (5, 5), (5, 5), scale=1e-7, zeros=(0, 127)),
    _case(4, (5, 5), (5, 5), scale=3e3, zeros=(0, -128)),
)
GOLDEN = _case(20, (7, 5), (3, 3), zeros=(3, -17))

__all__ = ["ALONE", "GOLDEN", "TAKEN", "Case", "model"]
