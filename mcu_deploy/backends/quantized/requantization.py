"""Rounding to the output's scale in a few integer instructions, proven equal to float32's product.

ONNX's kernels compute `clamp(round(float32(acc) * factor) + zero_point)`, TFLite's multiply by an
integer of 31 bits and round twice. Of an accumulator this is
a staircase of at most 255 steps that never falls, so an integer function that never falls either is
equal to it everywhere as soon as it is equal on both sides of each step. What cores have for it is
`floor((scale * acc + offset) / 2**(bits + shift))`, with the offsets that their `RoundingForm`
expresses; what is searched for is the scale, and the interval of offsets, that put every step where
the float has it. Float32 itself rounds ties and large sums, so some channels have no solution. As a
rule all but one of their reachable sums do: the kernels that look for that one round it like the
next. The rest are computed in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.rounding_forms import UPPER, UPPER_ADDED, RoundingForm
from mcu_deploy.backends.quantized.scalings import Lines, Scalings, solve
from mcu_deploy.backends.quantized.staircases import Channel, Staircases, steps_of

# A zero point shifted further would take the sum of SMMLA out of 32 bits.
LARGEST_SHIFT = 20
# How far an accumulator may be moved (by its bias) so that an offset becomes expressible.
_MOVES = np.array(sorted(range(-(1 << 14), (1 << 14) + 1), key=abs), np.int64)
# The first of these that fits is taken, which is mostly one of the first.
_MOVES_TRIED = np.split(_MOVES, [1 << n for n in (5, 7, 9, 11, 13)])
# Modulo 2**32 all is computed in words.
_MOVES_WORDS = _MOVES.astype(np.uint32)
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
    """scale, addend, and what the accumulator is moved by. Of a form that adds, the addend is not
    0: kernels look behind a 0. late: moved accumulators that have the result of the next sum's,
    the largest first."""

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


def accumulations(
    stairs: Staircases, lanes: Array | int, shift: Array | int, form: RoundingForm = UPPER_ADDED
) -> list[Accumulation | None]:
    """Of the channels whose steps are all where the kernel has them."""
    of = np.broadcast_to(lanes, stairs.factors.shape).tolist()
    found = solve(stairs, lanes, shift, form.bits)
    # What rounding adds is there already.
    found = found._replace(least=found.least - form.half(shift), most=found.most - form.half(shift))
    answers: list[Accumulation | None] = [None] * len(stairs.channels)
    for n, words in _added(found, form.bits) if form.adds else _moved(found):
        answers[n] = words if _fit(stairs.channels[n], of[n], words, form) else None
    return answers


def _added(found: Scalings, bits: int) -> Iterator[tuple[int, Accumulation]]:
    """Of channels by their places, with the smallest move that leaves an integer addend."""
    open_ = np.flatnonzero(found.is_solved)
    mask = np.uint32((1 << bits) - 1)
    for moves in _MOVES_TRIED:
        # How far behind `least` the first offset is that has an integer addend: modulo 2**bits.
        products = moves.astype(np.uint32) * found.scales[open_, None].astype(np.uint32)
        behind = products - found.least[open_, None].astype(np.uint32) & mask
        fits = behind <= np.clip(found.most - found.least, 0, 2**32 - 1)[open_, None]
        is_found = fits.any(1)
        for row in np.flatnonzero(is_found).tolist():
            n = int(open_[row])
            scale, least = int(found.scales[n]), int(found.least[n])
            for move in moves[fits[row]].tolist():
                if addend := -((move * scale - least) >> bits):
                    yield n, Accumulation(scale, addend, move)
                    break
            else:
                is_found[row] = False
        open_ = open_[~is_found]
        if not open_.size:
            return


def _moved(found: Scalings) -> Iterator[tuple[int, Accumulation]]:
    """Of channels by their places, with the least move that is the whole offset."""
    for n in np.flatnonzero(found.is_solved & (found.scales != 0)).tolist():
        scale = int(found.scales[n])
        move = -(-int(found.least[n]) // scale)
        if move * scale <= found.most[n]:
            yield n, Accumulation(scale, 0, move)


def accumulations_late(
    stairs: Staircases, lanes: Array | int, shift: Array | int, form: RoundingForm = UPPER_ADDED
) -> list[Accumulation | None]:
    """As `accumulations`; or, where there is none, with a few steps that are one sum late.
    form: one that adds, and does not round."""
    found = accumulations(stairs, lanes, shift, form)
    lanes, shift = (np.broadcast_to(each, stairs.factors.shape) for each in (lanes, shift))
    left = np.array([n for n, one in enumerate(found) if one is None], np.int64)
    all_tried = _Late.of(stairs, left, lanes[left], shift[left], form.bits)
    for n, tried in zip(left.tolist(), all_tried, strict=True):
        found[n] = None if tried is None else _late(tried, int(lanes[n]), int(shift[n]), form)
    return found


@functools.lru_cache(1 << 14)
def accumulate(channel: Channel, lanes: int, shift: int) -> Accumulation | None:
    """As `accumulations`, of one channel."""
    return accumulations(Staircases.of([channel]), lanes, shift)[0]


def _word(number: int) -> np.uint32:
    return np.uint32(number & 0xFFFFFFFF)


class _Late:
    """A channel's steps, and some scales that may leave a few of them late."""

    def __init__(
        self, channel: Channel, at: Array, least_at: Array, scales: Array, most: Array, bits: int
    ) -> None:
        """at, least_at: accumulators that must reach so much; most: of each scale, its largest
        offset; bits: what is dropped of a product."""
        self.channel, self._bits = channel, bits
        self._at, self._least_at = at, least_at
        self.scales, self.most = scales, most

    @staticmethod
    def of(
        stairs: Staircases, which: Array, lanes: Array, shift: Array | int, bits: int = UPPER.bits
    ) -> Iterator[_Late | None]:
        """Of channels by their places, all at once; None of one that has no steps, or whose factor
        is too large."""
        lines = Lines(stairs.take(which), lanes, shift, bits)
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
                scales[at][fits], most[at][fits], bits,
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
        bits = self._bits
        below = _word(most) - _MOVES_WORDS * _word(scale) & _word((1 << bits) - 1)
        move = int(_MOVES[below.argmin()])
        if (most - move * scale) >> bits == 0:
            below[(most - _MOVES * scale) >> bits == 0] = 0xFFFFFFFF
            move = int(_MOVES[below.argmin()])
        addend = (most - move * scale) >> bits
        late = self.late(scale, (addend << bits) + move * scale)
        return Accumulation(scale, addend, move, tuple((late[::-1] + move).tolist()))


