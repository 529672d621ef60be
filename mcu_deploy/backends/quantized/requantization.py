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
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.staircases import NO_BOUND, Channel, Staircases, steps_of

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
_MOVES_TRIED = np.split(_MOVES, [1 << n for n in (8, 10, 12)])
# Modulo 2**32 all is computed in words.
_MOVES_WORDS = _MOVES.astype(np.uint32)
_EVERY = slice(None)
# A scale that is none.
_TOO_LARGE = 1 << 40
# Of a channel that kernels look for: each costs the third of rounding in float32, and 12 bytes; but
# the code of that is spared where no channel needs it.
_MOST_LATE = 12
_SCALES_AWAY = np.array(
    [0, *(n << by for by in range(0, 12, 2) for n in (-3, -2, -1, 1, 2, 3))], np.int64
)


def refusal(factors: Array) -> str:
    """Why no kernel multiplies sums by such factors in float32, a clause; empty where one may."""
    if not np.isfinite(factors).all() or (factors < np.finfo(np.float32).tiny).any():
        return "a factor of it, float32(x_scale * w_scale) / y_scale, is no normal number"
    return ""


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


class _Lines:
    """Searches for the straight lines whose floors are staircases, of accumulators that are `lanes`
    times the sum. lanes, shift: one number, or one a channel. Scales are [channel, scale]."""

    def __init__(self, stairs: Staircases, lanes: Array | int, shift: Array | int) -> None:
        self._stairs = stairs
        self.unit = np.int64(1) << 32 + np.broadcast_to(shift, stairs.factors.shape)
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
    """floor((scale * acc + offset) / 2**(32 + shift)) of each channel, for offsets of an interval.
    is_solved: whether there is such a scale."""

    scales: Array
    least: Array
    most: Array
    is_solved: Array


def are_straight(stairs: Staircases, lanes: Array, shift: int) -> Array:
    """For which channels `solve` may find a scale; for the others it finds none for fewer lanes
    either."""
    return _Lines(stairs, lanes, shift).are_straight()


def solve(stairs: Staircases, lanes: Array | int, shift: Array | int) -> Scalings:
    """The scalings of accumulators that are `lanes` times the sums."""
    lines = _Lines(stairs, lanes, shift)
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


def accumulations(
    stairs: Staircases, lanes: Array | int, shift: Array | int
) -> list[Accumulation | None]:
    """Of the channels whose steps are all where the kernel has them."""
    of = np.broadcast_to(lanes, stairs.factors.shape).tolist()
    found = solve(stairs, lanes, shift)
    answers: list[Accumulation | None] = [None] * len(stairs.channels)
    open_ = np.flatnonzero(found.is_solved)
    for moves in _MOVES_TRIED:
        # How far behind `least` the first offset is that has an integer addend: modulo 2**32.
        products = moves.astype(np.uint32) * found.scales[open_, None].astype(np.uint32)
        behind = products - found.least[open_, None].astype(np.uint32)
        fits = behind <= np.clip(found.most - found.least, 0, 2**32 - 1)[open_, None]
        is_found = fits.any(1)
        for row in np.flatnonzero(is_found).tolist():
            n = int(open_[row])
            scale, least = int(found.scales[n]), int(found.least[n])
            for move in moves[fits[row]].tolist():
                if addend := -((move * scale - least) >> 32):
                    words = Accumulation(scale, addend, move)
                    answers[n] = words if _fit(stairs.channels[n], of[n], words) else None
                    break
            else:
                is_found[row] = False
        open_ = open_[~is_found]
        if not open_.size:
            break
    return answers


def accumulations_late(
    stairs: Staircases, lanes: Array | int, shift: Array | int
) -> list[Accumulation | None]:
    """As `accumulations`; or, where there is none, with a few steps that are one sum late."""
    found = accumulations(stairs, lanes, shift)
    lanes, shift = (np.broadcast_to(each, stairs.factors.shape) for each in (lanes, shift))
    left = np.array([n for n, one in enumerate(found) if one is None], np.int64)
    for n, tried in zip(
        left.tolist(), _Late.of(stairs, left, lanes[left], shift[left]), strict=True
    ):
        found[n] = None if tried is None else _late(tried, int(lanes[n]), int(shift[n]))
    return found


@functools.lru_cache(1 << 14)
def accumulate(channel: Channel, lanes: int, shift: int) -> Accumulation | None:
    """As `accumulations`, of one channel."""
    return accumulations(Staircases.of([channel]), lanes, shift)[0]


def accumulate_late(channel: Channel, lanes: int, shift: int) -> Accumulation | None:
    """As `accumulations_late`, of one channel."""
    return accumulations_late(Staircases.of([channel]), lanes, shift)[0]


def _word(number: int) -> np.uint32:
    return np.uint32(number & 0xFFFFFFFF)


