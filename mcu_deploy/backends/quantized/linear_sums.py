"""Sums and differences of two bytes as one integer sum of products, tried on all of their pairs.

`(a_scale * a + b_scale * b + offset) >> shift`, of bytes as they are. The contract has float32 with
a division, so of two scales the offset that gives the oracle's element for every pair is found, if
there is one: each pair bounds it from both sides, but where the element is at an end of the range.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized import byte_pairs
from mcu_deploy.operators import Call

SHIFTS = range(24, 16, -1)  # the finest that leaves a sum in 32 bits is taken
_TRIES = 400
_FARTHEST = 12  # units in which scales are tried around the nearest ones


class LinearSum(NamedTuple):
    """The integers of the formula."""

    a: int
    b: int
    offset: int
    shift: int


def solve(domain: str, call: Call, room: int = 0) -> LinearSum | None:
    """Integers that give the oracle's element for every pair; None where none were found. room: by
    how much elements may be moved, too, without a sum that leaves 32 bits."""
    a, b, wanted = byte_pairs.tried(domain, call)
    types, y = (call.type(0), call.type(1)), call.results[0]
    a, b = (x + t.dtype.range[0] + 128 for x, t in zip((a, b), types, strict=True))
    ratios = [t.scaling.scale[0] / y.scaling.scale[0] for t in types]
    ratios[1] *= -1 if call.op == "Sub" else 1
    zeros = [t.scaling.zero_point[0] for t in types]
    middle = y.scaling.zero_point[0] + 0.5 - ratios[0] * zeros[0] - ratios[1] * zeros[1]
    # No part of a sum leaves 32 bits, in whichever order it is added.
    most = abs(middle) + 1 + room + sum(
        abs(r) * max(map(abs, t.dtype.range)) for r, t in zip(ratios, types, strict=True)
    )  # fmt: skip
    shift = next((s for s in SHIFTS if most * 2.0**s < 2**31), None)
    if shift is None:
        return None
    nearest = [round(r * 2.0**shift) for r in ratios]
    # Elements that two neighbours of a pair could have are what decides, so these are tried first.
    reals = ratios[0] * a + ratios[1] * b + middle
    decides = np.abs(reals - np.rint(reals)) < 2.0**-9
    near = a[decides], b[decides], wanted[decides]
    # Where hardly any element is within the range, pairs alone would let it lie anywhere.
    limits = math.ceil((middle - 0.25) * 2.0**shift), math.floor((middle + 0.25) * 2.0**shift)
    for n in range(_TRIES):
        # Points that fill a square around the nearest integers, wider and wider.
        moves = [
            round(((n * step) % 257 - 128) / 128 * _FARTHEST * n / _TRIES) for step in (101, 163)
        ]
        scales = nearest[0] + moves[0], nearest[1] + moves[1]
        if _offset(*scales, shift, *near, y.dtype.range, limits) is None:
            continue
        offset = _offset(*scales, shift, a, b, wanted, y.dtype.range, limits)
        if offset is not None:
            return LinearSum(*scales, offset, shift)
    return None


def _offset(
    a_scale: int, b_scale: int, shift: int, a: Array, b: Array, wanted: Array,
    ends: tuple[int, int], limits: tuple[int, int],
) -> int | None:  # fmt: skip
    """The middle one of those within limits that give what is wanted of all pairs."""
    parts = a_scale * a + b_scale * b
    low = (wanted << shift) - parts
    lowest = low[wanted > ends[0]].max(initial=limits[0])
    highest = (low + (1 << shift) - 1)[wanted < ends[1]].min(initial=limits[1])
    return int(lowest + highest) >> 1 if lowest <= highest else None
