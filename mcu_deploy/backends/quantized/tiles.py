"""Where the windows of a convolution lie in the image, and which of them leave it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.layers import Convolution


@dataclass(frozen=True, eq=False)
class Tiles:
    """Tiles of three outputs, over the rows. A tile has three windows; or one (is_shared), that
    spans the three of neighbours in a row, where rows begin with a tile of their own."""

    layer: Convolution
    is_shared: bool = False

    @property
    def windows(self) -> int:
        return 1 if self.is_shared else 3

    @property
    def columns(self) -> int:
        """Taps in a row of a window."""
        return self.layer.window.kernel[1] + (2 if self.is_shared else 0)

    @property
    def span(self) -> tuple[int, int]:
        """Rows and columns under a window."""
        down, right = self.layer.window.dilations
        return (self.layer.window.kernel[0] - 1) * down + 1, (self.columns - 1) * right + 1

    @property
    def stride(self) -> int:
        """From a window to the next one of its row."""
        return 3 if self.is_shared else self.layer.window.strides[1]

    @property
    def in_row(self) -> int:
        """So many windows begin in a row."""
        outputs = self.layer.window.output[1]
        return -(-outputs // 3) if self.is_shared else outputs

    @property
    def rest(self) -> int:
        """So many outputs of a row's last tile exist, of tiles that share a window; 0 if all do."""
        return self.layer.window.output[1] % 3 if self.is_shared else 0

    @property
    def inside(self) -> tuple[int, int]:
        """So many rows and columns from the first on begin windows that lie inside of the image."""
        (height, width), (below, right) = self.layer.window.input, self.span
        return max(0, height - below + 1), max(0, width - right + 1)

    @property
    def whole_columns(self) -> int:
        """As `inside`, of all windows of a tile in a row."""
        return max(0, self.inside[1] - (self.windows - 1) * self.stride)

    @property
    def count(self) -> int:
        rows = self.layer.window.output[0]
        return rows * self.in_row if self.is_shared else -(-self.layer.pixels // 3)

    @functools.cached_property
    def _begins(self) -> tuple[Array, Array]:
        """Of each window its first row and column."""
        window = self.layer.window
        rows = np.arange(window.output[0]) * window.strides[0] - window.begin[0]
        columns = np.arange(self.in_row) * self.stride - window.begin[1]
        return np.repeat(rows, columns.size), np.tile(columns, rows.size)

    def are_whole(self) -> Array:
        """Of each tile whether its windows lie in one row and inside."""
        rows, columns = (p[:: self.windows] for p in self._begins)
        begins_inside = (rows >= 0) & (rows < self.inside[0]) & (columns >= 0)
        whole: Array = begins_inside & (columns < self.whole_columns)
        return whole

    def are_inside(self) -> Array:
        """Of each window."""
        rows, columns = self._begins
        inside: Array = (rows >= 0) & (rows < self.inside[0])
        return inside & (columns >= 0) & (columns < self.inside[1])

    def distance(self) -> int:
        """As `InPlace` has it: a tile is gathered before it is written. Of one in groups only the
        last group of it is."""
        rows, columns = self._begins
        (height, width), (below, right) = self.layer.window.input, self.span
        dilation, channels = self.layer.window.dilations[0], self.layer.x.shape[1]
        first = np.where(rows < 0, rows % dilation, rows)
        is_empty = first >= np.minimum(height, rows + below)
        is_empty |= (columns >= width) | (columns + right <= 0)
        lowest = (first * width + np.maximum(columns, 0)) * channels
        lowest = np.where(is_empty, self.layer.x.bytes, lowest)
        next_ = self.windows if self.layer.groups == 1 else 0
        later = np.minimum.accumulate(lowest[::-1])[::-1][next_ :: self.windows]
        tiles = np.arange(1, later.size + 1)
        pixels = 3 * tiles
        if self.is_shared:
            whole, begun = np.divmod(tiles, self.in_row)
            pixels = whole * self.layer.window.output[1] + 3 * begun
        written = pixels * self.layer.y.shape[1]
        return int((written - later).max(initial=-self.layer.x.bytes))