def _late(tried: _Late, lanes: int, shift: int, form: RoundingForm) -> Accumulation | None:
    """Of a channel that `accumulations` has none for."""
    found: Accumulation | None = None
    fewest = _MOST_LATE + 1
    # The largest offset leaves the fewest late; the one that is found may leave more.
    counts = tried.counts(tried.most)
    for scale, most, least in zip(tried.scales.tolist(), tried.most.tolist(), counts, strict=True):
        if least >= fewest:
            continue
        words = tried.latest(scale, most)
        if len(words.late) >= fewest or not _fit(tried.channel, lanes, words, form):
            continue
        if _is_next(tried.channel, lanes, shift, words, form):
            found, fewest = words, len(words.late)
        if fewest == 1:
            break
    return found


def _is_next(
    channel: Channel, lanes: int, shift: int, words: Accumulation, form: RoundingForm
) -> bool:
    """Whether late accumulators have the result of the next."""
    late = np.array(words.late, np.int64)
    rounded = form.rounded(late + lanes, words.scale, words.addend, shift)
    sums = (late - words.move) // lanes
    return bool((np.clip(rounded, *channel.bounds) == channel.element(sums)).all())


def _fit(
    channel: Channel, lanes: int, words: Accumulation, form: RoundingForm = UPPER_ADDED
) -> bool:
    """Whether all that is computed of the reachable sums are words of 32 bits."""
    values: list[int] = []
    for end in channel.reach:
        acc = lanes * end + words.move
        values += [acc, form.multiplied(acc, words.scale) + words.addend]
        values += [acc * words.scale] if form.product_bits == 32 else []
    return min(values) >= -(1 << 31) and max(values) + lanes < 1 << 31


class Multiplication(NamedTuple):
    """Of the form without an addend: scale, and what the accumulator is moved by, which is all of
    the offset. late: sums whose result is one too small."""

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
    stairs: Staircases, which: Array, lanes: Sequence[int], shift: int
) -> list[Multiplication | None]:
    """Of channels by their places, each with its lanes, with a few steps that are one sum late."""
    tried = _Late.of(stairs, which, np.array(lanes, np.int64), shift)
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
            both = np.stack([sums, sums + 1])
            outputs = tried.channel.element(both) - np.array([[1], [0]])
            if (_rounded(tried.channel, lanes, shift, words, both) == outputs).all():
                found, fewest = words, count
    return found


def _rounded(channel: Channel, lanes: int, shift: int, found: Multiplication, sums: Array) -> Array:
    rounded = UPPER.rounded(lanes * sums + found.move, found.scale, 0, shift)
    low, high = channel.bounds
    clipped: Array = np.minimum(np.maximum(rounded, low), high)
    return clipped


def reach(weights: Array, bias: Array, low: int, high: int) -> tuple[Array, Array]:
    """The least and the greatest sum of each channel: weights [channel, tap], inputs low..high."""
    taps = weights.reshape(weights.shape[0], -1).astype(np.int64)
    positive, negative = np.maximum(taps, 0).sum(1), np.minimum(taps, 0).sum(1)
    return bias + positive * low + negative * high, bias + positive * high + negative * low
