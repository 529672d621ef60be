"""Rounding to the output's scale in two integer instructions, proven equal to the float32 product.

ONNX's kernels compute `clamp(round(float32(acc) * factor) + zero_point)`, TFLite's multiply by an
integer of 31 bits and round twice. Of an accumulator this is
a staircase of at most 255 steps that never falls, so an integer function that never falls either is
equal to it everywhere as soon as it is equal on both sides of each step. SMMLA and SMMUL give
`floor((scale * acc + offset) / 2**(32 + shift))`; what is searched for is the scale, and the
interval of offsets, that put every step where the float has it. Float32 itself rounds ties and
large sums, so some channels have no solution. As a rule all but one of their reachable sums do: the
kernels that look for that one round it like the next. The rest are computed in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array, requantized, tflite

# A zero point shifted further would take the sum of SMMLA out of 32 bits.
LARGEST_SHIFT = 20
# Of the search for a scale: as a rule it ends after five. So many scales on either side are looked
# at in each, in steps of a part of the scale.
_ROUNDS, _AROUND, _PART = 64, 16, 20
# Of a slope, more than what float64 rounds.
_ROUNDED = 1e-9
# How far an accumulator may be moved (by its bias) so that an offset becomes expressible.
_MOVES = np.array(sorted(range(-(1 << 14), (1 << 14) + 1), key=abs), np.int64)
# The first of these that fits is taken, which is mostly one of the first.
_FIRST_MOVES = _MOVES[:257]
# Of a channel that kernels look for: each costs the third of rounding in float32, and 12 bytes; but
# the code of that is spared where no channel needs it.
_MOST_LATE = 12
_SCALES_AWAY = np.array(
    [0, *(n << by for by in range(0, 12, 2) for n in (-3, -2, -1, 1, 2, 3))], np.int64
)


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


@functools.lru_cache(1 << 12)
def steps_of(channel: Channel) -> tuple[Array, Array]:
    """The values above the lower bound, and of each the smallest reachable sum that gives at
    least it; the largest sum plus one where none does."""
    values = np.arange(channel.bounds[0] + 1, channel.bounds[1] + 1, dtype=np.int64)
    first, beyond = channel.reach[0], channel.reach[1] + 1
    # A step lies where the exact product would have it, but for what float32 rounds.
    with np.errstate(divide="ignore"):
        guess = (values - channel.zero_point - 0.5) / np.float64(channel.factor)
    guess = np.clip(guess, first, beyond).astype(np.int64)
    margin = 2 + (np.abs(guess) >> 20)
    near, far = np.maximum(guess - margin, first), np.minimum(guess + margin, beyond)
    low = np.where(channel.element(near) < values, near, first)
    high = np.where(channel.element(far) < values, beyond, far)
    while (low < high).any():
        middle = (low + high) >> 1
        is_reached = (channel.element(middle) >= values) & (low < high)
        high = np.where(is_reached, middle, high)
        low = np.where(is_reached | (low == high), low, middle + 1)
    return values, low


def refusal(factors: Array) -> str:
    """Why no kernel multiplies sums by such factors in float32, a clause; empty where one may."""
    if not np.isfinite(factors).all() or (factors < np.finfo(np.float32).tiny).any():
        return "a factor of it, float32(x_scale * w_scale) / y_scale, is no normal number"
    return ""


@functools.lru_cache(1 << 12)
def slopes_of(channel: Channel) -> tuple[float, float]:
    """The least and the greatest slope of the straight lines that have all steps where they are;
    where there is none the greatest is below the least.

    Each two steps bound it: from a sum that reaches a value to one that is still below another the
    line rises by less than the values do.
    """
    values, steps = steps_of(channel)
    is_in, is_above = steps <= channel.reach[1], steps > channel.reach[0]
    run = (steps[is_above] - 1)[:, None] - steps[is_in]
    rise = (values[is_above][:, None] - values[is_in]).astype(np.float64)
    least = (rise[run < 0] / run[run < 0]).max(initial=0.0)
    return float(least), float((rise[run > 0] / run[run > 0]).min(initial=np.inf))


class Scaling(NamedTuple):
    """floor((scale * acc + offset) / 2**(32 + shift)), for offsets of an interval."""

    scale: int
    least: int
    most: int


class Accumulation(NamedTuple):
    """For SMMLA: scale, addend of the upper word, which is not 0, and what the accumulator is moved
    by. late: moved accumulators that have the result of the next sum's, the largest first."""

    scale: int
    addend: int
    move: int
    late: tuple[int, ...] = ()


