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
from mcu_deploy.backends.quantized.twice_rounded import TwiceRounded, twice_rounded
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
    """weights: [filter, row, byte] of windows whose elements have the same order. sections: of
    filters, each with windows of its own."""

    layer: Linear
    weights: Array
    sections: int = 1

    @property
    def filters(self) -> int:
        """Of a section."""
        return len(self.weights) // self.sections

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

    @functools.cached_property
    def fixed(self) -> TwiceRounded | None:
        """Of a layer of TFLite, which no floats round."""
        return twice_rounded(self.layer)

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
        if self.fixed is not None or self.has_common_factor or self.saturates_words:
            return False
        return self._fused is not None

    @property
    def packed_factors(self) -> Array:
        """float32 or, of TFLite, int32 of each filter."""
        if self.fixed is not None:
            return self.fixed.multipliers
        factors = self._fused if self.is_fused else None
        return (self.layer.factors if factors is None else factors).astype(np.float32)

    @property
    def packed_shifts(self) -> Array | None:
        """int32 of each filter, where a layer of TFLite has several."""
        fixed = self.fixed
        return None if fixed is None or fixed.common_shift is not None else fixed.shifts

    @functools.cached_property
    def packed_ends(self) -> Array:
        """uint32 [filter, 1 or 2]: factors, and shifts where there are any; behind the filters one
        of 0."""
        of = [self.packed_factors.view(np.uint32)]
        if self.packed_shifts is not None:
            of.append(self.packed_shifts.view(np.uint32))
        return np.pad(np.stack(of, axis=1), ((0, 1), (0, 0)))

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

    def formula(self, y: str, x: str) -> tuple[str, ...]:
        """What stands over a kernel of an element and its sum."""
        with_sum = "with sum = bias[f] + sum of"
        if self.fixed is None:
            y = f"{y} = sat(round(float(sum) * factor[f]) + zero), {with_sum}"
            return y, f"{x}, both floats rounded to nearest."
        shift = "shift" if self.packed_shifts is None else "shift[f]"
        return (
            f"{y} = sat((sum * factor[f] >> 31 >> {shift}) + zero), {with_sum}",
            f"{x}; what is shifted is rounded to nearest, ties first up, then {self.fixed.ties}.",
        )

    @property
    def ends_text(self) -> str:
        """What there is of four filters to round their sums."""
        shifts = ", -shift[4]" if self.packed_shifts is not None else ""
        return f"factor[4]{shifts}: {'float32' if self.fixed is None else 'int32'}"

    @property
    def number_text(self) -> str:
        """What `rounding_number` is."""
        if self.fixed is None:
            return "the number that rounds"
        return "-shift" if self.packed_shifts is None else "0"

    def description(self) -> tuple[str, ...]:
        """What stands over a kernel of the packed stream."""
        return (
            f"weights: {self.number_text} and the input's zero point, so that layers share the "
            "function; of each tile of four filters and of each 16 bytes of a window those of the "
            f"four filters; {'; '.join(self.order_of_filters())}. Then of each tile, of 16 filters "
            f"in the order 0 2 1 3, bias[4], {self.ends_text}.",
        )

    @property
    def tile_bytes(self) -> int:
        return TILE * VECTOR * self.vectors

    @property
    def section_bytes(self) -> int:
        """Of a stream."""
        ends = 4 * (1 + int(self.packed_ends.shape[1]))
        return self.tiles * (self.tile_bytes + ends * TILE)

    @property
    def stream_bytes(self) -> int:
        ends = self.section_bytes - self.tiles * self.tile_bytes
        return HEAD + self.sections * self.section_bytes + max(AHEAD - ends, 0)

    @property
    def rounding_number(self) -> int:
        """What is added to a scaled sum: with the zero point, if that is even. Of TFLite the shift
        that all filters have."""
        if self.fixed is not None:
            return (self.fixed.common_shift or 0) & 0xFFFF_FFFF
        zero = self.layer.zero_points[1]
        return MAGIC + (0 if zero % 2 else zero)

    def pack(self) -> Array:
        """uint32: `rounding_number` and the input's zero point; of each section, of each tile and
        of each vector of a window those of four filters; then of each tile, of a group in the order
        `NARROWED`, the biases and `packed_ends`."""
        head = np.array([self.rounding_number, self.padding], np.uint32)
        sections = [self._packed(n * self.filters) for n in range(self.sections)]
        stream = np.concatenate([head, *sections])
        return np.pad(stream, (0, self.stream_bytes // 4 - stream.size))

    def _packed(self, first: int) -> Array:
        """Of the section that begins with this filter."""
        _, rows, bytes_ = self.weights.shape
        of = slice(first, first + self.filters)
        wide = np.zeros((self.filters + 1, rows, self.row_vectors * VECTOR), np.int8)
        wide[:-1, :, :bytes_] = self.weights[of]
        of_tiles = wide[self.order].reshape(self.tiles, TILE, self.vectors, VECTOR)
        words = np.ascontiguousarray(of_tiles.transpose(0, 2, 1, 3)).reshape(self.tiles, -1)
        weights = words.view(np.uint32)
        bias = np.append(self.bias[of], 0)[self.order].astype(np.int32).view(np.uint32)
        factors = np.concatenate([self.packed_ends[of], self.packed_ends[-1:]])
        rest = factors[self.order].transpose(0, 2, 1).reshape(self.tiles, -1)
        last = np.arange(4 * self.groups, self.tiles)
        narrowed = (4 * np.arange(self.groups)[:, None] + NARROWED).reshape(-1)
        taken = np.concatenate([narrowed, last]).astype(np.int64)
        ends = np.concatenate([bias[taken], rest[taken]], axis=1)
        return np.concatenate([weights.reshape(-1), ends.reshape(-1)])
