"""A row times filters as vectors multiply them: 16 of its bytes by those of each of 8 filters.

Of 16 filters there are four vectors of sums, and the filters are taken in the order in which their
bytes are neighbours when the words have been narrowed twice: words to every other halfword,
halfwords to every other byte. Tiles of four filters are taken in twos.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.vector_product import TILE, VECTOR, VectorProduct

GROUP = 16  # filters that are rounded together
# The vectors of words of a group in the order in which they are narrowed.
NARROWED = (0, 2, 1, 3)
FILTERS = 8  # at a time
BLOCK = 8  # vectors in a turn of the loop
_MOST_GROUPS = 8  # of 16 filters, whose sums wait until they are rounded


@dataclass(frozen=True, eq=False)
class VectorDense(VectorProduct):
    """weights: [filter, 1, byte]."""

    @property
    def has_common_factor(self) -> bool:
        return self.layer.is_uniform

    @property
    def groups(self) -> int:
        """Of 16 filters."""
        return self.filters // GROUP

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
    def turns(self) -> int:
        """Of the loop over a row."""
        whole = self.vectors - (self.rest > 0)
        return whole // BLOCK

    @property
    def behind(self) -> int:
        """Vectors behind the loop."""
        return self.vectors - BLOCK * self.turns

    @property
    def pairs(self) -> int:
        """Of tiles."""
        return -(-self.tiles // 2)

    @property
    def parts(self) -> int:
        """How many times filters are summed up, then rounded: in parts that are alike."""
        if self.last or not self.groups:
            return 1
        return next(n for n in range(1, self.groups + 1)
                    if self.groups % n == 0 and self.groups // n <= _MOST_GROUPS)  # fmt: skip

    @property
    def rounded_groups(self) -> int:
        """Those whose sums are there at once."""
        return self.groups // self.parts

    @functools.cached_property
    def _taken(self) -> Array:
        """[pair of tiles, 8]: filters, or -1 for none."""
        missing = -self.tiles % 2
        found: Array = np.pad(self.order, ((0, missing), (0, 0)), constant_values=-1)
        return found.reshape(-1, FILTERS)

    def order_of_filters(self) -> list[str]:
        """In clauses."""
        of = []
        if self.groups:
            of.append("of each 16 filters tile t has t, 4 + t, 8 + t, 12 + t")
        if self.last:
            of.append(f"the last {self.last} filters four by four in their order")
        return of

    def description(self) -> tuple[str, ...]:
        ends = (
            f"the factor and {self.number_text}" if self.has_common_factor
            else f"of each tile of four filters, of 16 in the order 0 2 1 3, {self.ends_text}"
        )  # fmt: skip
        return (
            "weights: four words: how many bytes a row has, how many parts follow, how many times "
            "a part has two tiles, and how many times 16 filters. A part: of each two tiles of "
            "four filters bias[8], then of each 16 bytes of a row those of the eight filters; "
            f"{'; '.join(self.order_of_filters())}; behind these {ends}.",
        )

    @property
    def stream_bytes(self) -> int:
        ends = 8 * self.parts
        if not self.has_common_factor:
            ends = 4 * self.packed_ends.shape[1] * TILE * self.tiles
        return 16 + self.pairs * FILTERS * (4 + self.row_bytes) + ends + self._behind

    @property
    def _behind(self) -> int:
        """What the last load of the weights reads that are behind whole vectors, beyond the ends
        of a part."""
        return 8 if self.rest else 0

    def pack(self) -> Array:
        """uint32: the bytes of a row, parts, twos of tiles and groups of a part; of each part of
        each two tiles the eight biases, and of each vector of a row those of eight filters; then
        the one factor and `rounding_number`, or of each tile, of a group in the order `NARROWED`,
        `packed_ends`."""
        filters, _, bytes_ = self.weights.shape
        wide = np.zeros((filters + 1, self.vectors * VECTOR), np.int8)
        wide[:-1, :bytes_] = self.weights[:, 0]
        of_pairs = wide[self._taken].reshape(self.pairs, FILTERS, self.vectors, VECTOR)
        whole = of_pairs[:, :, : bytes_ // VECTOR].transpose(0, 2, 1, 3).reshape(self.pairs, -1)
        rest = of_pairs[:, :, bytes_ // VECTOR :, : self.rest].reshape(self.pairs, -1)
        words = np.ascontiguousarray(np.concatenate([whole, rest], axis=1))
        bias = np.append(self.bias, 0)[self._taken].astype(np.int32).view(np.uint32)
        of_tiles = np.concatenate([bias, words.view(np.uint32)], axis=1)
        factors = self.packed_factors
        if self.has_common_factor:
            both = np.append(factors[:1].view(np.uint32), np.uint32(self.rounding_number))
            ends = np.tile(both, (self.parts, 1))
        else:
            last = np.arange(4 * self.groups, self.tiles)
            narrowed = (4 * np.arange(self.groups)[:, None] + NARROWED).reshape(-1)
            taken = np.concatenate([narrowed, last]).astype(np.int64)
            of = self.packed_ends[self.order[taken]].transpose(0, 2, 1)
            ends = of.reshape(self.parts, -1)
        parts = np.concatenate([of_tiles.reshape(self.parts, -1), ends], axis=1)
        of_part = self.pairs // self.parts, self.groups // self.parts
        head = np.array([bytes_, self.parts, *of_part], np.uint32)
        return np.concatenate([head, parts.reshape(-1), np.zeros(self._behind // 4, np.uint32)])
