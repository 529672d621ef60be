"""Two pixels in a word, so that one multiplication is two products.

A word is `first + (second << 16)`. Six pixels, three words a tap, meet each weight. Words of a few
taps are summed, as many as leave each half within its 16 bits whatever the input is: two at least,
and eight where weights are small. How many changes along a filter, in runs, where these are worth
what another one takes. All is computed modulo 2**32.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul.rounding import Rounding
from mcu_deploy.backends.ArmMul.workloads import KIT
from mcu_deploy.backends.interface import CFunction, Parameter
from mcu_deploy.backends.kit.requantization import Requantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType, TensorType

PIXELS = 6
# How many taps are summed at a time.
STEPS = (2, 3, 4, 8)
_MOST_SUMS = 127  # of a run
# What halves begin with, so that they stay positive: both together are an immediate operand of the
# M3, and any two products with inputs from -128 to 127 have room.
MIDDLE = 0x7F00


def less(x: TensorType) -> int:
    """What an input's elements are less by in a word, so that they are from -128 to 127."""
    return 128 if x.dtype is DType.UINT8 else 0


class PackedWeights(NamedTuple):
    """Weights as the sums read them, int8: of each filter its runs. A run says how many taps are
    summed at a time, how often, and has their weights; behind the last one there may be zeros. A
    filter of one run alone does not say how often. taps: those of a patch, with what is read beside
    zeros; sums: how many there are of each size; runs: how many of these; middles: what those of
    each filter add up to."""

    values: Array
    taps: int
    sums: Mapping[int, int]
    runs: int
    middles: Array


def pack(weights: Array, cycles: Mapping[int, float], run: float | None) -> PackedWeights:
    """The quickest stream of weights [filter, tap]. cycles: of so many taps at a time; run: what
    another run takes, or None where a filter is one run."""
    most = len(weights[0]) if run is None else _MOST_SUMS
    values: list[Array] = []
    sums, runs, middles = dict.fromkeys(STEPS, 0), 0, np.zeros(len(weights), np.int64)
    longest = 0
    for n, steps in enumerate(_steps(weights, cycles, math.inf if run is None else run)):
        padded = np.pad(weights[n], (0, sum(steps) - len(weights[n])))
        middles[n] = MIDDLE * len(steps)
        longest = max(longest, sum(steps))
        for step, of_step in itertools.groupby(steps):
            left = len([*of_step])
            sums[step] += left
            while left:
                count = min(left, most)
                taps, padded = np.split(padded, [step * count])
                values += [np.array([step] if run is None else [step, count]), taps]
                left, runs = left - count, runs + 1
    return PackedWeights(np.concatenate(values).astype(np.int8), longest, sums, runs, middles)


def function(
    y: TensorType, rounding: Rounding, ending: Requantization | None, *, has_runs: bool
) -> CFunction:
    """What layers share: the outputs of all filters of a group at six pixels, which are so many
    elements apart. ending: of filters that no integers round. has_runs: whether a filter may have
    several. Gives the weights behind."""
    parameters = (
        Parameter("const uint32_t *", "patch"), Parameter("int32_t", "words"),
        Parameter("const int8_t *", "weights"), Parameter("const int32_t *", "rounding"),
        *(Parameter(f"const {c.ctype} *", c.stem) for c in (ending.constants if ending else ())),
        Parameter(f"{y.dtype.c_type} *", "y"),
        *(Parameter("int32_t", name) for name in ("apart", "filters", "pixels", *rounding.numbers)),
    )  # fmt: skip
    body = KIT.render(
        "pair_filters.c.j2", y_ctype=y.dtype.c_type, rounding=rounding, ending=ending, steps=STEPS,
        has_runs=has_runs,
    )  # fmt: skip
    return CFunction(stem("pair_filters", y.dtype.value), parameters, body, "const int8_t *")


def _steps(weights: Array, cycles: Mapping[int, float], run: float) -> Iterator[list[int]]:
    """Of each filter how many taps are summed at a time, from the first to the last: the least
    cycles to each tap by each step are those to where it begins, by the same or any."""
    filters, taps = weights.shape
    size = taps + max(STEPS)
    padded = np.pad(weights, ((0, 0), (1, max(STEPS)))).astype(np.int64)
    low = np.minimum(-128 * padded, 127 * padded).cumsum(axis=1)
    least = np.full((size, len(STEPS), filters), np.inf)
    before = np.zeros(least.shape, np.int8)
    least[0] = 0
    for tap in range(taps):
        best = least[tap].argmin(axis=0)
        other = least[tap].min(axis=0) + run
        for n, step in enumerate(STEPS):
            is_same = least[tap, n] <= other
            to = np.where(is_same, least[tap, n], other) + cycles[step]
            is_in = low[:, tap + step] - low[:, tap] >= -MIDDLE
            least[tap + step, n] = np.where(is_in, to, np.inf)
            before[tap + step, n] = np.where(is_same, n, best)
    ends = least[taps:].reshape(-1, filters).argmin(axis=0)
    for filter_, (end, n) in enumerate(zip(*np.divmod(ends, len(STEPS)), strict=True)):
        at, steps = taps + int(end), list[int]()
        while at:
            steps.append(STEPS[n])
            at, n = at - STEPS[n], before[at, n, filter_]
        yield steps[::-1]


def fits(taps: Array, step: int) -> bool:
    """Whether no inputs bring a half of a word out of its 16 bits. Where the least sum stays in
    them the greatest does: it is at most 128 / 127 times as far away."""
    parts = np.pad(taps, (0, -len(taps) % step)).reshape(-1, step).astype(np.int64)
    return bool((np.minimum(-128 * parts, 127 * parts).sum(axis=1) >= -MIDDLE).all())
