"""Rounding to the output's scale in two integer instructions, proven equal to the float32 product.

ONNX's kernels compute `clamp(round(float32(acc) * factor) + zero_point)`, TFLite's multiply by an
integer of 31 bits and round twice. Of an accumulator this is
a staircase of at most 255 steps that never falls, so an integer function that never falls either is
equal to it everywhere as soon as it is equal on both sides of each step. SMMLA and SMMUL give
`floor((scale * acc + offset) / 2**(32 + shift))`; what is searched for is the scale, and the
interval of offsets, that put every step where the float has it. Float32 itself rounds ties and
large sums, so some channels have no solution: these the kernels compute in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array, tflite

# A zero point shifted further would take the sum of SMMLA out of 32 bits.
LARGEST_SHIFT = 20
# Of the search for a scale: as a rule it ends after five.
_ROUNDS = 64
# How far an accumulator may be moved (by its bias) so that an offset becomes expressible.
_MOVES = np.array(sorted(range(-(1 << 14), (1 << 14) + 1), key=abs), np.int64)


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
    if fixed is None:
        rounded = np.rint(acc.astype(np.float32) * factor).astype(np.int64)
    else:
        rounded = tflite.multiply(acc, *fixed)
    clamped: Array = np.clip(rounded + zero_point, *bounds)
    return clamped


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


def odd_steps(channel: Channel) -> tuple[Array, Array]:
    """The values of the steps, those first that are latest, or earliest, compared with where real
    numbers would have them: what is at both ends keeps a channel from having integers."""
    values, steps = steps_of(channel)
    is_in = (steps > channel.reach[0]) & (steps <= channel.reach[1])
    values, steps = values[is_in], steps[is_in]
    late = steps - (values - channel.zero_point - 0.5) / float(channel.factor)
    order = np.argsort(late, kind="stable")
    return values[order[::-1]], values[order]


class Scaling(NamedTuple):
    """floor((scale * acc + offset) / 2**(32 + shift)), for offsets of an interval."""

    scale: int
    least: int
    most: int


def shift_of(factors: Array, lanes: int = 1, step: int = 4) -> int:
    """The shift of a layer: the largest multiple of `step` that leaves its scales in 31 bits, so
    that layers of different scales mostly share a function. Negative where the factors are too
    large.

    lanes: what the accumulator is a multiple of, a power of two.
    """
    room = int(np.floor(-np.log2(float(factors.max()) / lanes) - 1.001))
    return min(room, LARGEST_SHIFT) // step * step if room >= 0 else -1


def solve(channel: Channel, lanes: int, shift: int, open_: tuple[int, ...] = ()) -> Scaling | None:
    """The scaling of accumulators that are `lanes` times the sum; None where there is none.

    open_: values whose steps may be anywhere between those of the values beside them.
    """
    values, steps = steps_of(channel)
    if open_:
        is_held = ~np.isin(values, open_)
        values, steps = values[is_held], steps[is_held]
    unit = 1 << (32 + shift)
    is_in, is_above = steps <= channel.reach[1], steps > channel.reach[0]
    at, before = lanes * steps[is_in], lanes * (steps[is_above] - 1)
    least_at, most_before = values[is_in] * unit, values[is_above] * unit - 1

    def interval(scales: Array) -> tuple[Array, Array]:
        low = least_at[None, :] - at[None, :] * scales[:, None]
        high = most_before[None, :] - before[None, :] * scales[:, None]
        return low.max(1, initial=-(1 << 61)), high.min(1, initial=1 << 61)

    best = round(float(channel.factor) * unit / lanes)
    if best >= 1 << 31:
        return None
    if not is_in.any() or not is_above.any():  # the output is at one of its bounds always
        (least,), (most,) = interval(np.array([best], np.int64))
        if is_in.any():
            return Scaling(best, int(least), int(least) + unit)
        return Scaling(best, int(most) - unit, int(most))
    step = max(1, best >> 20)
    for _ in range(_ROUNDS):
        # The interval's width is concave in the scale; few reachable sums may let it grow forever.
        scales = best + step * np.arange(-16, 17, dtype=np.int64)
        low, high = interval(scales)
        widths = high - low
        widest = 16 if widths[16] == widths.max() else int(widths.argmax())
        best = int(scales[widest])
        if 0 < widest < 32:
            if step == 1:
                break
            step = max(1, step // 8)
    if high[widest] < low[widest] or not 0 < best < 1 << 31:
        return None
    return Scaling(best, int(low[widest]), int(high[widest]))


@functools.lru_cache(1 << 14)
def accumulate(channel: Channel, lanes: int, shift: int) -> tuple[int, int, int] | None:
    """For SMMLA: scale, addend of the upper word, and what the accumulator is moved by."""
    found = solve(channel, lanes, shift)
    if found is None:
        return None
    addends = -((_MOVES * found.scale - found.least) >> 32)
    fits = (addends << 32) + _MOVES * found.scale <= found.most
    if not fits.any():
        return None
    which = int(fits.argmax())
    addend, move = int(addends[which]), int(_MOVES[which])
    ends = [lanes * end + move for end in channel.reach]
    sums = [(end * found.scale >> 32) + addend for end in ends]
    return (found.scale, addend, move) if _are_words([*ends, *sums]) else None


def _are_words(values: list[int]) -> bool:
    return min(values) >= -(1 << 31) and max(values) < 1 << 31


@functools.lru_cache(1 << 14)
def multiply(
    channel: Channel, lanes: int, shift: int, open_: tuple[int, ...] = ()
) -> tuple[int, int] | None:
    """For SMMUL: scale, and what the accumulator is moved by, which is all of the offset."""
    found = solve(channel, lanes, shift, open_)
    if found is None:
        return None
    move = -(-found.least // found.scale)
    return (found.scale, move) if move * found.scale <= found.most else None


def reach(weights: Array, bias: Array, low: int, high: int) -> tuple[Array, Array]:
    """The least and the greatest sum of each channel: weights [channel, tap], inputs low..high."""
    taps = weights.reshape(weights.shape[0], -1).astype(np.int64)
    positive, negative = np.maximum(taps, 0).sum(1), np.minimum(taps, 0).sum(1)
    return bias + positive * low + negative * high, bias + positive * high + negative * low
