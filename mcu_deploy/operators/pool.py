"""Pools: AveragePool-19, GlobalAveragePool-1, MaxPool-12, GlobalMaxPool-1, ReduceMean-18.

Averages of quantized tensors: float32 sum of the dequantized elements in index order, divided by
the count, quantized. Maxima move elements: they stay integers.
"""

from __future__ import annotations

from dataclasses import replace

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
    sides = zip(geometry.begin, geometry.input, geometry.end, strict=True)
    zeros = (0,) * len(geometry.kernel)
    return count_taps(replace(geometry, begin=zeros, end=zeros, input=tuple(map(sum, sides))))


def folded(call: Call, function: np.ufunc, first: np.generic) -> Array:
    """The elements of each window, taken together tap by tap, beginning with `first`."""
    geometry, x = pool_window(call), call.value(0)
    result = np.full(call.results[0].shape, first)
    for tap in geometry.taps():
        source, target = geometry.slices(tap)
        result[target] = function(result[target], x[source])
    return result


def largest(call: Call) -> Array:
    """The largest element of each window."""
    dtype = call.results[0].dtype
    lowest = -np.inf if dtype.is_float else dtype.range[0]
    return folded(call, np.maximum, dtype.numpy.type(lowest))


def _average(call: Call) -> list[Array]:
    counts = average_counts(call, pool_window(call)).astype(np.float32)
    return [clip(folded(call, np.add, np.float32(0)) / counts, call.activation)]


def _maximum(call: Call) -> list[Array]:
    result = largest(call)
    return [clip(result, call.activation) if call.results[0].dtype.is_float else result]


OPERATORS = (
    Operator("AveragePool", _average, quantized="real", monotone=True, takes_clamp=True),
    Operator("GlobalAveragePool", _average, quantized="real", monotone=True, takes_clamp=True),
    Operator("MaxPool", _maximum, moves=FIRST),
    Operator("GlobalMaxPool", _maximum, moves=FIRST),
)
