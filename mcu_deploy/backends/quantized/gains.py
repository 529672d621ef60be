"""What rounds the sums of channels by SMMUL alone: each is left so many times as large (the gain)
that one scale has the steps of its output, or all but a few of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.requantization import multiplications, multiply_late
from mcu_deploy.backends.quantized.scalings import are_straight
from mcu_deploy.backends.quantized.staircases import Channel, Staircases

# So large that what rounds a sum fits into its bias, and a byte at most.
LEAST_GAIN, MOST_GAIN = 91, 255
MARGIN = 2**20  # of an accumulator, for what rounds it
_FEW = 8  # gains that are tried with late sums
_GAINS = 24  # that are tried at a time
_LATE_AT_ONCE = 16  # channels, with that many gains each


class Rounding(NamedTuple):
    """Of a channel the gain, what its sum begins with, and the scale. late: sums of products whose
    output is one too small, without the bias, and that output."""

    gain: int
    start: int
    scale: int
    late: tuple[tuple[int, int], ...] = ()


def round_channels(
    channels: Sequence[Channel],
    biases: Sequence[int],
    shift: int,
    largest: Array | int = MOST_GAIN,
) -> list[Rounding | None]:
    """What rounds channels of one output; None from the first one on of which integers leave too
    many sums late. Of TFLite's they leave most, or none. largest: gain that leaves a channel's
    weights in 16 bits."""
    stairs = Staircases.of(channels)
    ends = np.array([channel.reach for channel in channels], np.int64)
    spans = np.maximum(np.maximum(-ends[:, 0], ends[:, 1]), 1)
    most = np.minimum(largest, (2**31 - MARGIN) // spans)
    found = _exact(stairs, biases, spans, most, shift)
    left = [n for n, how in enumerate(found) if how is None]
    for first in range(0, len(left), _LATE_AT_ONCE):
        some = left[first : first + _LATE_AT_ONCE]
        for n, how in zip(some, _late(stairs, some, biases, spans, most, shift), strict=True):
            if how is None:
                return found
            found[n] = how
    return found


def _exact(
    stairs: Staircases, biases: Sequence[int], spans: Array, most: Array, shift: int
) -> list[Rounding | None]:
    """With the greatest gain that leaves all steps where they are."""
    found: list[Rounding | None] = [None] * len(biases)
    open_, least, below = np.arange(len(biases)), np.minimum(LEAST_GAIN, most), 0
    while open_.size:
        # Most channels have the first one; for the others many are tried at a time.
        ahead = np.arange(below, below + (_GAINS if below else 1))
        gains = most[open_, None] - ahead
        tried, spans_, of = (
            each.repeat(ahead.size) for each in (open_, spans[open_], least[open_])
        )
        exact = multiplications(stairs.take(tried), gains.reshape(-1), shift)
        fits = exact.is_solved & (gains.reshape(-1) >= of)
        fits &= spans_ * gains.reshape(-1) + abs(exact.moves) < 2**31
        firsts = fits.reshape(gains.shape).argmax(1) + np.arange(open_.size) * ahead.size
        for at in firsts[fits[firsts]].tolist():
            n, gain = int(tried[at]), int(gains.flat[at])
            move, scale = int(exact.moves[at]), int(exact.scales[at])
            found[n] = Rounding(gain, biases[n] * gain + move, scale)
        # Where no straight line has the steps, a smaller gain has none either.
        goes_on = ~fits[firsts] & (gains[:, -1] > least[open_])
        if not below and (left := np.flatnonzero(goes_on)).size:
            goes_on[left] = are_straight(stairs.take(open_[left]), gains[left, 0], shift)
        open_, below = open_[goes_on], below + ahead.size
    return found


def _late(
    stairs: Staircases, which: Sequence[int], biases: Sequence[int], spans: Array, most: Array,
    shift: int,
) -> Iterator[Rounding | None]:  # fmt: skip
    """With a few sums late: of some channels, by their places."""
    gains: list[range] = []
    for n in which:
        largest = int(most[n])
        every = range(largest, min(LEAST_GAIN, largest) - 1, -1)
        gains.append(every[: 0 if stairs.channels[n].fixed else _FEW])
    rows = np.array([n for n, own in zip(which, gains, strict=True) for _ in own], np.int64)
    found = iter(multiply_late(stairs, rows, [g for own in gains for g in own], shift))
    for n, own in zip(which, gains, strict=True):
        late = [(g, of) for g, of in zip(own, found, strict=False) if of is not None]
        fit = [(g, of) for g, of in late if int(spans[n]) * g + abs(of.move) < 2**31]
        if not fit:
            yield None
            continue
        gain, least = min(fit, key=lambda one: len(one[1].late))
        sums = np.array(least.late, np.int64)
        outputs = stairs.channels[n].element(sums) - 1
        pairs = zip((sums - biases[n]).tolist(), outputs.tolist(), strict=True)
        yield Rounding(gain, biases[n] * gain + least.move, least.scale, tuple(pairs))
