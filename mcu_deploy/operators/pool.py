"""Pools: AveragePool-19, GlobalAveragePool-1, MaxPool-12, GlobalMaxPool-1, ReduceMean-18.

Averages of quantized tensors: float32 sum of the dequantized elements in index order, divided by
the count, quantized. Maxima move elements: they stay integers.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array, clip
from mcu_deploy.operators.base import FIRST, Call, Operator
from mcu_deploy.operators.windows import Window, count_taps, window


def pool_window(call: Call) -> Window:
    """The window of a pool; a global pool's covers all spatial positions."""
    x, y = call.type(0), call.results[0]
    if call.op.startswith("Global"):
        return window({}, x.shape[2:], y.shape[2:], x.shape[2:])
    return window(call.attributes, x.shape[2:], y.shape[2:], call.attributes["kernel_shape"])


def average_counts(call: Call, geometry: Window) -> Array:
    """What each output position's sum is divided by."""
    if not call.attributes.get("count_include_pad", 0):
        return count_taps(geometry)
    # Padding counts, but what ceil_mode adds beyond it does not.
    extended = Window(
        geometry.kernel,
        geometry.strides,
        geometry.dilations,
        (0,) * len(geometry.kernel),
        (0,) * len(geometry.kernel),
        tuple(
            b + i + e for b, i, e in zip(geometry.begin, geometry.input, geometry.end, strict=True)
        ),
        geometry.output,
    )
    return count_taps(extended)


def _average(call: Call) -> list[Array]:
    geometry = pool_window(call)
    x = call.value(0)
    sums = np.zeros(call.results[0].shape, dtype=np.float32)
    for tap in geometry.taps():
        source, target = geometry.slices(tap)
        sums[target] += x[source]
    mean = sums / average_counts(call, geometry).astype(np.float32)
    return [clip(mean, call.activation)]


def _maximum(call: Call) -> list[Array]:
    geometry = pool_window(call)
    x = call.value(0)
    dtype = call.results[0].dtype
    lowest = -np.inf if dtype.is_float else dtype.range[0]
    result = np.full(call.results[0].shape, lowest, dtype=x.dtype)
    for tap in geometry.taps():
        source, target = geometry.slices(tap)
        result[target] = np.maximum(result[target], x[source])
    return [clip(result, call.activation) if dtype.is_float else result]


OPERATORS = (
    Operator("AveragePool", _average, quantized="real", takes_clamp=True),
    Operator("GlobalAveragePool", _average, quantized="real", takes_clamp=True),
    Operator("MaxPool", _maximum, moves=FIRST),
    Operator("GlobalMaxPool", _maximum, moves=FIRST),
)
