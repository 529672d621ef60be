"""How the sums of two filters are rounded: the words that a kernel reads for them."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.layer import kept
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.requantization import (
    Accumulation,
    accumulations,
    accumulations_late,
)
from mcu_deploy.backends.quantized.staircases import Staircases

UNSOLVED = 2  # in the place of which filter's sum is late


class Pair(NamedTuple):
    """moves: what the sums are moved by. words: scale and addend of the even and of the odd filter.

    Where the even filter's addend is 0 instead, there are three words behind them for each late sum
    (requantization.py): whose it is, 0 or 1; the accumulator; and that addend, which is 0 again but
    for the last. Two filters that no integers round have `unsolved` for words, with a 0 behind the
    first; of ONNX's, UNSOLVED stands behind them in the place of 0 or 1.

    TFLite's two roundings leave no integers for many filters, but hardly one of which few sums are
    late: kernels look for none of these.
    """

    moves: tuple[int, int]
    words: tuple[int, ...]
    behind: tuple[int, ...] = ()
    is_solved: bool = True

    @property
    def late(self) -> int:
        """How often a kernel reads words behind."""
        return len(self.behind) // 3


@kept
def pairs_of(
    layer: Convolution, evens: tuple[tuple[int, int], ...], lanes: tuple[int, int], shift: int
) -> list[Pair]:
    """Of each filter and the next one; where its count is 1, of it and one of zeros. Several
    kernels of a layer ask for the same.

    lanes: what the accumulators are multiples of; shift: of the sums themselves.
    """
    find = accumulations_late if layer.fixed is None else accumulations
    filters = tuple(even + n for even, count in evens for n in range(count))
    of = np.array([lanes[n] for _, count in evens for n in range(count)], np.int64)
    shifts = np.array([shift + lane.bit_length() - 1 for lane in of.tolist()], np.int64)
    found = iter(find(_staircases(layer, filters), of, shifts))
    zeros = Accumulation(1, 0, 0)
    return [
        _pair(layer, even, count, lanes, next(found), next(found) if count > 1 else zeros)
        for even, count in evens
    ]


@functools.lru_cache(4)
def _staircases(layer: Convolution, filters: tuple[int, ...]) -> Staircases:
    return Staircases.of([layer.channel(n) for n in filters])


def _pair(
    layer: Convolution, even: int, count: int, lanes: tuple[int, int],
    first: Accumulation | None, second: Accumulation | None,
) -> Pair:  # fmt: skip
    """Of the filter `even` and the next one, by what rounds them."""
    if first is None or second is None:
        begin, *rest = unsolved(layer, even, count, lanes)
        behind = (UNSOLVED, 0, 0) if layer.fixed is None else ()
        return Pair((0, 0), (begin, 0, *rest), behind, is_solved=False)
    late = [(which, acc) for which, of in enumerate((first, second)) for acc in of.late]
    addends = [0] * (len(late) - 1) + [first.addend]
    triples = (word for of, last in zip(late, addends, strict=False) for word in (*of, last))
    begin = 0 if late else first.addend
    words = (first.scale, begin, second.scale, second.addend)
    return Pair((first.move, second.move), words, tuple(triples))


def in_float(layer: Convolution, even: int, count: int, lanes: tuple[int, int]) -> Pair:
    """Of two filters, where a kernel rounds all filters in float32 and knows the zero point."""
    *factors, _ = unsolved(layer, even, count, lanes)
    return Pair((0, 0), tuple(factors))


def unsolved(layer: Convolution, even: int, count: int, lanes: tuple[int, int]) -> list[int]:
    """What `round_in_float` or `round_each_twice` takes (rounding.py): scales, and the rest."""
    zero, last = layer.zero_points[1], even + count - 1
    if layer.fixed is not None:
        (m, by), (n, odd_by) = (map(int, layer.fixed[index]) for index in (even, last))
        return [m, n, -by | -odd_by << 8 | zero << 16]
    factors = layer.factors[[even, last]] / np.array(lanes, np.float32)
    return [*(int(bits) for bits in factors.astype(np.float32).view(np.uint32)), zero]