def shift_of(factors: Array, lanes: int = 1, step: int = 4) -> int:
    """The shift of a layer: the largest multiple of `step` that leaves its scales in 31 bits, so
    that layers of different scales mostly share a function. Negative where the factors are too
    large.

    lanes: what the accumulator is a multiple of, a power of two. Factors that are all 0, or of
    which one is infinite, count as too large: no scale is a multiple of them.
    """
    largest = float(factors.max()) / lanes
    if not 0 < largest < np.inf:
        return -1
    room = int(np.floor(-np.log2(largest) - 1.001))
    return min(room, LARGEST_SHIFT) // step * step if room >= 0 else -1


class _Line:
    """A search for the straight line whose floor is the staircase, of accumulators that are `lanes`
    times the sum."""

    def __init__(self, channel: Channel, lanes: int, shift: int) -> None:
        values, steps = steps_of(channel)
        self.lanes, self.unit = lanes, 1 << (32 + shift)
        is_in, is_above = steps <= channel.reach[1], steps > channel.reach[0]
        self.at, self._before = lanes * steps[is_in], lanes * (steps[is_above] - 1)
        self.least_at = values[is_in] * self.unit
        self._most_before = values[is_above] * self.unit - 1
        self.first = round(float(channel.factor) * self.unit / lanes)

    def most(self, scales: Array) -> Array:
        """The largest offset with which no step is early."""
        high = self._most_before[None, :] - self._before[None, :] * scales[:, None]
        largest: Array = high.min(1, initial=1 << 61)
        return largest

    def least(self, scales: Array) -> Array:
        """The smallest offset with which no step is late."""
        low = self.least_at[None, :] - self.at[None, :] * scales[:, None]
        smallest: Array = low.max(1, initial=-(1 << 61))
        return smallest

    @property
    def is_flat(self) -> bool:
        """Whether the output is at one of its bounds always."""
        return not (self.at.size and self._before.size)

    def latest(self, scale: int) -> Accumulation:
        """With as few late steps as leave none early."""
        most = self.most(np.array([scale], np.int64))[0]
        addends = (most - _MOVES * scale) >> 32
        offsets = np.where(addends == 0, -(1 << 62), (addends << 32) + _MOVES * scale)
        which = int(offsets.argmax())
        move = int(_MOVES[which])
        accs = tuple(int(acc) + move for acc in self.late(scale, int(offsets[which]))[::-1])
        return Accumulation(scale, int(addends[which]), move, accs)

    def late(self, scale: int, offset: int) -> Array:
        """The accumulators of which the step comes too late."""
        late: Array = self.at[self.at * scale + offset < self.least_at]
        return late

    def count_late(self, scales: Array, offsets: Array) -> list[int]:
        """How many `late` finds with each scale and offset."""
        counts = self.at * scales[:, None] + offsets[:, None] < self.least_at
        return counts.sum(1).tolist()  # type: ignore[no-any-return]

    def widest(self) -> int:
        """The scale that leaves the most room between `least` and `most`."""
        best, step = self.first, max(1, self.first >> _PART)
        for _ in range(_ROUNDS):
            # The room is concave in the scale; few reachable sums may let it grow forever.
            scales = best + step * np.arange(-_AROUND, _AROUND + 1, dtype=np.int64)
            widths = self.most(scales) - self.least(scales)
            widest = _AROUND if widths[_AROUND] == widths.max() else int(widths.argmax())
            best = int(scales[widest])
            if 0 < widest < 2 * _AROUND:
                if step == 1:
                    break
                step = max(1, step // 8)
        return best

    def is_straight(self, slopes: tuple[float, float]) -> bool:
        """Whether `widest` may find a scale, by `slopes_of` the channel."""
        away = _ROUNDS * _AROUND * (1 + (self.first >> _PART))
        near = [(self.first + by) * self.lanes / self.unit for by in (-away, away)]
        least, most = max(near[0], slopes[0]), min(near[1], slopes[1])
        return least <= most * (1 + _ROUNDED)

    def near(self) -> Array:
        """The widest scale, and some around it, as far as they are scales."""
        scales = self.widest() + _SCALES_AWAY
        near: Array = scales[(scales > 0) & (scales < 1 << 31)]
        return near


def is_straight(channel: Channel, lanes: int, shift: int) -> bool:
    """Whether `solve` may find a scale; if not, it finds none for fewer lanes either."""
    line = _Line(channel, lanes, shift)
    return line.is_flat or line.is_straight(slopes_of(channel))


def solve(channel: Channel, lanes: int, shift: int) -> Scaling | None:
    """The scaling of accumulators that are `lanes` times the sum; None where there is none."""
    line = _Line(channel, lanes, shift)
    best = line.first
    if best >= 1 << 31:
        return None
    if not line.is_flat:
        best = line.widest()
    scales = np.array([best], np.int64)
    least, most = int(line.least(scales)[0]), int(line.most(scales)[0])
    if line.is_flat:
        is_low = not line.at.size
        return Scaling(best, *((most - line.unit, most) if is_low else (least, least + line.unit)))
    return Scaling(best, least, most) if most >= least and 0 < best < 1 << 31 else None


@functools.lru_cache(1 << 14)
def accumulate(channel: Channel, lanes: int, shift: int) -> Accumulation | None:
    """Of a channel whose steps are all where the kernel has them."""
    found = solve(channel, lanes, shift)
    if found is None:
        return None
    for moves in (_FIRST_MOVES, _MOVES):
        addends = -((moves * found.scale - found.least) >> 32)
        fits = ((addends << 32) + moves * found.scale <= found.most) & (addends != 0)
        which = int(fits.argmax())
        if fits[which]:
            words = Accumulation(found.scale, int(addends[which]), int(moves[which]))
            return words if _fit(channel, lanes, words) else None
    return None


@functools.lru_cache(1 << 14)
def accumulate_late(channel: Channel, lanes: int, shift: int) -> Accumulation | None:
    """As `accumulate`; or, where there is none, with a few steps that are one sum late."""
    if (exact := accumulate(channel, lanes, shift)) is not None:
        return exact
    line = _Line(channel, lanes, shift)
    if line.is_flat or line.first >= 1 << 31:
        return None
    found: Accumulation | None = None
    fewest = _MOST_LATE + 1
    scales = line.near()
    # The largest offset leaves the fewest late; the one that is found may leave more.
    at_least = line.count_late(scales, line.most(scales))
    for scale, least in zip(scales.tolist(), at_least, strict=True):
        if least >= fewest:
            continue
        words = line.latest(scale)
        is_right = _fit(channel, lanes, words) and _is_next(channel, lanes, shift, words)
        if len(words.late) < fewest and is_right:
            found, fewest = words, len(words.late)
        if fewest == 1:
            break
    return found


def _is_next(channel: Channel, lanes: int, shift: int, words: Accumulation) -> bool:
    """Whether late accumulators have the result of the next."""
    sums = (np.array(words.late, np.int64) - words.move) // lanes
    next_ = np.array(words.late, np.int64) + lanes
    rounded = ((next_ * words.scale >> 32) + words.addend) >> shift
    low, high = channel.bounds
    return bool((np.clip(rounded, low, high) == channel.element(sums)).all())


def _fit(channel: Channel, lanes: int, words: Accumulation) -> bool:
    """Whether all that is computed of the reachable sums are words of 32 bits."""
    ends = [lanes * end + words.move for end in channel.reach]
    sums = [(end * words.scale >> 32) + words.addend for end in ends]
    values = [*ends, *sums]
    return min(values) >= -(1 << 31) and max(values) + lanes < 1 << 31


class Multiplication(NamedTuple):
    """For SMMUL: scale, and what the accumulator is moved by, which is all of the offset. late:
    sums whose result is one too small."""

    scale: int
    move: int
    late: tuple[int, ...] = ()


@functools.lru_cache(1 << 14)
def multiply(channel: Channel, lanes: int, shift: int) -> Multiplication | None:
    """Of a channel whose steps are all where the kernel has them."""
    found = solve(channel, lanes, shift)
    if found is None or not found.scale:
        return None
    move = -(-found.least // found.scale)
    return Multiplication(found.scale, move) if move * found.scale <= found.most else None


def multiply_late(channel: Channel, lanes: int, shift: int) -> Multiplication | None:
    """With a few steps that are one sum late."""
    line = _Line(channel, lanes, shift)
    if line.is_flat or line.first >= 1 << 31:
        return None
    found: Multiplication | None = None
    fewest = _MOST_LATE + 1
    scales = line.near()
    moves = line.most(scales) // scales
    counts = line.count_late(scales, moves * scales)
    for scale, move, count in zip(scales.tolist(), moves.tolist(), counts, strict=True):
        if count < fewest:
            sums = line.late(scale, move * scale) // lanes
            tried = Multiplication(scale, move, tuple(sums.tolist()))
            rounded = _rounded(channel, lanes, shift, tried, np.stack([sums, sums + 1]))
            wanted = np.stack([channel.element(sums) - 1, channel.element(sums + 1)])
            if (rounded == wanted).all():
                found, fewest = tried, count
    return found


def _rounded(channel: Channel, lanes: int, shift: int, found: Multiplication, sums: Array) -> Array:
    products = (lanes * sums + found.move) * found.scale
    clipped: Array = np.clip(products >> (32 + shift), *channel.bounds)
    return clipped


def reach(weights: Array, bias: Array, low: int, high: int) -> tuple[Array, Array]:
    """The least and the greatest sum of each channel: weights [channel, tap], inputs low..high."""
    taps = weights.reshape(weights.shape[0], -1).astype(np.int64)
    positive, negative = np.maximum(taps, 0).sum(1), np.minimum(taps, 0).sum(1)
    return bias + positive * low + negative * high, bias + positive * high + negative * low
