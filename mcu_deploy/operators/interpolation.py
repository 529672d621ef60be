"""Resize-10 to -19 in the modes linear and cubic: in the graph mcu-deploy's own Resize.

ONNX's in the mode nearest moves elements (selection.py); this one makes new ones. Along each
axis that it resizes, an element of the output is a sum of a few elements of the input, whose
weights are known when the model is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from mcu_deploy.arithmetic import Array, quantize, requantize
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.selection import resize_scales, resize_ways

# Integer weights are of steps of 2^-BITS, of two axes at most: their sums of bytes fit in 32 bits.
BITS = 11
_MOST_TAPS = 4


@dataclass(frozen=True)
class Taps:
    """What is read along one axis: for each position of the output (rows) the positions in the
    input, int32, and their weights, float32. outside: the positions that have the value of
    `extrapolation_value` instead."""

    positions: Array
    weights: Array
    outside: Array


def taps(call: Call) -> dict[int, Taps]:
    """The axes that are resized, each with what is read along it."""
    x, y = call.type(0).shape, call.results[0].shape
    transform, _ = resize_ways(call)
    scales, roi = resize_scales(call, x, y), _region(call)
    found = {}
    for axis, (size, new) in enumerate(zip(x, y, strict=True)):
        scale, region = float(scales[axis]), roi.get(axis, (0.0, 1.0))
        if size != new or not math.isclose(scale, 1.0) or region != (0.0, 1.0):
            at = _POSITIONS[transform](_Axis(size, new, scale, *region))
            found[axis] = _taps(call, at, size, scale, transform == "tf_crop_and_resize")
    return found


def refusal(call: Call) -> str:
    """Why a call is not computed, a clause; empty where it is."""
    mode = call.attributes.get("mode")
    if mode not in ("linear", "cubic"):
        return f"its mode is {mode!r}; of these there are 'nearest', 'linear' and 'cubic'"
    transform, _ = resize_ways(call)
    if transform not in _POSITIONS:
        known = ", ".join(map(repr, _POSITIONS))
        return f"its coordinate_transformation_mode is {transform!r}; of these there are {known}"
    return ""


@dataclass(frozen=True)
class _Axis:
    """An axis: its sizes before and after, the scale, and the part of it that is resized."""

    size: int
    new: int
    scale: float
    begin: float
    end: float

    @property
    def at(self) -> Array:
        return np.arange(self.new, dtype=np.float64)

    @property
    def length(self) -> float:
        """The size that the scale gives, of which the output has the whole part."""
        return self.scale * self.size


def _region(call: Call) -> dict[int, tuple[float, float]]:
    """By axis, the part that tf_crop_and_resize cuts out."""
    roi = call.optional(1) if call.opset >= 11 else None
    if roi is None or not roi.size or resize_ways(call)[0] != "tf_crop_and_resize":
        return {}
    rank = call.type(0).rank
    axes = [int(axis) % rank for axis in call.attributes.get("axes", range(rank))]
    begin, end = roi.reshape(2, -1).astype(np.float64)
    return {axis: (float(begin[k]), float(end[k])) for k, axis in enumerate(axes)}


def _half_pixel(axis: _Axis) -> Array:
    return (axis.at + 0.5) / axis.scale - 0.5


def _symmetric(axis: _Axis) -> Array:
    return _half_pixel(axis) + axis.size / 2 * (1 - axis.new / axis.length)


def _align_corners(axis: _Axis) -> Array:
    span = axis.length - 1
    return axis.at * ((axis.size - 1) / span if span else 0.0)


def _crop(axis: _Axis) -> Array:
    last, share = axis.size - 1, axis.end - axis.begin
    span = axis.length - 1
    within = axis.at * share * last / span if span else np.full(axis.new, share * last / 2)
    return np.asarray(within + axis.begin * last)


# The position in the input of each position of the output.
_POSITIONS: Mapping[str, Callable[[_Axis], Array]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": lambda axis: _half_pixel(axis) if axis.new > 1 else axis.at * 0.0,
    "align_corners": _align_corners,
    "asymmetric": lambda axis: axis.at / axis.scale,
    "tf_crop_and_resize": _crop,
}


def _taps(call: Call, at: Array, size: int, scale: float, crops: bool) -> Taps:
    """The elements around each position, those beyond the ends moved onto the ends."""
    # With antialias a smaller output reads as many more elements as it is smaller.
    shrink = min(scale, 1.0) if call.attributes.get("antialias", 0) else 1.0
    is_cubic = call.attributes["mode"] == "cubic"
    reach = 2 if is_cubic else 1
    first = math.floor(-reach / shrink) + 1
    near = np.ceil(at).astype(np.int64) - 1  # the nearest element before it
    positions = near[:, None] + np.arange(first, 2 - first)
    distance = np.abs(positions - at[:, None]) * shrink
    a = float(call.attributes.get("cubic_coeff_a", -0.75))
    weights = _cubic(distance, a) if is_cubic else np.clip(1 - distance, 0, 1)
    if call.attributes.get("exclude_outside", 0):
        weights = np.where((positions < 0) | (positions >= size), 0.0, weights)
    total = weights.sum(axis=1, keepdims=True)
    weights = weights / np.where(total == 0, 1.0, total)
    outside = (at < 0) | (at > size - 1) if crops else np.zeros(at.shape, bool)
    clipped = np.clip(positions, 0, size - 1)
    return Taps(clipped.astype(np.int32), weights.astype(np.float32), outside)


def _cubic(distance: Array, a: float) -> Array:
    """Keys' cubic convolution (IEEE 1163711) at a distance of 0 to 2."""
    d = distance
    inner = ((a + 2) * d - (a + 3)) * d * d + 1
    outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, inner, np.where(d < 2, outer, 0.0))


