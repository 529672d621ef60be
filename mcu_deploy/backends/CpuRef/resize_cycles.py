"""What CpuRef's kernels take that resize by sums of elements, on a Cortex-M4F."""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.cores import core_of
from mcu_deploy.backends.interface import Layer
from mcu_deploy.operators import interpolation

# An element of TFLite's bilinear one, by its bytes.
_OF_FOUR = {1: 35.5, 2: 47}


def bilinear(layer: Layer) -> float:
    """TFLite's, of integers."""
    y = layer.output.type
    return _OF_FOUR[y.dtype.bytes] * y.elements


def interpolated(layer: Layer) -> float:
    """Sums of taps: of integers by pointers that are found for all that lies behind the innermost
    axis that is resized."""
    y = layer.output.type
    along = interpolation.in_integers(layer.call) if y.is_quantized else None
    found = interpolation.taps(layer.call) if along is None else along
    count = math.prod(taps.positions.shape[1] for taps in found.values())
    if along is None:
        each = 71 + 18 * count if y.is_quantized else max(8, 19 * count - 13)
        return float(y.elements * each)
    last = max((y.order.index(axis) for axis in along), default=-1)
    behind = math.prod(y.physical_shape[last + 1 :])
    factor, core = interpolation.integer_factor(layer.call, 0), core_of(layer.target)
    end = 11 if factor is None else 27 + core.rounded / core.steps
    around = 8 + (7 if behind == 1 else 10) * count
    return float(y.elements * (end + 3 * count) + y.elements / max(1, behind) * around)
