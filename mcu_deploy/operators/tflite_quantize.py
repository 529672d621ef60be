"""TFLite's QUANTIZE: of float32, and of a tensor that is quantized already (Requantize)."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import (
    multiply,
    quantize_multiplier,
    round_half_away,
    saturate,
    scalar,
)
from mcu_deploy.operators.base import Call, Operator


def _quantize(call: Call) -> list[Array]:
    """round(x / scale) in float32, ties away from zero; NaN becomes the smallest value."""
    y = call.results[0]
    scale, zero_point = scalar(y)
    low, high = y.dtype.range
    with np.errstate(over="ignore", invalid="ignore"):
        quotient = call.value(0).astype(np.float32) / np.float32(scale)
    bounded = np.where(np.isnan(quotient), np.float32(low - zero_point), quotient)
    # Clamped before the rounding: the bounds are integers, so the order does not matter.
    clamped = np.clip(bounded, low - zero_point, high - zero_point).astype(np.float32)
    return [saturate(round_half_away(clamped), zero_point, y.dtype.range, y.dtype)]


def requantization(call: Call) -> tuple[int, int]:
    """Multiplier and shift of sx / sy."""
    return quantize_multiplier(scalar(call.type(0))[0] / scalar(call.results[0])[0])


def _requantize(call: Call) -> list[Array]:
    y = call.results[0]
    value = call.value(0).astype(np.int64) - scalar(call.type(0))[1]
    scaled = multiply(value, *requantization(call))
    return [saturate(scaled, scalar(y)[1], y.dtype.range, y.dtype)]


OPERATORS = (
    Operator("Quantize", _quantize, domain="tflite", converts=True),
    Operator("Requantize", _requantize, domain="tflite"),
)
