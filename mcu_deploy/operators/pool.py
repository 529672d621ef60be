"""Pools: AveragePool-19, GlobalAveragePool-1, MaxPool-12, GlobalMaxPool-1, LpPool-18.

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


def folded(call: Call, x: Array, function: np.ufunc, first: np.generic) -> Array:
    """The elements of each window over x, taken together tap by tap, beginning with `first`."""
    geometry = pool_window(call)
    result = np.full(call.results[0].shape, first)
    for tap in geometry.taps():
        source, target = geometry.slices(tap)
        result[target] = function(result[target], x[source])
    return result


def largest(call: Call) -> Array:
    """The largest element of each window."""
    dtype = call.results[0].dtype
    lowest = -np.inf if dtype.is_float else dtype.range[0]
    return folded(call, call.value(0), np.maximum, dtype.numpy.type(lowest))


def _average(call: Call) -> list[Array]:
    counts = average_counts(call, pool_window(call)).astype(np.float32)
    sums = folded(call, call.value(0), np.add, np.float32(0))
    return [clip(sums / counts, call.activation)]


def _maximum(call: Call) -> list[Array]:
    result = largest(call)
    found = [clip(result, call.activation) if call.results[0].dtype.is_float else result]
    return [*found, *([_places(call)] if len(call.results) > 1 else [])]


def _places(call: Call) -> Array:
    """Where the first of the largest elements of each window lies in the whole tensor, or the last
    NaN; 0 where a window has no element."""
    geometry, x = pool_window(call), call.value(0)
    lies = np.arange(x.size).reshape(x.shape)
    if call.attributes.get("storage_order", 0):  # the spatial axes from the last to the first
        spatial = tuple(reversed(range(2, x.ndim)))
        turned = [x.shape[a] for a in (0, 1, *spatial)]
        lies = np.arange(x.size).reshape(turned).transpose(0, 1, *spatial)
    best = np.zeros(call.results[0].shape, x.dtype)
    found = np.full(call.results[0].shape, -1)
    for tap in geometry.taps():
        source, target = geometry.slices(tap)
        value = x[source]
        better = (found[target] < 0) | (value > best[target]) | (value != value)
        best[target] = np.where(better, value, best[target])
        found[target] = np.where(better, lies[source], found[target])
    return np.asarray(np.maximum(found, 0))


def _norm(call: Call) -> list[Array]:
    """In float64, rounded once; the padding adds nothing."""
    p = norm_of(call)
    powers = np.abs(call.value(0).astype(np.float64)) ** p
    sums = folded(call, powers, np.add, np.float64(0))
    return [(sums ** (1 / p)).astype(np.float32)]


def norm_of(call: Call) -> int:
    """The p of LpPool."""
    return int(call.attributes.get("p", 2))


OPERATORS = (
    Operator("AveragePool", _average, quantized="real", monotone=True, takes_clamp=True),
    Operator("GlobalAveragePool", _average, quantized="real", monotone=True, takes_clamp=True),
    Operator("MaxPool", _maximum, moves=FIRST),
    Operator("GlobalMaxPool", _maximum, moves=FIRST),
    Operator("LpPool", _norm),
)
