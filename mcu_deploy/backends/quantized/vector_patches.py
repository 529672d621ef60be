"""Windows of a padded image where that is. Those of two pixels that reach beyond it are in a patch,
with padding around what is inside: the scratch has no band of rows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.interface import InPlace
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.vector_product import VECTOR
from mcu_deploy.backends.quantized.vector_tiles import VectorTiles
from mcu_deploy.ir import DType

_MOST_ROW = 1 << 16  # bytes from one row of a window to the next


class Filling(NamedTuple):
    """Of all pairs, how many have a patch; of these, how many have anything inside; of these rows,
    on average, how many are inside, and how many bytes of each."""

    patched: int
    touching: int
    rows: float
    row_bytes: float


@dataclass(frozen=True, eq=False)
class Patches:
    """Windows of two pixels at a time, which are neighbours in a row."""

    layer: Convolution

    @property
    def channels(self) -> int:
        return self.layer.x.shape[1]

    @property
    def columns(self) -> int:
        """Of the windows of two pixels."""
        return self.layer.window.strides[1] + self.layer.window.kernel[1]

    @property
    def span(self) -> int:
        """Rows of the image from a window's first to its last."""
        window = self.layer.window
        return (window.kernel[0] - 1) * window.dilations[0] + 1

    @property
    def row_bytes(self) -> int:
        """Of the image."""
        return self.layer.window.input[1] * self.channels

    @property
    def row_pitch(self) -> int:
        """Bytes in the image from a row of a window to the next."""
        return self.layer.window.dilations[0] * self.row_bytes

    @property
    def patch_pitch(self) -> int:
        """Bytes in a patch from a row to the next."""
        return self.columns * self.channels

    @property
    def patch_bytes(self) -> int:
        return self.layer.window.kernel[0] * self.patch_pitch

    @property
    def step(self) -> int:
        """Bytes from a window to the next one in its row."""
        return self.layer.window.strides[1] * self.channels

    @property
    def pairs(self) -> int:
        """Of a row."""
        return self.layer.window.output[1] // 2

    @functools.cached_property
    def product(self) -> VectorTiles:
        weights = self.layer.weights.transpose(0, 2, 3, 1)
        taps = weights.reshape(len(weights), self.layer.window.kernel[0], -1)
        pairs = self.layer.window.output[0] * self.pairs
        return VectorTiles(self.layer, taps, pairs, is_bounded=False)

    @functools.cached_property
    def _tops(self) -> np.ndarray:
        """Of each row of the output, the first row of its windows."""
        window = self.layer.window
        return np.arange(window.output[0]) * window.strides[0] - window.begin[0]

    @functools.cached_property
    def _lefts(self) -> np.ndarray:
        """Of each pair in a row, the first column of its windows."""
        window = self.layer.window
        return 2 * window.strides[1] * np.arange(self.pairs) - window.begin[1]

    @functools.cached_property
    def filling(self) -> Filling:
        window = self.layer.window
        (height, width), tops, lefts = window.input, self._tops, self._lefts
        is_in = np.logical_and.outer(
            (tops >= 0) & (tops <= height - self.span),
            (lefts >= 0) & (lefts <= width - self.columns),
        )
        of_window = tops[:, None] + window.dilations[0] * np.arange(window.kernel[0])
        rows = ((of_window >= 0) & (of_window < height)).sum(axis=1)
        columns = np.minimum(lefts + self.columns, width) - np.maximum(lefts, 0)
        touches = ~is_in & (columns > 0)
        touching = int(touches.sum())
        copied = np.where(touches, rows[:, None], 0).sum()
        size = (np.where(touches, rows[:, None], 0) * np.maximum(columns, 0)).sum()
        return Filling(
            int((~is_in).sum()), touching, float(copied / max(1, touching)),
            float(size / max(1, copied)) * self.channels,
        )  # fmt: skip

    @property
    def in_place(self) -> InPlace:
        """Windows are read again for each tile of filters."""
        window, filters = self.layer.window, len(self.layer.weights)
        rows = np.clip(self._tops, 0, window.input[0] - 1) * self.row_bytes
        columns = np.clip(self._lefts, 0, window.input[1] - 1) * self.channels
        lowest = np.add.outer(rows, columns).reshape(-1)
        ends = 2 * filters * np.arange(1, lowest.size + 1)
        if not self.product.is_read_once:
            lowest = np.insert(lowest, 0, overlap.NOTHING)
        return InPlace(0, 0, max(overlap.distance(ends, lowest), -self.layer.x.bytes))

    def refusal(self) -> str:
        """Why no kernel has such windows, a clause; empty where one has."""
        layer, window = self.layer, self.layer.window
        if not window.padded or layer.x.dtype is not DType.INT8:
            return "its image is read as it is, or copied, without patches"
        if layer.x.shape[0] != 1:
            return f"it convolves one image, and the batch has {layer.x.shape[0]}"
        if min(*window.begin, *window.end) < 0:
            return "its padding is negative"
        if layer.groups > 1 or window.dilations[1] > 1:
            return "the columns of its windows are no neighbours"
        if self.channels % 4 or window.kernel[1] * self.channels % VECTOR:
            return "rows of its windows are no whole vectors"
        if window.output[1] % 2:
            return "rows of its output are no pairs of pixels"
        if self.row_pitch >= _MOST_ROW or self.step > 4095:
            return "rows of its image are too far from each other"
        if self.filling.patched == self.pairs * window.output[0]:
            return "all windows reach beyond its image"
        return ""
