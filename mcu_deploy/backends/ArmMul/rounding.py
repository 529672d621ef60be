"""How a sum becomes an element by integers, where floats are computed in software.

`((sum * scale >> bits) + addend) >> shift` is the floor of a straight line: the form that
quantized/requantization.py finds scales and addends for, and proves for every sum that a channel
can reach. Cores that multiply to 64 bits drop 32 of them. Those of Armv6-M multiply to 32 alone:
there the product is `sum * high + (sum * low >> bits)`, with a scale of `high << bits | low`, which
has fewer bits; where these are too few for many channels, a layer has 64 bits there too, by the C
library. Of a channel without such numbers all sums but a few are rounded so as a rule, and these
like the next sum: convolutions look for them. What is left is rounded as CpuRef does it: by ONNX's
rule in float32 by the C library, by TFLite's twice in integers.

Elements are counted from the lowest of their type: the M3 has an instruction for 0 to 255.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer, Target
from mcu_deploy.backends.quantized.layers import Linear
from mcu_deploy.backends.quantized.requantization import (
    Accumulation,
    accumulations,
    accumulations_late,
    shift_of,
)
from mcu_deploy.backends.quantized.rounding_forms import UPPER_ADDED, RoundingForm
from mcu_deploy.backends.quantized.staircases import Staircases

# Of products of 32 bits: what is dropped of the second one, as much as leaves that a word, and the
# shifts that leave all sums words.
_BITS = range(12, 5, -1)
_SHIFTS = range(24, 7, -1)
_WORD = 1 << 31
_MOST = 0.9  # of the filters
_BYTE = (0, 255)
# What 64 bits take longer on these cores, as a part of what a sum takes that is not solved: in
# float32, and by TFLite's two roundings.
_OF_FLOAT, _OF_TWICE = 0.15, 0.35
# Cycles of the latter above those of a sum that is solved: with and without products of 64 bits.
_TWICE, _TWICE_ARMV6_M = 30, 100
# They multiply to 32 bits, and load a signed byte by two registers alone.
ARMV6_M = ("cortex-m0", "cortex-m0plus")


def is_armv6m(target: Target) -> bool:
    return target.core in ARMV6_M


@dataclass(frozen=True)
class Rounding:
    """bits, shift: of all channels. bounds: of an element, counted from the lowest of its type.
    moves: what is added to each channel's sums. words: of each channel its scale and its addend,
    int32 [channel, 2]; both 0 of those that are not solved. late: of some channels, whose words are
    0, too, these, and the sums that are rounded like the next, the largest first."""

    bits: int
    shift: int
    bounds: tuple[int, int]
    moves: Array
    words: Array
    late: Mapping[int, Accumulation]

    @property
    def is_wide(self) -> bool:
        """Whether products have 64 bits."""
        return self.bits == UPPER_ADDED.bits

    @property
    def is_solved(self) -> bool:
        """Whether all channels are."""
        return not self.unsolved

    @property
    def unsolved(self) -> int:
        """How many channels are rounded as CpuRef does it."""
        return int((self.words[:, 1] == 0).sum()) - len(self.late)

    @property
    def late_sums(self) -> int:
        """How many sums are looked for, of all channels."""
        return sum(len(one.late) for one in self.late.values())

    def table(self, starts: Array, less: Array | int = 0) -> Array:
        """int32: of each channel what its sums begin with and its words, which of one with late
        sums are how far behind them others are, and 0. These are its own words, how many sums, and
        the sums, less by what they lack when they are looked for."""
        words = np.column_stack([starts, self.words])
        lacking = np.broadcast_to(less, starts.shape)
        behind: list[int] = []
        for n, one in self.late.items():
            words[n, 1] = 3 * (len(words) - n - 1) + len(behind)
            behind += [one.scale, one.addend, len(one.late), *(one.late - lacking[n])]
        return np.append(words, behind).astype(np.int32)

    @property
    def numbers(self) -> Mapping[str, int]:
        """What functions that several layers share get of it."""
        bounds = zip(self.limits, self.bounds, strict=True)
        return {
            **({} if self.is_wide else {"bits": self.bits}), "down": self.shift,
            **{name: bound for name, bound in bounds if isinstance(name, str)},
        }  # fmt: skip

    @property
    def limits(self) -> tuple[int | str, int | str]:
        """The bounds in such a function: numbers where they are those of all bytes."""
        return _BYTE if self.bounds == _BYTE else ("low", "high")

    def element(self, sum_: str, bits: int | str = "bits", down: int | str = "down") -> str:
        """C for the element of a sum, before the bounds; `scale`, or its `upper` and `lower`, and
        `addend` are the channel's. bits, down: by default parameters."""
        product = f"{sum_} * upper + ({sum_} * lower >> {bits})"
        if self.is_wide:
            product = f"(int32_t)((int64_t){sum_} * scale >> 32)"
        return f"({product} + addend) >> {down}"


