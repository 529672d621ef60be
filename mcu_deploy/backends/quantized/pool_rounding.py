"""The integers that round the sums of averages, tried on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import multiply
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.quantized.pool_layer import Pool
from mcu_deploy.backends.quantized.requantization import shift_of

_LEAST_SHIFT = 12
_LARGEST_SHIFT = 22  # of a second rounding, whose addend has the zero point


class Rounding(NamedTuple):
    """An average is `((sum * scale >> dropped) + addend) >> shift`. margin: what is so near to a
    step is summed again, a power of two; 0 where no sum needs it. again: the share of sums that
    are. is_twice: as TFLite does, by a multiplier, and the addend and the shift of the second time.
    dropped: of a product, by SMMLA all 32."""

    scale: int
    addend: int
    shift: int
    margin: int = 0
    again: float = 0.0
    is_twice: bool = False
    dropped: int = 32

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


class Sums(NamedTuple):
    """All sums that a window of so many elements can have, without their zero points: the output of
    each, whether the float32 sum of such elements could also give another, and in how many outputs
    of the layer such windows are."""

    elements: int
    values: Array
    wanted: Array
    is_open: Array
    outputs: int = 1


def every_sum(pool: Pool) -> list[Sums]:
    """Of each count of elements that an average is divided by."""
    if not pool.is_of_inside:
        return [_sums_of(pool, pool.taps)]
    (_, rows), (_, columns) = pool.spans
    counts, outputs = np.unique(np.outer(rows, columns), return_counts=True)
    every = zip(counts.tolist(), outputs.tolist(), strict=True)
    return [_sums_of(pool, count)._replace(outputs=times) for count, times in every]


def _sums_of(pool: Pool, count: int) -> Sums:
    low, high = (end // pool.taps * count for end in pool.reach)
    least, most = pool.y.dtype.range
    sums = np.arange(low, high + 1, dtype=np.int64)
    if pool.is_of_integers:  # rounded to nearest, ties away from zero
        means = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
        return Sums(count, sums, means, np.zeros(sums.shape, np.bool_))
    if pool.fixed is not None:  # TFLite's means, which are rounded twice
        means = multiply(sums, *pool.fixed) + pool.zero_points[1]
        return Sums(count, sums, means.clip(least, most), np.zeros(sums.shape, np.bool_))
    ratio = _factor(pool, count)
    # Each product, addition and division is off by 2**-24 of its result at most (Higham, Accuracy
    # and Stability of Numerical Algorithms, 4.2), and a little for the terms of higher order.
    magnitude = np.abs(sums) if low >= 0 or high <= 0 else max(-low, high)
    error = (count + 4) * 1.001 * 2.0**-24 * ratio * magnitude + 2.0**-40
    ends = [
        np.clip(np.rint(sums * ratio + e) + pool.zero_points[1], least, most).astype(np.int64)
        for e in (-error, error)
    ]
    return Sums(count, sums, ends[0], ends[0] != ends[1])


def _factor(pool: Pool, count: int) -> float:
    if pool.is_of_integers:
        return 1 / count
    return float(pool.x.scaling.scale[0]) / (count * float(pool.y.scaling.scale[0]))


def round_sums(pool: Pool) -> Rounding | str:
    """The integers that round all sums which a window can have, tried on each of them."""
    if pool.fixed is not None:
        return _round_twice(pool, pool.fixed)
    if pool.is_of_inside:
        return _round_inside(pool)
    (tried,) = every_sum(pool)
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
    results = (pool.lanes * (tried.values - pool.moved) * scale >> 32) + addend
    return settled(pool, Rounding(scale, addend, shift), [tried], [results], _tested(shift))


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
    ratio, tried = _factor(pool, 1), every_sum(pool)
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
    results = [
        (pool.lanes * (of.values + of.elements * zero) * (scale // of.elements) >> 32) + addend
        for of in tried
    ]
    return settled(pool, Rounding(scale, addend, shift), tried, results, _tested(shift))


def _tested(shift: int) -> list[int]:
    """Margins: TST has eight neighbouring bits."""
    return [(1 << shift) >> (9 - more) for more in range(7)]


def settled(
    pool: Pool, rounding: Rounding, tried: Sequence[Sums], results: Sequence[Array],
    margins: Iterable[int],
) -> Rounding | str:  # fmt: skip
    """The rounding, with the first margin in which all sums are that it would round otherwise.
    results: of all sums, before the shift."""
    rights = [
        (np.clip(result >> rounding.shift, *pool.y.dtype.range) == of.wanted) & ~of.is_open
        for of, result in zip(tried, results, strict=True)
    ]
    if all(is_right.all() for is_right in rights):
        return rounding
    if pool.is_of_integers or pool.fixed is not None:
        return "no integers round its sums"
    for margin in margins:
        found = rounding._replace(margin=margin)
        agains = [(result + margin) & found.fraction == 0 for result in results]
        pairs = zip(rights, agains, strict=True)
        if all((is_right | is_again).all() for is_right, is_again in pairs):
            shares = [is_again.mean() for is_again in agains]
            again = np.average(shares, weights=[of.outputs for of in tried])
            return found._replace(again=float(again))
    return "the error of its float32 sums is too large for integers"
