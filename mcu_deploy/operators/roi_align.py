"""RoiAlign-10, -16 and -22: regions of a plane, each brought to one size by bilinear samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator

# Samples along one axis of a bin, where the region's size decides it.
MOST_SAMPLES = 64
_ZERO, _ONE = np.float32(0), np.float32(1)


def offset_of(call: Call) -> float:
    """What is taken off the coordinates: half a pixel, or nothing."""
    default = "half_pixel" if call.opset >= 16 else "output_half_pixel"
    mode = call.attributes.get("coordinate_transformation_mode", default)
    return 0.5 if mode == "half_pixel" else 0.0


def samples_of(call: Call) -> int:
    """The samples along one axis of a bin; 0: as many as the region has pixels there."""
    return int(call.attributes.get("sampling_ratio", 0))


def _axis(call: Call, begin: Any, end: Any, bins: int) -> tuple[Any, Any, int]:
    """Of one region along one axis: where it begins, a bin's size, and the samples of a bin."""
    scale = np.float32(call.attributes.get("spatial_scale", 1.0))
    offset = np.float32(offset_of(call))
    first, last = begin * scale - offset, end * scale - offset
    size = last - first
    if not offset:  # at least a pixel, as the operator had it at first
        size = size if size > _ONE else _ONE
    step = size / np.float32(bins)
    count = samples_of(call)
    if count <= 0:
        wanted = np.ceil(step)
        count = int(min(wanted, MOST_SAMPLES)) if wanted > 0 else 0
    return first, step, count


def _taps(at: Any, size: int) -> tuple[int, int, Any] | None:
    """The two elements around a position, and the weight of the second; None beyond the plane."""
    if not (at >= -_ONE and at <= np.float32(size)):
        return None
    at = at if at > _ZERO else _ZERO
    low = int(at)
    if low >= size - 1:
        return size - 1, size - 1, _ZERO
    return low, low + 1, at - np.float32(low)


def _roi_align(call: Call) -> list[Array]:
    x, rois, batches = call.value(0), call.value(1), call.value(2)
    y = np.zeros(call.results[0].shape, np.float32)
    is_max = call.attributes.get("mode", "avg") == "max"
    height, width = x.shape[2:]
    for r, (x1, y1, x2, y2) in enumerate(rois):
        plane = x[int(np.clip(batches[r], 0, len(x) - 1))]
        top, row, rows = _axis(call, y1, y2, y.shape[2])
        left, column, columns = _axis(call, x1, x2, y.shape[3])
        for i, j in np.ndindex(y.shape[2:]):
            total = np.full(len(plane), -np.inf if is_max else 0, np.float32)
            for a, b in np.ndindex(rows, columns):
                v = _position(top, row, i, a, rows)
                u = _position(left, column, j, b, columns)
                total = _sampled(plane, _taps(v, height), _taps(u, width), total, is_max)
            if is_max:
                y[r, :, i, j] = total if rows * columns else 0
            else:
                y[r, :, i, j] = total / np.float32(max(rows * columns, 1))
    return [y]


def _position(first: Any, step: Any, bin_: int, k: int, count: int) -> Any:
    inside = (np.float32(k) + np.float32(0.5)) * step / np.float32(count)
    return first + np.float32(bin_) * step + inside


def _sampled(
    plane: Array, v: tuple[int, int, Any] | None, u: tuple[int, int, Any] | None, total: Array,
    is_max: bool,
) -> Array:  # fmt: skip
    """What one sample makes of the total: its four elements, each times its weight."""
    if v is None or u is None:
        return np.asarray(np.maximum(total, _ZERO)) if is_max else total
    (top, bottom, dv), (left, right, du) = v, u
    parts = [
        (_ONE - dv) * (_ONE - du) * plane[:, top, left], (_ONE - dv) * du * plane[:, top, right],
        dv * (_ONE - du) * plane[:, bottom, left], dv * du * plane[:, bottom, right],
    ]  # fmt: skip
    if is_max:
        return np.asarray(np.maximum.reduce([total, *parts]))
    return np.asarray(total + (((parts[0] + parts[1]) + parts[2]) + parts[3]))


OPERATORS = (Operator("RoiAlign", _roi_align),)