class _Late:
    """A channel's steps, and some scales that may leave a few of them late."""

    def __init__(
        self, channel: Channel, at: Array, least_at: Array, scales: Array, most: Array
    ) -> None:
        """at, least_at: accumulators that must reach so much; most: of each scale, its largest
        offset."""
        self.channel = channel
        self._at, self._least_at = at, least_at
        self.scales, self.most = scales, most

    @staticmethod
    def of(
        stairs: Staircases, which: Array, lanes: Array, shift: Array | int
    ) -> Iterator[_Late | None]:
        """Of channels by their places, all at once; None of one that has no steps, or whose factor
        is too large."""
        lines = _Lines(stairs.take(which), lanes, shift)
        is_open = ~stairs.is_flat[which] & (lines.first < 1 << 31)
        open_ = np.flatnonzero(is_open)
        if not open_.size:
            yield from [None] * which.size
            return
        scales = lines.widest(open_)[:, None] + _SCALES_AWAY
        most = lines.most(scales, open_)
        channels, rows = np.unique(which[open_], return_inverse=True)
        values, steps = steps_of([stairs.channels[n] for n in channels.tolist()])
        places = iter(range(open_.size))
        for n, is_one in enumerate(is_open.tolist()):
            if not is_one:
                yield None
                continue
            at = next(places)
            channel, of_one = stairs.channels[int(which[n])], steps[rows[at]]
            is_in = of_one <= channel.reach[1]
            fits = (scales[at] > 0) & (scales[at] < 1 << 31)
            yield _Late(
                channel, lanes[n] * of_one[is_in], values[is_in] * lines.unit[n],
                scales[at][fits], most[at][fits],
            )  # fmt: skip

    def late(self, scale: int, offset: int) -> Array:
        """The accumulators of which the step comes too late."""
        late: Array = self._at[self._at * scale + offset < self._least_at]
        return late

    def counts(self, offsets: Array) -> list[int]:
        """How many `late` finds with each scale and its offset."""
        counts = self._at * self.scales[:, None] + offsets[:, None] < self._least_at
        return counts.sum(1).tolist()  # type: ignore[no-any-return]

    def latest(self, scale: int, most: int) -> Accumulation:
        """With as few late steps as leave none early, with offsets of at most this."""
        below = _word(most) - _MOVES_WORDS * _word(scale)
        move = int(_MOVES[below.argmin()])
        if (most - move * scale) >> 32 == 0:
            below[(most - _MOVES * scale) >> 32 == 0] = 0xFFFFFFFF
            move = int(_MOVES[below.argmin()])
        addend = (most - move * scale) >> 32
        late = self.late(scale, (addend << 32) + move * scale)
        return Accumulation(scale, addend, move, tuple((late[::-1] + move).tolist()))


def _late(tried: _Late, lanes: int, shift: int) -> Accumulation | None:
    """Of a channel that `accumulations` has none for."""
    found: Accumulation | None = None
    fewest = _MOST_LATE + 1
    # The largest offset leaves the fewest late; the one that is found may leave more.
    counts = tried.counts(tried.most)
    for scale, most, least in zip(tried.scales.tolist(), tried.most.tolist(), counts, strict=True):
        if least >= fewest:
            continue
        words = tried.latest(scale, most)
        if len(words.late) >= fewest or not _fit(tried.channel, lanes, words):
            continue
        if _is_next(tried.channel, lanes, shift, words):
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


class Multiplications(NamedTuple):
    """`Multiplication` of each channel. is_solved: of which there is one."""

    scales: Array
    moves: Array
    is_solved: Array


def multiplications(stairs: Staircases, lanes: Array | int, shift: int) -> Multiplications:
    """Of the channels whose steps are all where the kernel has them."""
    found = solve(stairs, lanes, shift)
    has_scale = found.is_solved & (found.scales != 0)
    scales = np.where(has_scale, found.scales, 1)
    moves = np.where(has_scale, -(-found.least // scales), 0)
    return Multiplications(scales, moves, has_scale & (moves * scales <= found.most))


def multiply_late(
    stairs: Staircases, n: int, lanes: Sequence[int], shift: int
) -> list[Multiplication | None]:
    """Of a channel, for each lanes, with a few steps that are one sum late."""
    tried = _Late.of(stairs, np.full(len(lanes), n), np.array(lanes, np.int64), shift)
    return [
        None if one is None else _multiply_late(one, by, shift)
        for one, by in zip(tried, lanes, strict=True)
    ]


def _multiply_late(tried: _Late, lanes: int, shift: int) -> Multiplication | None:
    found: Multiplication | None = None
    fewest = _MOST_LATE + 1
    moves = tried.most // tried.scales
    counts = tried.counts(moves * tried.scales)
    for scale, move, count in zip(tried.scales.tolist(), moves.tolist(), counts, strict=True):
        if count < fewest:
            sums = tried.late(scale, move * scale) // lanes
            words = Multiplication(scale, move, tuple(sums.tolist()))
            rounded = _rounded(tried.channel, lanes, shift, words, np.stack([sums, sums + 1]))
            element = tried.channel.element
            if (rounded == np.stack([element(sums) - 1, element(sums + 1)])).all():
                found, fewest = words, count
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
