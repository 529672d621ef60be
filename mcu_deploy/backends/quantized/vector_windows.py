"""Where the windows of a convolution lie, whose bytes vectors multiply.

The image is read as it is where it has no padding. Else a band of its rows is copied to the
scratch, with its padding, as many as some rows of the output need. There a row of a window is bytes
that are neighbours, and windows are multiplied where they are; or their rows are gathered, so that
they are neighbours too: of narrow ones fewer vectors are left half empty then.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from mcu_deploy.backends.interface import InPlace
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.layers import Convolution, image_refusal
from mcu_deploy.backends.quantized.vector_product import VECTOR
from mcu_deploy.backends.quantized.vector_tiles import PixelRun, VectorTiles
from mcu_deploy.ir import DType

_MOST_ROW = 1 << 16  # bytes from one row of a window to the next
_MOST_GATHERED = 512  # bytes of a window


@dataclass(frozen=True, eq=False)
class Windows:
    """is_gathered: whether rows of windows are brought together. band: rows of the output at a
    time; all of them, where the image is read as it is."""

    layer: Convolution
    is_gathered: bool
    band: int

    @property
    def is_copied(self) -> bool:
        """Whether a band is in the scratch: of uint8 too, whose elements are moved on the way."""
        return self.layer.window.padded or self.layer.x.dtype is DType.UINT8

    @property
    def channels(self) -> int:
        return self.layer.x.shape[1]

    @property
    def depth(self) -> int:
        """Channels of a window: those of a group."""
        return self.channels // self.layer.groups

    @property
    def bands(self) -> int:
        return self.layer.window.output[0] // self.band

    @property
    def held(self) -> int:
        """Rows of a band."""
        window = self.layer.window
        return (self.band - 1) * window.strides[0] + (
            (window.kernel[0] - 1) * window.dilations[0] + 1
        )

    @property
    def columns(self) -> int:
        """Of a row in memory, padding included."""
        window = self.layer.window
        if not self.is_copied:
            return window.input[1]
        return (window.output[1] - 1) * window.strides[1] + (
            (window.kernel[1] - 1) * window.dilations[1] + 1
        )

    @property
    def taken(self) -> int:
        """Columns of the image that a band has."""
        window = self.layer.window
        return min(window.input[1], self.columns - window.begin[1])

    @property
    def pitch(self) -> int:
        """Bytes from a row to the next: whole words where pixels are."""
        return self.columns * self.channels

    @property
    def has_row_padding(self) -> bool:
        """Whether rows have padding in front of or behind the image's columns."""
        return self.taken < self.columns

    @property
    def band_bytes(self) -> int:
        """Of the scratch: what vectors read behind the last row included."""
        return self.held * self.pitch + VECTOR if self.is_copied else 0

    @property
    def step(self) -> int:
        """Bytes from a window to the next one in its row."""
        return self.layer.window.strides[1] * self.channels

    @property
    def jump(self) -> int:
        """Bytes from behind the last window of a row, a step on, to the first one of the next."""
        window = self.layer.window
        return window.strides[0] * self.pitch - window.output[1] * self.step

    @property
    def run(self) -> PixelRun:
        """Of a band."""
        across = self.layer.window.output[1]
        if self.jump == 0 or self.band == 1:
            return PixelRun(self.band * across, 1, self.step, 0)
        if across == 1:
            return PixelRun(self.band, 1, self.step + self.jump, 0)
        return PixelRun(across, self.band, self.step, self.jump)

    @property
    def apart(self) -> int:
        """Bytes from a window to the other one that is multiplied with it."""
        if self.run.length == 1:
            return 0
        return self.gathered_bytes if self.is_gathered else self.run.step

    @functools.cached_property
    def pieces(self) -> tuple[tuple[int, ...], int]:
        """Where what is neighbours in a window begins, counted from the window, and its bytes."""
        window = self.layer.window
        rows = [k * window.dilations[0] * self.pitch for k in range(window.kernel[0])]
        across, apart = window.kernel[1], window.dilations[1]
        if across == 1 or (apart == 1 and self.layer.groups == 1):
            return tuple(rows), across * self.depth
        taps = [k * apart * self.channels for k in range(across)]
        return tuple(row + tap for row in rows for tap in taps), self.depth

    @property
    def product(self) -> VectorTiles:
        filters = len(self.layer.weights)
        of = self.layer.weights.transpose(0, 2, 3, 1)
        pieces, bytes_ = self.pieces
        rows = 1 if self.is_gathered else len(pieces)
        taps = of.reshape(filters, rows, len(pieces) * bytes_ // rows)
        groups = self.layer.groups
        pairs = groups * self.bands * len(self.run.firsts)
        return VectorTiles(self.layer, taps, pairs, self.is_bounded, groups)

    @property
    def row_pitch(self) -> int:
        """Bytes from a row of a window to the next."""
        return self.layer.window.dilations[0] * self.pitch

    @property
    def has_words(self) -> bool:
        return self.is_gathered or (self.channels % 4 == 0 and self.depth % 4 == 0)

    @property
    def gathered_bytes(self) -> int:
        """Of a gathered window, and what is written behind it."""
        pieces, bytes_ = self.pieces
        return -(-(len(pieces) * bytes_) // VECTOR) * VECTOR + VECTOR if self.is_gathered else 0

    @property
    def is_bounded(self) -> bool:
        """Whether windows are where nothing may be read behind them."""
        return not (self.is_gathered or self.is_copied)

    @property
    def in_place(self) -> InPlace | None:
        """A band is read before it is written. Else two pixels are: where their windows stay in
        registers, or are gathered; or they are read again for each tile of filters. All is, where
        there are groups, or the output lies on no input."""
        if self.layer.groups > 1:
            is_read = self.is_copied and self.bands == 1
            return InPlace(0, 0, -self.layer.x.bytes) if is_read else None
        window, filters = self.layer.window, len(self.layer.weights)
        down, across = window.output
        row = window.input[1] * self.channels
        if self.is_copied:
            tops = np.arange(0, down, self.band)
            top = tops * window.strides[0] - window.begin[0]
            lowest = np.clip(top, 0, window.input[0] - 1) * row
            ends = (tops + self.band) * across * filters
        else:
            first = np.array(self.run.firsts)
            lowest = first // across * window.strides[0] * row + first % across * self.step
            ends = (first + min(self.run.length, 2)) * filters
            if not (self.is_gathered or self.product.is_read_once):
                lowest = np.insert(lowest, 0, overlap.NOTHING)
        distance = overlap.distance(ends, lowest)
        return InPlace(0, 0, max(distance, -self.layer.x.bytes))

    def refusal(self) -> str:
        """Why no kernel has such windows, a clause; empty where one has."""
        window = self.layer.window
        pieces, bytes_ = self.pieces
        if reason := image_refusal(self.layer):
            return reason
        if max(self.row_pitch, abs(self.jump)) >= _MOST_ROW or self.step > 4095:
            return "rows of its image are too far from each other"
        if self.is_gathered and len(pieces) * bytes_ > _MOST_GATHERED:
            return "its windows are too large to be gathered"
        is_apart = window.dilations[1] > 1 or self.layer.groups > 1
        if not self.is_gathered and is_apart and window.kernel[1] > 1:
            return "the columns of its windows are no neighbours"
        return ""


def forms(layer: Convolution, most_band: int) -> list[Windows]:
    """Those that are worth a price: with bands of a row, and with those of at most so many
    bytes."""
    found = []
    down = layer.window.output[0]
    for is_gathered in (False, True):
        if is_gathered and layer.window.kernel == (1, 1):
            continue
        whole = Windows(layer, is_gathered, down)
        if not whole.is_copied:
            found.append(whole)
            continue
        all_ = [Windows(layer, is_gathered, n) for n in range(1, down + 1) if down % n == 0]
        small = [one for one in all_ if one.band_bytes <= most_band]
        found += [all_[0], *([small[-1]] if len(small) > 1 else [])]
    return [one for one in found if not one.refusal()] or found[:1]
