"""The integers that round the sums of averages, tried on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.quantized.pool_layer import Pool
from mcu_deploy.backends.quantized.requantization import shift_of

_LEAST_SHIFT = 12
_LARGEST_SHIFT = 22  # of a second rounding, whose addend has the zero point


class Rounding(NamedTuple):
    """shift: of SMMLA's result. margin: what is so near to a step is summed again, a power of two;
    0 where no sum needs it. again: the share of sums that are. is_twice: as TFLite does, by a
    multiplier, and the addend and the shift of the second time."""

    scale: int
    addend: int
    shift: int
    margin: int = 0
    again: float = 0.0
    is_twice: bool = False

    @property
    def fraction(self) -> int:
        """The bits of a result that are all 0 where it is near a step, and `margin` was added."""
        return (1 << self.shift) - 2 * self.margin


def rounding_of(pool: Pool, node: Layer) -> Rounding | str | None:
    """What rounds an average; or why nothing does, a clause."""
    found = None if pool.is_maximum else round_sums(pool)
    if isinstance(found, Rounding) and found.margin and not node.target.fpu:
        return f"some of its sums are float32's, which this {node.target.core} has no FPU for"
    return found


def sums_of(pool: Pool, count: int) -> tuple[Array, Array, Array]:
    """All sums of so many elements without their zero points, the output of each, and whether the
    float32 sum of such elements could also give another."""
    low, high = (end // pool.taps * count for end in pool.reach)
    least, most = pool.y.dtype.range
    sums = np.arange(low, high + 1, dtype=np.int64)
    if pool.is_of_integers:  # rounded to nearest, ties away from zero
        means = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
        return sums, means, np.zeros(sums.shape, np.bool_)
    ratio = _factor(pool, count)
    # Each product, addition and division is off by 2**-24 of its result at most (Higham, Accuracy
    # and Stability of Numerical Algorithms, 4.2), and a little for the terms of higher order.
    magnitude = np.abs(sums) if low >= 0 or high <= 0 else max(-low, high)
    error = (count + 4) * 1.001 * 2.0**-24 * ratio * magnitude + 2.0**-40
    ends = [
        np.clip(np.rint(sums * ratio + e) + pool.zero_points[1], least, most).astype(np.int64)
        for e in (-error, error)
    ]
    return sums, ends[0], ends[0] != ends[1]


def _factor(pool: Pool, count: int) -> float:
    if pool.is_of_integers:
        return 1 / count
    return float(pool.x.scaling.scale[0]) / (count * float(pool.y.scaling.scale[0]))


class _Tried(NamedTuple):
    """All sums of a window: SMMLA's results, the outputs, whether these are open, and in how many
    outputs of the layer such windows are."""

    results: Array
    wanted: Array
    is_open: Array
    outputs: int = 1


def round_sums(pool: Pool) -> Rounding | str:
    """The integers that round all sums which a window can have, tried on each of them."""
    if pool.fixed is not None:
        return _round_twice(pool, pool.fixed)
    if pool.is_of_inside:
        return _round_inside(pool)
    sums, wanted, is_open = sums_of(pool, pool.taps)
    factor = _factor(pool, pool.taps)
    shift = shift_of(np.array([factor]), pool.lanes)
    if shift < _LEAST_SHIFT:
        return "its scales are too far apart"
    unit = 1 << shift
    if pool.is_of_integers and pool.taps % 2 == 0:
        # A little steeper, all ties are away from zero, and no other sum is at a tie.
        factor *= 1 + 1 / (512 * pool.taps)
    scale = round(factor * unit * 2**32 / pool.lanes)
    addend = round((pool.zero_points[1] + 0.5 + pool.moved * factor) * unit)
    results = (pool.lanes * (sums - pool.moved) * scale >> 32) + addend
    return _settled(pool, Rounding(scale, addend, shift), [_Tried(results, wanted, is_open)])


def _round_twice(pool: Pool, fixed: tuple[int, int]) -> Rounding | str:
    """Of TFLite's means: a multiplier, and the addend and the shift of the second rounding."""
    multiplier, shift = fixed[0], -fixed[1]
    if not 0 < shift <= _LARGEST_SHIFT:
        return "its scales are too far apart"
    zero = pool.zero_points[1]
    return Rounding(multiplier, (1 << shift - 1) + (zero << shift), shift, is_twice=True)


def _round_inside(pool: Pool) -> Rounding | str:
    """As `round_sums`, of windows that are divided by how many of their elements are inside. The
    scale is that of one element: when it runs, it is divided by that count."""
    (_, rows), (_, columns) = pool.spans
    counts, outputs = np.unique(np.outer(rows, columns), return_counts=True)
    ratio = _factor(pool, 1)
    shift = shift_of(np.array([ratio]), pool.lanes)
    if shift < _LEAST_SHIFT:
        return "its scales are too far apart"
    unit, zero = 1 << shift, pool.zero_points[0] + pool.start[1]
    steeper = higher = 0.0
    if pool.is_of_integers:  # ties away from zero, where lanes of uint8 are 128 less an element
        steeper, higher = (
            (1 / (512 * pool.taps), 0.0) if pool.is_signed else (0.0, 0.25 / pool.taps)
        )
    scale = round(ratio * (1 + steeper) * unit * 2**32 / pool.lanes)
    addend = round((pool.zero_points[1] + 0.5 + higher - zero * ratio) * unit)
    tried = []
    for count, times in zip(map(int, counts), map(int, outputs), strict=True):
        sums, wanted, is_open = sums_of(pool, count)
        results = (pool.lanes * (sums + count * zero) * (scale // count) >> 32) + addend
        tried.append(_Tried(results, wanted, is_open, times))
    return _settled(pool, Rounding(scale, addend, shift), tried)


def _settled(pool: Pool, rounding: Rounding, tried: Sequence[_Tried]) -> Rounding | str:
    """The rounding, with a margin in which all sums are that it would round otherwise."""
    unit = 1 << rounding.shift
    rights = [
        (np.clip(of.results >> rounding.shift, *pool.y.dtype.range) == of.wanted) & ~of.is_open
        for of in tried
    ]
    if all(is_right.all() for is_right in rights):
        return rounding
    if pool.is_of_integers:
        return "no integers round its sums"
    # TST has eight neighbouring bits.
    for margin in (unit >> 9 - more for more in range(7)):
        found = rounding._replace(margin=margin)
        agains = [(of.results + margin) & found.fraction == 0 for of in tried]
        pairs = zip(rights, agains, strict=True)
        if all((is_right | is_again).all() for is_right, is_again in pairs):
            shares = [is_again.mean() for is_again in agains]
            again = np.average(shares, weights=[of.outputs for of in tried])
            return found._replace(again=float(again))
    return "the error of its float32 sums is too large for integers"