def unsolved_cycles(layer: Layer, in_float: float) -> float:
    """What an output takes above one that is solved. in_float: where that is in float32."""
    if not layer.domain:
        return in_float
    return _TWICE_ARMV6_M if is_armv6m(layer.target) else _TWICE


def round_sums(
    linear: Linear, bounds: tuple[int, int], *, looks_for_late: bool = True
) -> Rounding | str:
    """What rounds the sums of a layer; or why nothing does, a clause. bounds: the output's.
    looks_for_late: whether the kernel does."""
    part = _OF_FLOAT if linear.fixed is None else _OF_TWICE
    found: list[Rounding] = []
    for form in _forms(linear):
        one = _solve(linear, bounds, form, looks_for_late)
        if one.unsolved <= (0 if one.is_wide else part * len(linear.factors)):
            return one
        found.append(one)
    if not found:
        return "its sums are too large, or its scales too far apart"
    return min(found, key=lambda one: one.unsolved)


def _forms(linear: Linear) -> Iterator[tuple[int, int]]:
    """Bits and shifts, the quickest first."""
    if is_armv6m(linear.target) and (narrow := _narrow(linear)):
        yield narrow
    # A few filters may have factors that no shift of the others leaves in words.
    most = np.sort(linear.factors)[: math.ceil(_MOST * len(linear.factors))]
    for shift in sorted({shift_of(linear.factors), shift_of(most)}):
        if shift >= 0:
            yield UPPER_ADDED.bits, shift


def _solve(
    linear: Linear, bounds: tuple[int, int], form: tuple[int, int], looks_for_late: bool
) -> Rounding:
    """What rounds in a form, that of bits and shift."""
    bits, shift = form
    lowest = linear.y.dtype.range[0]
    zero, counted = linear.zero_points[1] - lowest, (bounds[0] - lowest, bounds[1] - lowest)
    channels = [
        replace(linear.channel(n), zero_point=zero, bounds=counted)
        for n in range(len(linear.factors))
    ]
    find = accumulations_late if looks_for_late else accumulations
    found = [
        one if one and (bits == UPPER_ADDED.bits or _fits(channel.reach, one, bits)) else None
        for channel, one in zip(
            channels,
            find(Staircases.of(channels), 1, shift, RoundingForm(bits, adds=True)),
            strict=True,
        )
    ]
    if None in found:  # the code that rounds one takes those that are late, too
        found = [one if one and not one.late else None for one in found]
    moves, words = np.zeros(len(channels), np.int64), np.zeros((len(channels), 2), np.int32)
    late = {n: one for n, one in enumerate(found) if one and one.late}
    for n, one in enumerate(found):
        if one is not None:
            moves[n] = one.move
            words[n] = (0, 0) if one.late else (one.scale, one.addend)
    return Rounding(bits, shift, counted, moves, words, late)


def _narrow(linear: Linear) -> tuple[int, int] | None:
    low, high = linear.reach
    most = np.maximum(np.abs(low), np.abs(high))
    bits = next((b for b in _BITS if most.max() < _WORD >> b), None)
    reals = float((most * linear.factors.astype(np.float64)).max()) + _BYTE[1] + 2
    shift = next((s for s in _SHIFTS if reals * 2.0**s < _WORD), None)
    return None if bits is None or shift is None else (bits, shift)


def _fits(reach: tuple[int, int], found: Accumulation, bits: int) -> bool:
    """Whether all that is computed of the sums are words."""
    high, low = found.scale >> bits, found.scale & ((1 << bits) - 1)
    values = [found.addend]
    for end in (reach[0], reach[1] + 1):  # of a late sum it is the next
        moved = end + found.move
        product = moved * high + (moved * low >> bits)
        values += [moved * low, moved * high, product, product + found.addend]
    return min(values) >= -_WORD and max(values) < _WORD
