"""MaxRoiPool-1 and -22: regions of a plane, each brought to one size by the largest of each bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator

# Pixels from the origin: what lies beyond, and NaN, which lies before, is taken for this far.
FARTHEST = 1 << 20


def _edge(value: Any, scale: Any) -> int:
    """The pixel of a region's edge: rounded to nearest, ties away from zero."""
    at = value * scale
    at = np.float32(FARTHEST) if at > FARTHEST else at if at > -FARTHEST else -np.float32(FARTHEST)
    whole = np.floor(np.abs(at))
    return int(np.copysign(whole + (np.abs(at) - whole >= np.float32(0.5)), at))


def _bins(first: int, last: int, count: int, size: int) -> list[slice]:
    """Of each bin along an axis the pixels of the plane that it has."""
    step = np.float32(max(last - first + 1, 1)) / np.float32(count)
    begins = [int(np.floor(np.float32(n) * step)) + first for n in range(count)]
    ends = [int(np.ceil(np.float32(n + 1) * step)) + first for n in range(count)]
    return [
        slice(min(max(b, 0), size), min(max(e, 0), size)) for b, e in zip(begins, ends, strict=True)
    ]


def _max_roi_pool(call: Call) -> list[Array]:
    x, rois = call.value(0), call.value(1)
    y = np.zeros(call.results[0].shape, np.float32)
    scale = np.float32(call.attributes.get("spatial_scale", 1.0))
    for r, (batch, *region) in enumerate(rois):
        plane = x[int(batch) if 0 < batch < len(x) else len(x) - 1 if batch > 0 else 0]
        left, top, right, bottom = (_edge(value, scale) for value in region)
        rows = _bins(top, bottom, y.shape[2], x.shape[2])
        columns = _bins(left, right, y.shape[3], x.shape[3])
        for i, j in np.ndindex(y.shape[2:]):
            bin_ = plane[:, rows[i], columns[j]]
            if bin_[0].size:
                y[r, :, i, j] = bin_.max(axis=(1, 2))
    return [y]


OPERATORS = (Operator("MaxRoiPool", _max_roi_pool),)
