"""Layers of TFLite for ArmMve, which round twice: those of ArmDsp's tests, and others of many
filters, of one shift and of several, whose products are at both sides of 0 or not, or no halfwords.
"""

from __future__ import annotations

from arm_dsp_tflite_cases import MODELS as _MODELS
from arm_dsp_tflite_cases import Case, Conv, Dense, Depthwise, extremes, model

_LEAST = (-4, -128)
MODELS: dict[str, tuple[Case, ...]] = {
    "many filters": (
        Conv(16, 32, (4, 5)),
        Conv(8, 40, (3, 5), zeros=_LEAST, spread=1),
        Conv(24, 19, (5, 4), scale=0.022),
        Conv(20, 16, (7, 6), (3, 3), zeros=_LEAST),
        Conv(6, 20, (5, 5), (3, 2), scale=0.009, spread=1),
        Conv(3, 17, (8, 8), (5, 5), zeros=(-128, 127), is_extreme=True),
        Dense(1, 200, 300),
        Dense(1, 48, 160, is_per_channel=True, zeros=_LEAST),
    ),
    "depthwise": (
        Depthwise(20, (6, 5), (3, 3), most=0.49),
        Depthwise(7, (9, 9), (5, 5), zeros=(127, -128)),
        Depthwise(40, (1, 9), (1, 3), zeros=(0, 0)),
        Depthwise(18, (16, 30), (3, 3), zeros=(5, 6)),
        Dense(3, 32, 36, is_per_channel=True),
        Dense(1, 37, 21, is_per_channel=True, scale=0.02),
    ),
    **{
        name: _MODELS[name]
        for name in (
            "convolutions",
            "dense",
            "sums",
            "products",
            "broadcast",
            "pools",
            "padded pools",
        )
    },
}
# Those whose kernels are one function each, and others.
ALL = {**MODELS, "clamped": _MODELS["clamped"]}
# Golden C.
SMALL = (Conv(8, 20, (3, 3)), Depthwise(4, (3, 3), (3, 3), most=0.4))

__all__ = ["ALL", "MODELS", "SMALL", "extremes", "model"]
