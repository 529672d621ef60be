"""Layers of TFLite for ArmMve, which round twice: those of ArmDsp's tests, and others of many
filters, of one shift and of several, whose products are at both sides of 0 or not, or no halfwords.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tflite
from arm_dsp_tflite_cases import MODELS as _MODELS
from arm_dsp_tflite_cases import Case, Conv, Dense, Depthwise, LayersFile, Mean, extremes
from arm_dsp_tflite_cases import model as _model


@dataclass(frozen=True)
class Chain:
    """A 1x1 convolution with 16 filters and a depthwise one behind it, whose outputs alone are the
    model's. zeros: of the input, between both, of the output."""

    channels: int
    plane: tuple[int, int]
    zeros: tuple[int, int, int] = (3, -5, 7)

    def add(self, file: LayersFile, name: str) -> None:
        between, last = f"{name}_z", self.zeros[2]
        Conv(self.channels, 16, self.plane, zeros=self.zeros[:2]).add(file, between)
        scale = file.tensors[-1].scale[0]
        random = np.random.default_rng(len(file.tensors))
        shape = (1, 3, 3, 16)
        weights = np.clip(np.rint(random.normal(0, 40, shape)), -128, 127).astype(np.int8)
        factors = random.uniform(0.002, 0.02, 16)
        inputs = [
            between,
            file.constant(f"{name}_w", weights, factors.tolist(), axis=3),
            file.constant(f"{name}_b", random.integers(-900, 900, 16).astype(np.int32)),
        ]
        y = file.tensor(name, (1, *self.plane, 16), scale, last)
        window = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1}
        options = {**window, "DilationHFactor": 1, "DilationWFactor": 1, "DepthMultiplier": 1}
        file.layer("DEPTHWISE_CONV_2D", inputs, y, "DepthwiseConv2DOptions", options)
        file.inputs.remove(between)
        file.outputs.remove(between)


_LEAST = (-4, -128)
MODELS: dict[str, tuple[Case | Chain, ...]] = {
    "means": (
        Mean((1, 6, 4, 40)),
        Mean((1, 7, 7, 21), zeros=(-128, -128), scale=0.4, keeps=True),
        Mean((2, 5, 9, 8), zeros=(127, 100), scale=0.8),
        Mean((1, 30, 20, 5), zeros=(-7, 0), scale=0.2),
        Mean((1, 2, 1, 17), zeros=(-128, 5), scale=1.4),
        Mean((1, 16, 16, 16), zeros=(-128, -128)),
        Mean((1, 23, 23, 16), zeros=(40, 127), scale=0.03),
    ),
    "chains": (
        Chain(8, (19, 34)),
        Chain(13, (25, 32), zeros=(-128, -128, -128)),
    ),
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


def model(cases: Sequence[Case | Chain], path: Path) -> Path:
    """The outputs are called by the numbers of the cases."""
    return _model(cases, path)  # type: ignore[arg-type]


__all__ = ["ALL", "MODELS", "SMALL", "extremes", "model"]
