"""A depthwise convolution over strips: pairs of rows of 16 channels, two by two pixels in a word.

A strip is [pair of columns][channel] of words; a word has the pixels (left, above), (left, below),
(right, above), (right, below) of one channel. What lies beyond the image holds the zero point. Four
words, gathered, are a vector: of a 3x3 kernel the windows of the 2x2 outputs that they cover, each
of which has weights of its own, 0 where it has no tap.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.vector_rounding import VectorRounding
from mcu_deploy.ir import DType

CHANNELS = 16  # of a strip
WORDS = 4  # of a vector; outputs that are rounded together
PAIR_BYTES = 4 * CHANNELS
BAND_BYTES = 5120
MOST = 8  # vectors of outputs in straight code
_EXACT = 1 << 23
_BITS = 0x4B00_0000  # of the float 2**23


class Axis(NamedTuple):
    """Of rows or of columns. before: of padding."""

    input: int
    output: int
    kernel: int
    stride: int
    dilation: int
    before: int

    @property
    def outputs(self) -> int:
        """Of a window: two, where the second one begins inside of a pair."""
        return 2 if self.stride % 2 and self.output > 1 else 1

    @property
    def span(self) -> int:
        return (self.kernel - 1) * self.dilation + 1

    @property
    def pairs(self) -> int:
        """That a window covers."""
        return -(-(self.span + self.stride * (self.outputs - 1)) // 2)

    @property
    def step(self) -> int:
        """Pairs from a window to the next."""
        return -(-self.stride * self.outputs // 2)

    @property
    def windows(self) -> int:
        return -(-self.output // self.outputs)

    @property
    def all_pairs(self) -> int:
        return (self.windows - 1) * self.step + max(self.pairs, self.step)

    def is_inside(self, pixel: int) -> bool:
        return 0 <= pixel - self.before < self.input


class Place(NamedTuple):
    """An output, by the window that has it and its place there. window: of rows and of columns."""

    window: tuple[int, int]
    row: int
    column: int


Vector = tuple[Place, ...]  # up to four outputs, those of a window behind each other


@dataclass(frozen=True, eq=False)
class Strips(VectorRounding):
    """How a layer is computed. is_any: by a function that layers of other channels share, whose
    number is in front of the stream. band_bytes: of strips that are held at a time, or of one turn
    where that is more."""

    layer: Convolution
    is_any: bool = False
    band_bytes: int = BAND_BYTES

    @functools.cached_property
    def axes(self) -> tuple[Axis, Axis]:
        """Of rows and of columns."""
        of = self.layer.window
        pairs = of.input, of.output, of.kernel, of.strides, of.dilations, of.begin
        rows, columns = (Axis(*[pair[n] for pair in pairs]) for n in range(2))
        return rows, columns

    @property
    def channels(self) -> int:
        return int(self.layer.x.shape[1])

    @property
    def pitch(self) -> int:
        """Bytes of a strip."""
        return self.axes[1].all_pairs * PAIR_BYTES

    @property
    def row_bytes(self) -> int:
        """Of the input."""
        return self.axes[1].input * self.channels

    @property
    def line_bytes(self) -> int:
        """Of the outputs of a row of windows."""
        rows, columns = self.axes
        return rows.outputs * columns.output * self.channels

    @property
    def lanes(self) -> tuple[int, int]:
        """Of a vector the words down and across."""
        across = self.axes[1].pairs
        return (4, 1) if across == 1 else (2, 2) if across == 2 else (1, 4)

    @property
    def gathers(self) -> tuple[tuple[int, int], ...]:
        """Vectors of a window, by the pairs of rows and columns at which they begin."""
        down, across = self.lanes
        rows, columns = self.axes
        return tuple(
            (row, column) for row in range(0, rows.pairs, down)
            for column in range(0, columns.pairs, across)
        )  # fmt: skip

    @property
    def gathered(self) -> Array:
        """uint32[4]: of a vector the offsets of its words; 0 for those that no vector has."""
        down, across = self.lanes
        rows, columns = (axis.pairs for axis in self.axes)
        found = np.zeros((down, across), np.uint32)
        for row in range(min(down, rows)):
            for column in range(min(across, columns)):
                found[row, column] = row * self.pitch + column * PAIR_BYTES
        return found.reshape(-1)

    @property
    def slack(self) -> int:
        """Bytes behind the strips that vectors reach, whose weights are 0."""
        rows, columns = self.axes
        reach = [axis.pairs if axis.pairs <= n else -(-axis.pairs // n) * n
                 for axis, n in zip(self.axes, self.lanes, strict=True)]  # fmt: skip
        behind = (reach[0] - rows.pairs) * self.pitch + (reach[1] - columns.pairs) * PAIR_BYTES
        # A turn sums a window of the next one.
        ahead = rows.step * self.pitch if self.turns > 1 and not self.rest else 0
        return behind + ahead

    @property
    def outputs(self) -> tuple[tuple[int, int], ...]:
        """Of a window: by rows and columns."""
        rows, columns = self.axes
        return tuple((r, c) for r in range(rows.outputs) for c in range(columns.outputs))

    # A turn is a number of rows of windows that leaves few vectors without four outputs.

    @functools.cached_property
    def lines(self) -> int:
        """Rows of windows in a turn."""
        whole = self._whole_lines
        fits = [n for n in range(1, min(4, whole) + 1) if len(self._packed(0, n)) <= MOST]
        return min(fits, key=lambda n: (len(self._packed(0, n)) / n, n)) if fits else 1

    @property
    def _whole_lines(self) -> int:
        """Rows of windows of which each has all its outputs; one that is alone may lack some."""
        rows = self.axes[0]
        return max(rows.output // rows.outputs, 1)

    @property
    def turns(self) -> int:
        return self._whole_lines // self.lines

    @functools.cached_property
    def turn(self) -> list[Vector]:
        return self._packed(0, self.lines)

    @functools.cached_property
    def rest(self) -> list[Vector]:
        """Of the rows behind the last turn, by windows that are counted from there."""
        first = self.turns * self.lines
        return self._packed(first, self.axes[0].windows - first)

    @property
    def rest_lines(self) -> int:
        return self.axes[0].windows - self.turns * self.lines

    def _packed(self, first: int, lines: int) -> list[Vector]:
        """The outputs of some rows of windows, in vectors; windows are counted from the first."""
        rows, columns = self.axes
        windows: dict[int, list[Vector]] = {}
        for y in range(lines):
            for x in range(columns.windows):
                places = tuple(
                    Place((y, x), r, c) for r, c in self.outputs
                    if (first + y) * rows.outputs + r < rows.output
                    if x * columns.outputs + c < columns.output
                )  # fmt: skip
                windows.setdefault(len(places), []).append(places)
        found: list[Vector] = []
        for size in sorted(windows, reverse=True):
            for places in windows[size]:
                last = found[-1] if found else ()
                if last and len(last) + size <= WORDS:
                    found[-1] = last + places
                else:
                    found.append(places)
        return sorted(found, key=lambda of: (of[0].window[0], of[0].window[1] * _way(of)))

    def output_at(self, place: Place) -> int:
        """Bytes from the first output of its rows."""
        rows, columns = self.axes
        row = place.window[0] * rows.outputs + place.row
        return (row * columns.output + place.window[1] * columns.outputs + place.column) * (
            self.channels
        )

    def strip_at(self, window: tuple[int, int]) -> int:
        """Bytes from the first window of its rows."""
        rows, columns = self.axes
        return window[0] * rows.step * self.pitch + window[1] * columns.step * PAIR_BYTES

    def offsets(self, vectors: Sequence[Vector], vector: Vector) -> tuple[int, ...]:
        """Of the outputs of one of vectors, from the first output of all, or where they are too
        many for straight code from its own first one; those that lack are the last one again."""
        begin = self.output_at(vector[0]) if len(vectors) > MOST else 0
        at = [self.output_at(place) - begin for place in vector]
        return tuple(at + at[-1:] * (WORDS - len(at)))

    @functools.cached_property
    def scattered(self) -> list[tuple[int, ...]]:
        """All offsets that vectors have."""
        every = ((of, vector) for of in (self.turn, self.rest) for vector in of)
        return [*dict.fromkeys(self.offsets(of, vector) for of, vector in every)]

    # Bands: turns whose strips are held at a time.

    @functools.cached_property
    def band(self) -> int:
        """Turns of a band."""
        if self.turns <= 1 or self._held(self.turns) * self.pitch <= self.band_bytes:
            return self.turns
        fits = [n for n in range(1, self.turns) if self._held(n) * self.pitch <= self.band_bytes]
        bands = -(-self.turns // fits[-1]) if fits else self.turns
        return -(-self.turns // bands)

    @property
    def bands(self) -> int:
        return max(-(-self.turns // self.band), 1)

    @property
    def line_strips(self) -> int:
        """From a row of windows to the next."""
        return self.axes[0].step

    @property
    def lead(self) -> int:
        """Strips that a band takes from the one before it."""
        rows = self.axes[0]
        return max(rows.pairs - rows.step, 0)

    def _held(self, turns: int) -> int:
        lines = turns * self.lines + (self.rest_lines if turns == self.turns else 0)
        return lines * self.line_strips + self.lead

    @property
    def held(self) -> int:
        """Strips that there is room for."""
        last = self.turns - (self.bands - 1) * self.band
        ends = (last * self.lines + self.rest_lines) * self.line_strips + self.lead
        inner = self.band * self.lines * self.line_strips + self.lead
        return max(ends, inner) if self.bands > 1 else ends

    @property
    def has_rows_outside(self) -> bool:
        rows = self.axes[0]
        return rows.before > 0 or 2 * rows.all_pairs - rows.before > rows.input

    @property
    def columns(self) -> Iterator[tuple[bool, bool]]:
        """Of each pair of columns, whether either is inside of the image."""
        of = self.axes[1]
        return ((of.is_inside(2 * n), of.is_inside(2 * n + 1)) for n in range(of.all_pairs))

    @property
    def may_be_any(self) -> bool:
        """Whether layers of other channels may share the function."""
        return self.bands == 1 and len(self.turn) <= MOST and len(self.rest) <= MOST

    @property
    def may_lie_on_input(self) -> bool:
        """Whether no output is written over input of its channels that a later band reads."""
        rows, columns = self.axes
        for band in range(1, self.bands):
            lines = band * self.band * self.lines
            written = lines * rows.outputs * columns.output
            read = 2 * (lines * self.line_strips + self.lead) - rows.before
            if read < rows.input and written > read * columns.input:
                return False
        return True

    @property
    def zero_point(self) -> int:
        """Of the input as signed bytes."""
        zero = self.layer.zero_points[0]
        return zero if self.layer.x.dtype is DType.INT8 else zero - 128

    @property
    def is_clipped(self) -> bool:
        """Whether sums below 0 are the least element: biases have the bits of the float 2**23 in
        them then, and a sum of 0 and more is, as it stands, the float 2**23 + sum."""
        low, high = self.layer.reach
        is_least = self.layer.zero_points[1] == self.layer.y.dtype.range[0]
        fits = bool(high.max() < _EXACT and low.min() > -_EXACT)
        return is_least and fits and not self.layer.leaves_halfwords and self.fixed is None

    @property
    def is_shared(self) -> bool:
        """Whether the weights of a window's four outputs are those of the first one, moved."""
        return all(
            axis.outputs == 2 and axis.stride == 1 and axis.span in (2, 3) for axis in self.axes
        )

    @property
    def stored(self) -> tuple[tuple[int, int], ...]:
        """The outputs of a window whose weights are in the stream."""
        return self.outputs[:1] if self.is_shared else self.outputs

    @property
    def head_bytes(self) -> int:
        """Of a channel, in front of its weights."""
        return 8 if self.fixed is None else 12

    @property
    def channel_bytes(self) -> int:
        """Of the stream."""
        vectors = len(self.gathers) * len(self.stored)
        return self.head_bytes + 4 * WORDS * vectors

    @property
    def stream_bytes(self) -> int:
        heads = 4 * self.is_any + 16 * (1 + len(self.scattered))
        return heads + self.channel_bytes * self.channels

    def pack(self) -> Array:
        """uint32: the offsets of `gathered` and `scattered`, with the channels in front where they
        are any; then of each channel bias, float32 factor, or of TFLite int32 factor and shift, and
        for each vector of a window the weights of each stored output."""
        layer, (rows, columns) = self.layer, self.axes
        down, across = self.lanes
        weights = layer.weights[:, 0]
        high, wide = (
            -(-axis.pairs // n) * n for axis, n in zip(self.axes, self.lanes, strict=True)
        )
        taps = np.zeros((self.channels, len(self.stored), 2 * high, 2 * wide), np.int8)
        for n, (r, c) in enumerate(self.stored):
            top, left = r * rows.stride, c * columns.stride
            taps[:, n, top : top + rows.span : rows.dilation,
                 left : left + columns.span : columns.dilation] = weights  # fmt: skip
        of = taps.reshape(
            self.channels, len(self.stored), high // down, down, 2, wide // across, across, 2
        )
        # [channel, vector down, across, output, word down, across, column, row]
        octets = np.ascontiguousarray(of.transpose(0, 2, 5, 1, 3, 6, 7, 4))
        words = octets.reshape(self.channels, -1).view(np.uint32)
        bias = layer.bias - self.zero_point * weights.sum(axis=(1, 2))
        bias += _BITS * self.is_clipped
        ends = [bias.astype(np.int32).view(np.uint32)]
        if self.fixed is None:
            ends.append(layer.factors.view(np.uint32))
        else:
            ends += [self.fixed.multipliers.view(np.uint32), self.fixed.shifts.view(np.uint32)]
        heads = np.array([self.gathered, *self.scattered], np.uint32).reshape(-1)
        stream = np.concatenate([np.stack(ends, axis=1), words], axis=1).reshape(-1)
        count = np.array([self.channels] * self.is_any, np.uint32)
        return np.concatenate([count, heads, stream])


def _way(vector: Sequence[Place]) -> int:
    """Odd rows of windows are gone back, so that steps are short."""
    return -1 if vector[0].window[0] % 2 else 1
