"""TFLite's RESIZE_BILINEAR on int8 (reference/resize_bilinear.h, ResizeBilinearInteger).

x (N, C, H, W) to another height and width of one scale. Attributes: `align_corners`,
`half_pixel_centers`, at most one of which is 1.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import Integers
from mcu_deploy.operators.base import Call, Operator

# Places between two elements are counted in 1 / 2**10.
BITS = 10


def places(call: Call, axis: int) -> Integers:
    """For each position along an axis of the output (size, 3): the element before it, the one
    behind, and the share of that one, of 2**10."""
    size, wanted = call.type(0).shape[axis], call.results[0].shape[axis]
    step = ((size << BITS) + wanted // 2) // wanted
    if call.attributes.get("align_corners", 0) and wanted > 1:
        step = ((size - 1 << BITS) + (wanted - 1) // 2) // (wanted - 1)
    at = np.arange(wanted, dtype=np.int64) * step
    if call.attributes.get("half_pixel_centers", 0):
        at += step // 2 - (1 << BITS - 1)
    one = 1 << BITS
    # C divides towards zero, and what is below zero becomes the first element either way.
    below = np.maximum(np.where(at < 0, 0, at >> BITS), 0)
    above = np.minimum(np.where(at < 0, 0, (at + one - 1) >> BITS), size - 1)
    return np.stack([below, above, at - (below << BITS)], axis=1)


def _resize(call: Call) -> list[Array]:
    x = call.value(0).astype(np.int64)
    for axis in (2, 3):
        below, above, share = places(call, axis).T
        turned = share.reshape((-1,) + (1,) * (3 - axis))
        one = 1 << BITS
        x = x.take(below, axis) * (one - turned) + x.take(above, axis) * turned
    half = np.where(x > 0, 1 << 2 * BITS - 1, -(1 << 2 * BITS - 1))
    total = x + half
    result = np.sign(total) * (np.abs(total) >> 2 * BITS)
    return [result.astype(call.results[0].dtype.numpy)]


OPERATORS = (Operator("ResizeBilinear", _resize, domain="tflite"),)
