"""TFLite's RESIZE_BILINEAR on int8, int16 and uint8 (reference/resize_bilinear.h).

x (N, C, H, W) to another height and width of one scale. Attributes: `align_corners`,
`half_pixel_centers`, at most one of which is 1. int8 and int16 in integers (ResizeBilinearInteger),
uint8 in float32 (ResizeBilinear); of int16 and uint8 LiteRT alone has it.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import Integers
from mcu_deploy.ir import DType
from mcu_deploy.operators.base import Call, Operator

# Places between two elements are counted in 1 / 2**10.
BITS = 10
# Sums of bytes by shares of two axes in steps of 1 / 2**7 are float32 without rounding.
_EXACT_BITS = 7


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


def real_places(call: Call, axis: int) -> tuple[Integers, Array]:
    """For each position along an axis of the output the elements before and behind it, and their
    shares, float32 (size, 2)."""
    size, wanted = call.type(0).shape[axis], call.results[0].shape[axis]
    scale, half = np.float32(size) / np.float32(wanted), np.float32(0.5)
    if call.attributes.get("align_corners", 0) and wanted > 1:
        scale = np.float32(size - 1) / np.float32(wanted - 1)
    at = np.arange(wanted, dtype=np.float32)
    at = (at + half) * scale - half if call.attributes.get("half_pixel_centers", 0) else at * scale
    below = np.maximum(np.floor(at), np.float32(0))
    above = np.minimum(np.ceil(at), np.float32(size - 1))
    share = at - below
    return (
        np.stack([below, above], axis=1).astype(np.int64),
        np.stack([np.float32(1) - share, share], axis=1),
    )


def integer_places(call: Call) -> tuple[Integers, Integers] | None:
    """The `places` of rows and of columns by which integers are resized to the same elements; None
    where only float32 gives them."""
    if call.type(0).dtype is not DType.UINT8:
        return places(call, 2), places(call, 3)
    (rows, row_shares), (columns, column_shares) = real_places(call, 2), real_places(call, 3)
    found = []
    for at, shares in ((rows, row_shares), (columns, column_shares)):
        if np.any(shares * (1 << _EXACT_BITS) % 1):
            return None
        found.append(np.column_stack([at, (shares[:, 1] * (1 << BITS)).astype(np.int64)]))
    return found[0], found[1]


def _resize(call: Call) -> list[Array]:
    if call.type(0).dtype is DType.UINT8:
        return [_in_reals(call)]
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


def _in_reals(call: Call) -> Array:
    """The sum of the four elements, left before right and above before below."""
    x = call.value(0).astype(np.float32)
    (rows, upper), (columns, left) = real_places(call, 2), real_places(call, 3)
    total = np.zeros(call.results[0].shape, np.float32)
    for side in (0, 1):
        for line in (0, 1):
            element = x.take(rows[:, line], 2).take(columns[:, side], 3)
            total = total + element * upper[:, line, None] * left[:, side]
    return (total + np.float32(0.5)).astype(np.uint8)


OPERATORS = (Operator("ResizeBilinear", _resize, domain="tflite"),)
