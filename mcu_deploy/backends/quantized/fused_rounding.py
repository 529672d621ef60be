"""Factors with which a sum is scaled and rounded by one fused multiply-add.

The contract rounds twice: a sum times its filter's factor to a float32, that to an integer, ties to
even. A fused multiply-add with 1.5 * 2**23 rounds the exact product to an integer, once. Both are
monotonic in the sum, so they are equal where they are equal around each sum at which the contract's
output changes, and these are few: as many as an output has values. Where they differ for a factor,
one of its neighbours mostly gives the contract's outputs.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array

_FARTHEST = 12  # neighbours of a factor that are tried, of both sides
_EXACT = 1 << 24  # up to here a sum is a float32, and its product with one a float64
_AROUND = np.arange(-2, 4)  # sums from the one in front of a change on


def fused_factors(
    factors: Array, reach: tuple[Array, Array], zero: int, bounds: tuple[int, int]
) -> Array | None:
    """float32 of each filter; None where a filter has none.

    reach: the least and greatest sum of each filter; zero, bounds: the output's zero point and
    range.
    """
    low, high = (ends.astype(np.int64)[:, None, None] for ends in reach)
    if max(-low.min(), high.max()) >= _EXACT:
        return None
    given = factors.astype(np.float32)
    if not (given > 0).all():
        return None
    edges = np.arange(bounds[0] - zero - 1, bounds[1] - zero + 1) + 0.5
    before = np.floor(edges / given.astype(np.float64)[:, None]).astype(np.int64)
    sums = np.clip(before[:, :, None] + _AROUND, low, high).reshape(len(given), -1)
    products = sums.astype(np.float64) * given.astype(np.float64)[:, None]
    wanted = np.clip(np.rint(products.astype(np.float32)) + zero, *bounds)
    found = given.copy()
    left = np.ones(len(given), np.bool_)
    for by in sorted(range(-_FARTHEST, _FARTHEST + 1), key=abs):
        near = (given.view(np.int32) + np.int32(by)).view(np.float32)
        gives = np.clip(np.rint(sums * near.astype(np.float64)[:, None]) + zero, *bounds)
        fits = left & (gives == wanted).all(axis=1)
        found[fits] = near[fits]
        left &= ~fits
        if not left.any():
            return found
    return None
