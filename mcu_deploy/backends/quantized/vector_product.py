"""Windows times filters as vectors multiply them: 16 bytes of a window by 16 of each of 4 filters.

A window is rows of bytes that are neighbours in memory, so nothing is gathered: a row of a 3x3
window in [row][column][channel] is three pixels. The sums of four filters are a vector of words. Of
16 filters there are four such vectors, and the filters are taken in the order in which their bytes
are neighbours when the words have been narrowed twice: words to every other halfword, halfwords to
every other byte.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.fused_rounding import fused_factors
from mcu_deploy.backends.quantized.layers import Linear
from mcu_deploy.ir import DType

VECTOR = 16  # bytes
TILE = 4  # filters
GROUP = 16  # filters that are rounded together
# The vectors of words of a group in the order in which they are narrowed.
NARROWED = (0, 2, 1, 3)
HEAD = 8  # bytes of a stream in front of the weights
# Of a stream what is read ahead, at most: a tile's weights.
AHEAD = 64
# Up to so many vectors of a window stay in registers for all filters.
_KEPT = 2
# 1.5 * 2**23, a float32: what is added to it has its integer, to nearest even, in the lowest bits.
MAGIC = 0x4B40_0000
# Below this a scaled sum and a zero point are a halfword.
_HALFWORD = 32_000


@dataclass(frozen=True, eq=False)
class VectorProduct:
    """weights: [filter, row, byte] of windows whose elements have the same order."""

    layer: Linear
    weights: Array

    @property
    def filters(self) -> int:
        return len(self.weights)

    @property
    def rows(self) -> int:
        """Of a window."""
        return int(self.weights.shape[1])

    @property
    def row_bytes(self) -> int:
        return int(self.weights.shape[2])

    @property
    def row_vectors(self) -> int:
        return -(-self.row_bytes // VECTOR)

    @property
    def rest(self) -> int:
        """The bytes that the last vector of a row has, if it is no whole one."""
        return self.row_bytes % VECTOR

    @property
    def vectors(self) -> int:
        """Of a window."""
        return self.rows * self.row_vectors

    @property
    def is_moved(self) -> bool:
        """Whether vectors are of elements that are 128 less than the input's, which is uint8:
        products are of int8 by int8. What loads or copies them flips their highest bits."""
        return self.layer.x.dtype is DType.UINT8

    @property
    def bias(self) -> Array:
        """Of sums of what vectors hold."""
        if not self.is_moved:
            return self.layer.bias
        moved: Array = self.layer.bias + 128 * self.weights.astype(np.int64).sum(axis=(1, 2))
        return moved

    @property
    def padding(self) -> int:
        """The input's zero point as the byte that vectors hold."""
        return self.layer.zero_points[0] & 0xFF ^ (0x80 if self.is_moved else 0)

    @property
    def is_kept(self) -> bool:
        """Whether windows stay in registers for all filters."""
        return self.vectors <= _KEPT

    @property
    def adds_bias(self) -> bool:
        """Whether what rounds adds biases; else sums begin with them."""
        return True

    @property
    def groups(self) -> int:
        """Of 16 filters."""
        return self.filters // GROUP

    @property
    def rounded_groups(self) -> int:
        """Those whose sums are there at once."""
        return self.groups

    @property
    def last(self) -> int:
        """Filters behind the last group."""
        return self.filters % GROUP

    @property
    def tiles(self) -> int:
        return 4 * self.groups + -(-self.last // TILE)

    @functools.cached_property
    def order(self) -> Array:
        """[tile, 4]: filters, or -1 for none."""
        of_group = np.arange(4)[:, None] + TILE * np.arange(4)
        whole = (GROUP * np.arange(self.groups)[:, None, None] + of_group).reshape(-1, TILE)
        begin = GROUP * self.groups
        rest = np.arange(begin, begin + TILE * (-(-self.last // TILE)))
        last = np.where(rest < self.filters, rest, -1).reshape(-1, TILE)
        found: Array = np.concatenate([whole, last])
        return found

    @property
    def saturates_words(self) -> bool:
        """Whether a scaled sum may be no halfword."""
        low, high = self.layer.reach
        most = np.maximum(np.abs(low), np.abs(high)) * self.layer.factors.astype(np.float64)
        return bool(most.max() >= _HALFWORD)

    @functools.cached_property
    def _fused(self) -> Array | None:
        layer = self.layer
        return fused_factors(
            layer.factors, layer.reach, layer.zero_points[1], layer.y.dtype.range
        )  # fmt: skip

    @property
    def is_fused(self) -> bool:
        """Whether one instruction scales and rounds (fused_rounding.py)."""
        return not (self.has_common_factor or self.saturates_words or self._fused is None)

    @property
    def packed_factors(self) -> Array:
        """float32 of each filter."""
        factors = self._fused if self.is_fused else None
        return (self.layer.factors if factors is None else factors).astype(np.float32)

    def refusal(self) -> str:
        """Why no kernel computes such windows, a clause; empty where one does."""
        if self.layer.fixed is not None:
            return "it does not round as TFLite does yet"
        return ""

    @property
    def has_common_factor(self) -> bool:
        """Whether the packed stream has one factor, which is that of all filters."""
        return False

    def order_of_filters(self) -> list[str]:
        """In clauses."""
        of = []
        if self.groups:
            of.append("of each 16 filters tile t has t, 4 + t, 8 + t, 12 + t")
        if self.last:
            of.append(f"the last {self.last} filters four by four in their order")
        return of

    def description(self) -> tuple[str, ...]:
        """What stands over a kernel of the packed stream."""
        return (
            "weights: the number that rounds and the input's zero point, so that layers share the "
            "function; of each tile of four filters and of each 16 bytes of a window those of the "
            f"four filters; {'; '.join(self.order_of_filters())}. Then of each tile, of 16 filters "
            "in the order 0 2 1 3, bias[4], factor[4]: float32.",
        )

    @property
    def tile_bytes(self) -> int:
        return TILE * VECTOR * self.vectors

    @property
    def stream_bytes(self) -> int:
        return HEAD + self.tile_bytes * self.tiles + max(8 * TILE * self.tiles, AHEAD)

    @property
    def rounding_number(self) -> int:
        """What is added to a scaled sum: with the zero point, if that is even."""
        zero = self.layer.zero_points[1]
        return MAGIC + (0 if zero % 2 else zero)

    def pack(self) -> Array:
        """uint32: `rounding_number` and the input's zero point; of each tile and of each vector of
        a window those of four filters; then of each tile, of a group in the order `NARROWED`, the
        biases and the factors, float32."""
        filters, rows, bytes_ = self.weights.shape
        wide = np.zeros((filters + 1, rows, self.row_vectors * VECTOR), np.int8)
        wide[:-1, :, :bytes_] = self.weights
        of_tiles = wide[self.order].reshape(self.tiles, TILE, self.vectors, VECTOR)
        words = np.ascontiguousarray(of_tiles.transpose(0, 2, 1, 3)).reshape(self.tiles, -1)
        weights = words.view(np.uint32)
        bias = np.append(self.bias, 0)[self.order].astype(np.int32).view(np.uint32)
        factors = np.append(self.packed_factors, np.float32(0))[self.order].view(np.uint32)
        last = np.arange(4 * self.groups, self.tiles)
        narrowed = (4 * np.arange(self.groups)[:, None] + NARROWED).reshape(-1)
        taken = np.concatenate([narrowed, last]).astype(np.int64)
        ends = np.concatenate([bias[taken], factors[taken]], axis=1)
        head = np.array([self.rounding_number, self.padding], np.uint32)
        stream = np.concatenate([head, weights.reshape(-1), ends.reshape(-1)])
        return np.pad(stream, (0, self.stream_bytes // 4 - stream.size))
