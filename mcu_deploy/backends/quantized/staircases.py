"""What rounding makes of a channel's sums: a staircase of at most 255 steps, and its corners.

A straight line lies between the steps of a staircase as soon as it lies between its corners: of
the sums that begin a step those on their convex hull, and so of the sums that end one. Of 255 steps
they are a dozen, and the staircases of a layer are looked at together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array, requantized, tflite

# Staircases at a time: as many as a cache holds.
_AT_ONCE = 64
# Of fewer it takes longer to find the corners than to look at all steps.
_FEW = 8
# What no offset of a line is beyond: 2**31 sums times 2**31 are less.
NO_BOUND = 1 << 61


def elements(
    acc: Array,
    factor: Array | np.float32,
    fixed: Sequence[Array | int] | Array | None,
    zero_point: int,
    bounds: tuple[int, int],
) -> Array:
    """The arithmetic of docs/arithmetic.md, of sums of channels or of one.

    fixed: TFLite's multipliers and shifts, which round twice; None for ONNX, which rounds float32.
    """
    if fixed is not None:
        clamped: Array = np.clip(tflite.multiply(acc, *fixed) + zero_point, *bounds)
        return clamped
    return requantized(acc, factor, zero_point, bounds)


@dataclass(frozen=True)
class Channel:
    """An output channel: its factor, the output's zero point and clamp, its reachable sums.

    fixed: as in `elements`.
    """

    factor: np.float32
    zero_point: int
    bounds: tuple[int, int]
    reach: tuple[int, int]
    fixed: tuple[int, int] | None = None

    def element(self, acc: Array) -> Array:
        return elements(acc, self.factor, self.fixed, self.zero_point, self.bounds)


def steps_of(channels: Sequence[Channel]) -> tuple[Array, Array]:
    """The values above the lower bound; and of each channel of an output, for each of them, the
    smallest reachable sum that gives at least it: [channel, value]. The largest sum plus one where
    none does."""
    zero_point, bounds = channels[0].zero_point, channels[0].bounds
    values = np.arange(bounds[0] + 1, bounds[1] + 1, dtype=np.int64)
    first, beyond = np.array([channel.reach for channel in channels], np.int64).T[:, :, None]
    beyond = beyond + 1
    factors = np.array([channel.factor for channel in channels], np.float32)[:, None]
    fixed = None
    if channels[0].fixed is not None:
        fixed = np.array([channel.fixed for channel in channels], np.int64).T[:, :, None]

    def gives(sums: Array, values: Array, of: Array | slice = slice(None)) -> Array:
        """Whether sums of some channels give at least some values."""
        scaling = None if fixed is None else fixed[:, of]
        return elements(sums, factors[of], scaling, zero_point, bounds) >= values

    # A step lies where the exact product would have it, but for what float32 rounds.
    with np.errstate(divide="ignore"):
        guess = np.ceil((values - zero_point - 0.5) / factors.astype(np.float64))
    steps = np.clip(guess, first, beyond).astype(np.int64)
    is_reached = gives(steps, values) | (steps == beyond)
    is_early = gives(steps - 1, values) & (steps > first)
    if (elsewhere := np.nonzero(~is_reached | is_early))[0].size:
        of, at = elsewhere
        guess, value = steps[elsewhere][:, None], values[at][:, None]
        margin = 2 + (np.abs(guess) >> 20)
        near, far = np.maximum(guess - margin, first[of]), np.minimum(guess + margin, beyond[of])
        low = np.where(gives(near, value, of), first[of], near)
        high = np.where(gives(far, value, of), far, beyond[of])
        while (low < high).any():
            middle = (low + high) >> 1
            is_reached = gives(middle, value, of) & (low < high)
            high = np.where(is_reached, middle, high)
            low = np.where(is_reached | (low == high), low, middle + 1)
        steps[elsewhere] = low[:, 0]
    return values, steps


@dataclass(frozen=True)
class Staircases:
    """The corners of channels of one output: [channel, corner], the last one repeated.

    at, values: sums that a line must bring to these values at least. before, above: sums that it
    must leave below these. no_at, no_before: of which channels there are none. factors: of each.
    """

    channels: tuple[Channel, ...]
    factors: Array
    at: Array
    values: Array
    before: Array
    above: Array
    no_at: Array
    no_before: Array

    @staticmethod
    def of(channels: Sequence[Channel]) -> Staircases:
        """Of channels of one output: their zero point and their clamp are the same."""
        parts = [_corners(channels[n : n + _AT_ONCE]) for n in range(0, len(channels), _AT_ONCE)]
        joined = [_joined(arrays) for arrays in zip(*parts, strict=True)]
        factors = np.array([channel.factor for channel in channels], np.float64)
        return Staircases(tuple(channels), factors, *joined)

    def take(self, which: Array) -> Staircases:
        """Some of them, by their places."""
        arrays = (self.factors, self.at, self.values, self.before, self.above)
        taken = [array[which] for array in (*arrays, self.no_at, self.no_before)]
        return Staircases(tuple(self.channels[n] for n in which.tolist()), *taken)

    @property
    def is_flat(self) -> Array:
        """Of which channels the output is at one of its bounds always."""
        return self.no_at | self.no_before

    def slopes(self) -> tuple[Array, Array]:
        """Of each channel the least and the greatest slope of the straight lines that have all
        steps where they are; where there is none the greatest is below the least.

        Each two corners bound it: from a sum that reaches a value to one that is still below
        another the line rises by less than the values do.
        """
        run = self.before[:, :, None] - self.at[:, None, :]
        rise = (self.above[:, :, None] - self.values[:, None, :]).astype(np.float64)
        slopes = rise / np.where(run == 0, 1, run)
        least = np.where(run < 0, slopes, 0.0).max((1, 2), initial=0.0)
        return least, np.where(run > 0, slopes, np.inf).min((1, 2), initial=np.inf)


def _corners(channels: Sequence[Channel]) -> tuple[Array, ...]:
    """at, values, before, above, no_at, no_before of `Staircases`."""
    values, steps = steps_of(channels)
    ends = np.array([channel.reach for channel in channels], np.int64)
    is_in, is_above = steps <= ends[:, 1:], steps > ends[:, :1]
    count, width = steps.shape
    # Those that begin no step are first or last: one that does stands in for them.
    place = np.arange(width)
    last, first = is_in.sum(1) - 1, width - is_above.sum(1)
    begins = np.minimum(place, np.maximum(last, 0)[:, None])
    after = np.maximum(place, np.minimum(first, width - 1)[:, None])
    rows = np.arange(count)[:, None]
    at, before = (steps[rows, begins], values[begins]), (steps[rows, after] - 1, values[after])
    if count >= _FEW:
        at, before = _tight(*at, 1), _tight(*before, -1)
    return *at, *before, last < 0, first >= width


def _tight(x: Array, y: Array, side: int) -> tuple[Array, Array]:
    """Of points in order [row, point] those that no line through others is above, for side 1, or
    below, for -1; or some more.

    What lies on the wrong side of its neighbours' chord is left out, all at once, until hardly any
    does: of the points that are outermost in some direction one is never left out.
    """
    # Products of the sums' 32 bits with the values' 9 are exact in float64, and quicker there.
    across, up = x.astype(np.float64), side * y.astype(np.float64)
    while True:
        run, rise = across[:, 1:] - across[:, :-1], up[:, 1:] - up[:, :-1]
        # Of both neighbours.
        is_out = run[:, 1:] * rise[:, :-1] > run[:, :-1] * rise[:, 1:]
        counts = np.count_nonzero(is_out, axis=1) + 2
        width = int(counts.max())
        if 8 * width > 7 * across.shape[1]:
            return across.astype(np.int64), side * up.astype(np.int64)
        keep = np.empty(across.shape, bool)
        keep[:, 0] = keep[:, -1] = True
        keep[:, 1:-1] = is_out
        to = np.arange(width) < counts[:, None]
        across, up = _moved(across, keep, to), _moved(up, keep, to)


def _moved(points: Array, keep: Array, to: Array) -> Array:
    """To the places, in their order, those of each row that are kept; the last one behind them."""
    moved = np.empty(to.shape)
    moved[:] = points[:, -1:]
    moved[to] = points[keep]
    return moved


def _joined(arrays: Sequence[Array]) -> Array:
    """Under each other, the last of each row repeated to the same width."""
    if len(arrays) == 1 or arrays[0].ndim == 1:
        return np.concatenate(arrays)
    width = max(array.shape[1] for array in arrays)
    padded = [np.pad(a, ((0, 0), (0, width - a.shape[1])), mode="edge") for a in arrays]
    return np.concatenate(padded)
