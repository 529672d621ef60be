"""Pools as the kernel sees them, why one is none of its own, and the integers of an average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.layers import BYTES, clamp_refusal, of_rows
from mcu_deploy.backends.ArmDsp.requantization import shift_of
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.kit import overlap
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.pool import average_counts, pool_window
from mcu_deploy.operators.windows import Window

_FEW = 256  # elements of a window whose sum fits a lane of 16 bits
_MOST = 4096  # whose sums are all tried in a moment
_MOST_COLUMNS = 16  # of a window, unrolled
_LEAST_SHIFT = 12


@dataclass(frozen=True)
class Pool:
    """A pool. is_of_integers: an average of the elements themselves, as TFLite's; others are of the
    real numbers that these stand for. is_of_inside: of padded windows the average is of what lies
    inside of the input, not of the padding too."""

    x: TensorType
    y: TensorType
    window: Window
    is_maximum: bool
    is_of_integers: bool = False
    is_of_inside: bool = False

    @property
    def channels(self) -> int:
        return self.x.shape[1]

    @property
    def taps(self) -> int:
        return math.prod(self.window.kernel)

    @property
    def pixels(self) -> int:
        return self.y.shape[0] * math.prod(self.window.output)

    @property
    def runs(self) -> tuple[int, int, int]:
        """A window as loops: rows, pixels of each, bytes from a row to the next. Whole rows of the
        input are one run of pixels, which is divided as suits the code."""
        rows, columns = self.window.kernel
        if columns != self.window.input[1] and rows > 1:
            return rows, columns, self.window.input[1] * self.channels
        unrolled = max(n for n in range(1, 6) if self.taps % n == 0)
        return self.taps // unrolled, unrolled, unrolled * self.channels

    @property
    def zero_points(self) -> tuple[int, int]:
        """What is taken from each element, and added to each average."""
        if self.is_of_integers:
            return 0, 0
        return self.x.scaling.zero_point[0], self.y.scaling.zero_point[0]

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest sum of a window without its zero points."""
        low, high = self.x.dtype.range
        zero = self.zero_points[0]
        return self.taps * (low - zero), self.taps * (high - zero)

    @property
    def is_large(self) -> bool:
        """Whether it is an average whose sums need 32 bits."""
        return self.taps > _FEW and not self.is_maximum

    @property
    def scratch_bytes(self) -> int:
        """Of the sums of a pixel's channels."""
        return 0 if self.is_maximum else (4 if self.is_large else 2) * self.channels

    @property
    def title(self) -> str:
        return "max_pool" if self.is_maximum else "avg_pool"

    @property
    def stem(self) -> str:
        return f"{self.title}{'x'.join(map(str, self.window.kernel))}_{self.channels}"

    def of_rows(self, read: int, written: int) -> Pool:
        """A part of its image that has so many rows, and of its output."""
        size = (read, self.window.input[1]), (written, self.window.output[1])
        window = replace(self.window, input=size[0], output=size[1])
        x, y = (
            replace(type_, shape=(*type_.shape[:2], *of))
            for type_, of in zip((self.x, self.y), size, strict=True)
        )
        return replace(self, x=x, y=y, window=window)

    @property
    def lanes(self) -> int:
        """What a sum is multiplied by, as SMMLA gets it: a power of two."""
        return 1 << (31 - max(map(abs, self.reach)).bit_length() if self.is_large else 16)

    @property
    def moved(self) -> int:
        """What a lane holds less than such a sum, so that it has room for it."""
        low, high = self.reach
        if self.is_large:
            return 0
        return 0 if low >= -(2**15) and high < 2**15 else (low + high + 1) // 2

    @property
    def start(self) -> tuple[int, int]:
        """Of a lane, before its first element: a number, and what is added to it for each element
        that is inside."""
        if self.is_of_inside:
            return 0, 0 if self.is_signed else -128
        return -self.moved, -self.zero_points[0]

    @property
    def lane_rows(self) -> int:
        """Of a window's rows (`runs`) as many as lanes of 16 bits hold the sum of."""
        return _FEW // self.runs[1]

    @property
    def is_signed(self) -> bool:
        return self.x.dtype is DType.INT8

    @property
    def spans(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Of the windows in each row of the output, then in each column: the first row of the input
        that is inside, and how many are."""
        window, found = self.window, []
        for axis in (0, 1):
            first = np.arange(window.output[axis]) * window.strides[axis] - window.begin[axis]
            end = np.minimum(first + window.kernel[axis], window.input[axis])
            found.append((np.maximum(first, 0), end - np.maximum(first, 0)))
        return found[0], found[1]

    @property
    def starts(self) -> Array:
        """Where the windows of the output's pixels begin, in bytes."""
        height, width = self.window.input
        (rows, _), (columns, _) = self.spans
        row = width * self.channels
        images = np.arange(self.y.shape[0]) * height * row
        return overlap.nested(images, rows * row, columns * self.channels)


class Rounding(NamedTuple):
    """shift: of SMMLA's result. margin: what is so near to a step is summed again, a power of two;
    0 where no sum needs it. again: the share of sums that are."""

    scale: int
    addend: int
    shift: int
    margin: int = 0
    again: float = 0.0

    @property
    def fraction(self) -> int:
        """The bits of a result that are all 0 where it is near a step, and `margin` was added."""
        return (1 << self.shift) - 2 * self.margin


def read(layer: Layer) -> Pool | str:
    """A layer as a pool, or why it is none for this backend, a clause."""
    x, y = layer.input(0).type, layer.output.type
    if len(layer.outputs) > 1:
        return "it does not compute the indices of maxima"
    if x.rank not in (3, 4) or x.dtype not in BYTES:
        return f"it pools int8 and uint8 over one or two spatial axes, not {x}"
    if x.dtype is not y.dtype:
        return f"it pools to the type of its input, not {x.dtype.value} to {y.dtype.value}"
    window, is_maximum = of_rows(pool_window(layer.call)), "Max" in layer.op
    if {*window.dilations} != {1}:
        return "it takes windows without dilation"
    is_padded_average = window.padded and not is_maximum
    counts_padding = is_padded_average and bool(layer.attributes.get("count_include_pad", 0))
    if counts_padding and {*average_counts(layer.call, window).flat} != {math.prod(window.kernel)}:
        return "a window of it leaves the padding"
    if not is_maximum and (x.quantization is None or y.quantization is None):
        return "an average needs scales"
    if y.quantization and (reason := clamp_refusal(layer)):
        return reason
    is_of_inside = is_padded_average and not counts_padding
    pool = Pool(x, y, window, is_maximum, layer.domain == "tflite", is_of_inside)
    if pool.channels % 4 or not y.elements:
        return f"it takes channels by 4, and there are {pool.channels}"
    if window.padded:
        if min(count.min() for _, count in pool.spans) < 1:
            return "a window of it is all padding"
        if pool.is_large:
            return f"it averages {_FEW} elements at most where some are padding, not {pool.taps}"
    elif pool.runs[1] > _MOST_COLUMNS:
        return f"it takes windows of {_MOST_COLUMNS} columns at most, or of all the input"
    if pool.taps > _MOST and not is_maximum:
        return f"it averages {_MOST} elements at most, not {pool.taps}"
    return pool


def rounding_of(pool: Pool, node: Layer) -> Rounding | str | None:
    """What rounds an average; or why nothing does, a clause."""
    found = None if pool.is_maximum else round_sums(pool)
    if isinstance(found, Rounding) and found.margin and not node.target.fpu:
        return f"some of its sums are float32's, which this {node.target.core} has no FPU for"
    return found


def sums_of(pool: Pool, count: int) -> tuple[Array, Array, Array]:
    """All sums of so many elements without their zero points, the output of each, and whether the
    float32 sum of such elements could also give another."""
    low, high = (end // pool.taps * count for end in pool.reach)
    least, most = pool.y.dtype.range
    sums = np.arange(low, high + 1, dtype=np.int64)
    if pool.is_of_integers:  # rounded to nearest, ties away from zero
        means = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
        return sums, means, np.zeros(sums.shape, np.bool_)
    ratio = _factor(pool, count)
    # Each product, addition and division is off by 2**-24 of its result at most (Higham, Accuracy
    # and Stability of Numerical Algorithms, 4.2), and a little for the terms of higher order.
    magnitude = np.abs(sums) if low >= 0 or high <= 0 else max(-low, high)
    error = (count + 4) * 1.001 * 2.0**-24 * ratio * magnitude + 2.0**-40
    ends = [
        np.clip(np.rint(sums * ratio + e).astype(np.int64) + pool.zero_points[1], least, most)
        for e in (-error, error)
    ]
    return sums, ends[0], ends[0] != ends[1]


def _factor(pool: Pool, count: int) -> float:
    if pool.is_of_integers:
        return 1 / count
    return float(pool.x.scaling.scale[0]) / (count * float(pool.y.scaling.scale[0]))


class _Tried(NamedTuple):
    """All sums of a window: SMMLA's results, the outputs, whether these are open, and in how many
    outputs of the layer such windows are."""

    results: Array
    wanted: Array
    is_open: Array
    outputs: int = 1


def round_sums(pool: Pool) -> Rounding | str:
    """The integers that round all sums which a window can have, tried on each of them."""
    if pool.is_of_inside:
        return _round_inside(pool)
    sums, wanted, is_open = sums_of(pool, pool.taps)
    factor = _factor(pool, pool.taps)
    shift = shift_of(np.array([factor]), pool.lanes)
    if shift < _LEAST_SHIFT:
        return "its scales are too far apart"
    unit = 1 << shift
    if pool.is_of_integers and pool.taps % 2 == 0:
        # A little steeper, all ties are away from zero, and no other sum is at a tie.
        factor *= 1 + 1 / (512 * pool.taps)
    scale = round(factor * unit * 2**32 / pool.lanes)
    addend = round((pool.zero_points[1] + 0.5 + pool.moved * factor) * unit)
    results = (pool.lanes * (sums - pool.moved) * scale >> 32) + addend
    return _settled(pool, Rounding(scale, addend, shift), [_Tried(results, wanted, is_open)])


def _round_inside(pool: Pool) -> Rounding | str:
    """As `round_sums`, of windows that are divided by how many of their elements are inside. The
    scale is that of one element: when it runs, it is divided by that count."""
    (_, rows), (_, columns) = pool.spans
    counts, outputs = np.unique(np.outer(rows, columns), return_counts=True)
    ratio = _factor(pool, 1)
    shift = shift_of(np.array([ratio]), pool.lanes)
    if shift < _LEAST_SHIFT:
        return "its scales are too far apart"
    unit, zero = 1 << shift, pool.zero_points[0] + pool.start[1]
    steeper = higher = 0.0
    if pool.is_of_integers:  # ties away from zero, where lanes of uint8 are 128 less an element
        steeper, higher = (
            (1 / (512 * pool.taps), 0.0) if pool.is_signed else (0.0, 0.25 / pool.taps)
        )
    scale = round(ratio * (1 + steeper) * unit * 2**32 / pool.lanes)
    addend = round((pool.zero_points[1] + 0.5 + higher - zero * ratio) * unit)
    tried = []
    for count, times in zip(map(int, counts), map(int, outputs), strict=True):
        sums, wanted, is_open = sums_of(pool, count)
        results = (pool.lanes * (sums + count * zero) * (scale // count) >> 32) + addend
        tried.append(_Tried(results, wanted, is_open, times))
    return _settled(pool, Rounding(scale, addend, shift), tried)


def _settled(pool: Pool, rounding: Rounding, tried: Sequence[_Tried]) -> Rounding | str:
    """The rounding, with a margin in which all sums are that it would round otherwise."""
    unit = 1 << rounding.shift
    rights = [
        (np.clip(of.results >> rounding.shift, *pool.y.dtype.range) == of.wanted) & ~of.is_open
        for of in tried
    ]
    if all(is_right.all() for is_right in rights):
        return rounding
    if pool.is_of_integers:
        return "no integers round its sums"
    # TST has eight neighbouring bits.
    for margin in (unit >> 9 - more for more in range(7)):
        found = rounding._replace(margin=margin)
        agains = [(of.results + margin) & found.fraction == 0 for of in tried]
        pairs = zip(rights, agains, strict=True)
        if all((is_right | is_again).all() for is_right, is_again in pairs):
            shares = [is_again.mean() for is_again in agains]
            again = np.average(shares, weights=[of.outputs for of in tried])
            return found._replace(again=float(again))
    return "the error of its float32 sums is too large for integers"
