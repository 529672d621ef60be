"""Pools as the kernel sees them, and why one is none of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.layers import BYTES, clamp_refusal, of_rows
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.pool import average_counts, pool_window
from mcu_deploy.operators.reduction import reduced_axes
from mcu_deploy.operators.tflite_pool import reduction_multiplier
from mcu_deploy.operators.windows import Window
from mcu_deploy.operators.windows import window as window_of

REDUCTIONS = ("ReduceMean", "ReduceMax")

_FEW = 256  # elements of a window whose sum fits a lane of 16 bits
_MOST = 4096  # whose sums are all tried in a moment
_MOST_COLUMNS = 16  # of a window, unrolled


@dataclass(frozen=True)
class Pool:
    """A pool, or a mean or maximum over axes that lie beside each other, whatever rank the output
    has then: axes before these are images, axes behind them channels. is_of_integers: an average
    of the elements themselves, as TFLite's; others are of the real numbers that these stand for.
    is_of_inside: of padded windows the average is of what lies inside of the input, not of the
    padding too. fixed: of TFLite's means the multiplier and the shift of a sum. is_natural: whether
    the model has the channels last, too."""

    x: TensorType
    y: TensorType
    window: Window
    is_maximum: bool
    is_of_integers: bool = False
    is_of_inside: bool = False
    fixed: tuple[int, int] | None = None
    is_natural: bool = False

    @property
    def channels(self) -> int:
        return self.x.shape[1]

    @property
    def is_uneven(self) -> bool:
        """Whether pixels begin within words."""
        return self.channels % 4 > 0

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


def _with_channels(shape: tuple[int, ...], begin: int, end: int) -> tuple[int, ...]:
    """Images, channels and an image of a tensor that is reduced over axes from one to another."""
    reduced = shape[begin:end]
    image = reduced if len(reduced) <= 2 else (math.prod(reduced),)
    return math.prod(shape[:begin]), math.prod(shape[end:]), *image


def read(layer: Layer, by: int = 4, most_columns: int = _MOST_COLUMNS) -> Pool | str:
    """A layer as a pool, or why it is none for this backend, a clause. by: channels come in so
    many; most_columns: of a window that is not as wide as the input."""
    x, y = layer.input(0).type, layer.output.type
    if len(layer.outputs) > 1:
        return "it does not compute the indices of maxima"
    if (x.rank not in (3, 4) and layer.op not in REDUCTIONS) or x.dtype not in BYTES:
        return f"it pools int8 and uint8 over one or two spatial axes, not {x}"
    if x.dtype is not y.dtype:
        return f"it pools to the type of its input, not {x.dtype.value} to {y.dtype.value}"
    fixed, is_natural = None, False
    if layer.op in REDUCTIONS:
        given = layer.optional(1)
        axes = () if given and given.constant is None else reduced_axes(layer.call)
        if not axes or axes != tuple(range(axes[0], axes[-1] + 1)) or not x.elements:
            return "of means and maxima it takes those over constant axes beside each other"
        is_natural = axes not in ((2,), (2, 3)) or axes[-1] < x.rank - 1
        if is_natural:
            x = replace(x, shape=_with_channels(x.shape, axes[0], axes[-1] + 1), layout=None)
        y = replace(y, shape=(*x.shape[:2], *(1 for _ in x.shape[2:])), layout=None)
        geometry = window_of({}, x.shape[2:], y.shape[2:], x.shape[2:])
        if layer.domain:
            fixed = reduction_multiplier(layer.call)[:2]
    else:
        geometry = pool_window(layer.call)
    window, is_maximum = of_rows(geometry), "Max" in layer.op
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
    is_of_integers = layer.domain == "tflite" and fixed is None
    pool = Pool(x, y, window, is_maximum, is_of_integers, is_of_inside, fixed, is_natural)
    if not y.elements or (pool.channels % by and not (is_maximum and pool.channels >= by)):
        return f"it takes channels by {by}, of maxima {by} and more, and there are {pool.channels}"
    if window.padded:
        if min(count.min() for _, count in pool.spans) < 1:
            return "a window of it is all padding"
        if pool.is_large:
            return f"it averages {_FEW} elements at most where some are padding, not {pool.taps}"
    elif pool.runs[1] > most_columns:
        return f"it takes windows of {most_columns} columns at most, or of all the input"
    if pool.taps > _MOST and not is_maximum:
        return f"it averages {_MOST} elements at most, not {pool.taps}"
    return pool
