"""The straight lines whose floors are staircases: their scales, and the offsets that fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.rounding_forms import UPPER
from mcu_deploy.backends.quantized.staircases import NO_BOUND, Staircases

# Of the search for a scale: as a rule it ends after five. So many scales on either side are looked
# at in each, in steps of a part of the scale.
_ROUNDS, _AROUND, _PART = 64, 16, 20
# Of a slope, more than what float64 rounds.
_ROUNDED = 1e-9
_EVERY = slice(None)
# A scale that is none.
_TOO_LARGE = 1 << 40


class Lines:
    """Searches for the straight lines whose floors are staircases, of accumulators that are `lanes`
    times the sum. lanes, shift: one number, or one a channel. Scales are [channel, scale]."""

    def __init__(
        self, stairs: Staircases, lanes: Array | int, shift: Array | int, bits: int = UPPER.bits
    ) -> None:
        self._stairs = stairs
        self.unit = np.int64(1) << bits + np.broadcast_to(shift, stairs.factors.shape)
        self.lanes = np.broadcast_to(np.asarray(lanes, np.int64), stairs.factors.shape)
        self._at, self._before = (self.lanes[:, None] * x for x in (stairs.at, stairs.before))
        self._least_at = stairs.values * self.unit[:, None]
        self._most_before = stairs.above * self.unit[:, None] - 1
        with np.errstate(invalid="ignore"):
            first = np.rint(stairs.factors * self.unit / self.lanes)
        self.first = np.clip(first, 0, _TOO_LARGE).astype(np.int64)
        self._steps = np.maximum(1, self.first >> _PART)

    def most(self, scales: Array, of: Array | slice = _EVERY) -> Array:
        """The largest offset with which no step is early. of: which channels the scales are of."""
        high = self._most_before[of, None] - self._before[of, None] * scales[:, :, None]
        is_free = self._stairs.no_before[of, None]
        return np.where(is_free, NO_BOUND, high.min(2, initial=NO_BOUND))

    def least(self, scales: Array, of: Array | slice = _EVERY) -> Array:
        """The smallest offset with which no step is late."""
        low = self._least_at[of, None] - self._at[of, None] * scales[:, :, None]
        is_free = self._stairs.no_at[of, None]
        return np.where(is_free, -NO_BOUND, low.max(2, initial=-NO_BOUND))

    def widest(self, of: Array) -> Array:
        """Of some channels the scales that leave the most room between `least` and `most`."""
        best, steps = self.first.copy(), self._steps.copy()
        around = np.arange(-_AROUND, _AROUND + 1, dtype=np.int64)
        found, is_met = self._met(of)
        best[of[is_met]] = found[is_met]
        open_ = of[~is_met]
        for _ in range(_ROUNDS if open_.size else 0):
            # The room is concave in the scale; few reachable sums may let it grow forever.
            scales = best[open_, None] + steps[open_, None] * around
            widths = self.most(scales, open_) - self.least(scales, open_)
            is_best = widths[:, _AROUND] == widths.max(1)
            at = np.where(is_best, _AROUND, widths.argmax(1))
            best[open_] = scales[np.arange(open_.size), at]
            is_inside = (at > 0) & (at < 2 * _AROUND)
            is_done = is_inside & (steps[open_] == 1)
            steps[open_[is_inside]] = np.maximum(1, steps[open_[is_inside]] // 8)
            open_ = open_[~is_done]
            if not open_.size:
                break
        widest: Array = best[of]
        return widest

    def _met(self, of: Array) -> tuple[Array, Array]:
        """As `widest`, and whether it was found: no other scale that is looked for leaves as much
        room, or it grows up to the last. The room lies below the lines that touch it at two scales,
        and is looked at where these meet."""
        at, least_at = self._at[of], self._least_at[of]
        before, most_before = self._before[of], self._most_before[of]
        rows = np.arange(of.size)

        def touched(scales: Array) -> Array:
            """[scale, room, by how much that grows with the scale]."""
            high, low = most_before - before * scales[:, None], at * scales[:, None] - least_at
            first, last = (rows, high.argmin(1)), (rows, low.argmin(1))
            return np.stack([scales, high[first] + low[last], at[last] - before[first]])

        first, away = self.first[of], _ROUNDS * self._steps[of]
        left, right = touched(first - _AROUND * away), touched(first + _AROUND * away)
        is_met, grows, falls = (left[2] > 0) & (right[2] < 0), right[2] > 0, left[2] < 0
        while True:
            between, room, slope = right - left
            is_open = is_met & (between > 1)
            if not is_open.any():
                best = np.where((room > 0) & ~falls | grows, right[0], left[0])
                is_met &= (room != 0) & (right[2] < 0)
                is_met &= abs(best - first) < (_AROUND - 1) * away  # or it would not be reached
                return best, is_met | grows | falls
            meet = (room - right[2] * between) // np.maximum(-slope, 1)
            tried = touched(left[0] + np.clip(meet, 1, np.maximum(between - 1, 1)))
            left = np.where(is_open & (tried[2] > 0), tried, left)
            right = np.where(is_open & (tried[2] <= 0), tried, right)

    def are_straight(self) -> Array:
        """For which channels `widest` may find a scale."""
        away = _ROUNDS * _AROUND * (1 + (self.first >> _PART))
        near = [(self.first + by) * self.lanes / self.unit for by in (-away, away)]
        slopes = self._stairs.slopes()
        least, most = np.maximum(near[0], slopes[0]), np.minimum(near[1], slopes[1])
        straight: Array = self._stairs.is_flat | (least <= most * (1 + _ROUNDED))
        return straight


class Scalings(NamedTuple):
    """floor((scale * acc + offset) / 2**(bits + shift)) of each channel, for offsets of an
    interval. is_solved: whether there is such a scale."""

    scales: Array
    least: Array
    most: Array
    is_solved: Array


def are_straight(stairs: Staircases, lanes: Array, shift: int) -> Array:
    """For which channels `solve` may find a scale; for the others it finds none for fewer lanes
    either."""
    return Lines(stairs, lanes, shift).are_straight()


def solve(
    stairs: Staircases, lanes: Array | int, shift: Array | int, bits: int = UPPER.bits
) -> Scalings:
    """The scalings of accumulators that are `lanes` times the sums. bits: of the product, that are
    dropped before it is shifted."""
    lines = Lines(stairs, lanes, shift, bits)
    is_flat, best = stairs.is_flat, lines.first.copy()
    if (sloped := np.flatnonzero(~is_flat & (best < 1 << 31))).size:
        best[sloped] = lines.widest(sloped)
    least, most = lines.least(best[:, None])[:, 0], lines.most(best[:, None])[:, 0]
    is_solved = (lines.first < 1 << 31) & (
        is_flat | (most >= least) & (best > 0) & (best < 1 << 31)
    )
    # One bound is enough where there is no step, or the highest one is the first.
    low, high = is_flat & stairs.no_at, is_flat & ~stairs.no_at
    least, most = np.where(low, most - lines.unit, least), np.where(high, least + lines.unit, most)
    return Scalings(best, least, most, is_solved)