def in_integers(call: Call) -> dict[int, Taps] | None:
    """What is read along the axes that are resized, by weights of int16 in steps of 2^-BITS; None
    where a call is computed in float32: by more than four taps, not linearly, or in 16 bits."""
    x, y = call.type(0), call.results[0]
    if call.attributes.get("mode") != "linear" or not (x.is_quantized and y.is_quantized):
        return None
    if max(x.dtype.bytes, y.dtype.bytes) > 1 or not x.scaling.per_tensor:
        return None
    found = taps(call)
    if math.prod(t.positions.shape[1] for t in found.values()) > _MOST_TAPS:
        return None
    if any(t.outside.any() or not np.allclose(t.weights.sum(axis=1), 1) for t in found.values()):
        return None
    return {axis: replace(t, weights=_in_steps(t.weights)) for axis, t in found.items()}


def _in_steps(weights: Array) -> Array:
    """Rounded, so that they add up to 1: the largest takes what is missing."""
    steps = np.rint(weights.astype(np.float64) * (1 << BITS)).astype(np.int16)
    missing = (1 << BITS) - steps.sum(axis=1, dtype=np.int64)
    steps[np.arange(len(steps)), weights.argmax(axis=1)] += missing.astype(np.int16)
    return steps


def integer_factor(call: Call, bits: int) -> float | None:
    """From sums in steps of 2^-bits to the output; None where both have one scale."""
    x, y = (type_.scaling.scales[0] for type_ in (call.type(0), call.results[0]))
    return None if x == y else float(np.float32(np.ldexp(x, -bits)) / y)


def _by_integers(call: Call, along: Mapping[int, Taps]) -> Array:
    """The exact sums of the elements without their zero point, rounded once."""
    y, bits = call.results[0], BITS * len(along)
    zero, y_zero = call.type(0).scaling.zero_point[0], y.scaling.zero_point[0]
    sums = _sums(call.value(0).astype(np.int64) - zero, along, y.shape)
    factor = integer_factor(call, bits)
    if factor is not None:
        return requantize(sums, np.asarray(factor, np.float32), y_zero, y.dtype.range, y.dtype)
    half = (1 << bits) >> 1
    rounded = (sums + half - 1 + (sums >> bits & 1)) >> bits if bits else sums
    return np.asarray(np.clip(rounded + y_zero, *y.dtype.range))


def _interpolate(call: Call) -> list[Array]:
    along = in_integers(call) if call.is_quantized else None
    if along is not None:
        return [_by_integers(call, along)]
    if call.is_quantized:
        (real,) = _in_reals(call.dequantized())
        return [quantize(real, call.results[0], call.activation)]
    return _in_reals(call)


def _sums(x: Array, along: Mapping[int, Taps], shape: Sequence[int]) -> Array:
    """From 0 on, over the taps of the axes in index order, in the type of x; a tap's weight is the
    product of its axes' weights, from the first on."""
    result = np.zeros(shape, x.dtype)
    for tap in product(*(range(t.positions.shape[1]) for t in along.values())):
        index: list[Array] = [np.arange(size) for size in shape]
        weight = np.ones((), x.dtype)
        for k, (axis, t) in zip(tap, along.items(), strict=True):
            index[axis] = t.positions[:, k]
            spread = (1,) * axis + (-1,) + (1,) * (len(shape) - axis - 1)
            weight = weight * t.weights[:, k].reshape(spread)
        result += weight * x[np.ix_(*index)]
    return result


def _in_reals(call: Call) -> list[Array]:
    along = taps(call)
    result = _sums(call.value(0), along, call.results[0].shape)
    for axis, t in along.items():
        at = (slice(None),) * axis + (t.outside,)
        result[at] = np.float32(call.attributes.get("extrapolation_value", 0.0))
    return [result]


OPERATORS = (Operator("Resize", _interpolate, quantized="native", domain="mcu"),)
