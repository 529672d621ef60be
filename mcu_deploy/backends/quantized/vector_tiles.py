"""Pixels times filters, four filters a tile, whose sums are rounded while the next tile multiplies.

Where nothing may be read behind a window's row, its last vector ends with it: what that has of the
one before it is multiplied by 0.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.vector_product import HEAD, TILE, VECTOR, VectorProduct

_MOST_CODE = 1190  # bytes of tiles, about
# Cycles that a byte of code must spare.
_WORTH = 8.5
# Instructions of a tile: of a vector of a window, and of its sums.
_OF_VECTOR, _OF_SUMS = 14, 18
# Cycles of a turn, and those that its last sums take longer where nothing multiplies meanwhile.
_TURN, _ENDS = 8, 14


class PixelRun(NamedTuple):
    """Pixels of the output, whose windows are `step` bytes from each other, so many `times`; from
    behind the last window of a run, a step on, to the next run's first there are `jump`."""

    length: int
    times: int
    step: int
    jump: int

    @property
    def firsts(self) -> list[int]:
        """Of each two pixels that are multiplied together, the first one."""
        is_odd = self.length % 2 == 1 and self.length > 1
        of_run = [*([0] * is_odd), *range(is_odd, max(self.length - 1, 1), 2)]
        return [run * self.length + first for run in range(self.times) for first in of_run]


@dataclass(frozen=True, eq=False)
class VectorTiles(VectorProduct):
    """weights: [filter, row, byte]; filters are taken in their order. is_bounded: whether nothing
    may be read behind a window's row. pairs: of pixels, for which the filters of a section are
    multiplied; sections: of filters, each with windows of its own."""

    pairs: int
    is_bounded: bool = True
    sections: int = 1

    @property
    def filters(self) -> int:
        """Of a section."""
        return self.pitch // self.sections

    @property
    def pitch(self) -> int:
        """Elements of a pixel."""
        return len(self.weights)

    @property
    def tiles(self) -> int:
        return -(-self.filters // TILE)

    @property
    def last(self) -> int:
        """Filters of the last tile."""
        return self.filters - TILE * (self.tiles - 1)

    @property
    def is_kept(self) -> bool:
        """Whether windows stay in registers for all filters."""
        return self.vectors == 1

    @property
    def is_read_once(self) -> bool:
        """Whether no window is read when elements have been written that are of its pixels."""
        return self.is_kept or self.tiles == 1

    @property
    def begins(self) -> list[int]:
        """Of a row's vectors, where each begins."""
        begins = [VECTOR * n for n in range(self.row_vectors)]
        if self.is_bounded and self.rest and self.row_vectors > 1:
            begins[-1] = self.row_bytes - VECTOR
        return begins

    @property
    def is_guarded(self) -> bool:
        """Whether a predicate keeps loads from what is behind a row."""
        return self.is_bounded and self.row_bytes < VECTOR

    # How many tiles are straight code: those in front of a loop, and those of a turn. The sums of a
    # turn's last tile become elements in the next turn, if there is a tile in front; else a turn
    # ends with that.

    @functools.cached_property
    def code(self) -> tuple[int, int]:
        """Tiles in front of a loop over the others, and of a turn: as many as are worth it."""
        bytes_ = 4 * (_OF_VECTOR * self.vectors + _OF_SUMS)
        fits = max(_MOST_CODE // bytes_, 1 + (self.last < TILE))
        ways = [(self.tiles, 0)] * (self.tiles <= fits) + [
            (before, of_turn) for before in range(fits) for of_turn in range(1, fits + 1 - before)
            if before + of_turn < self.tiles and (self.tiles - before) % of_turn == 0
            if before or self.last == TILE
        ]  # fmt: skip

        def dearness(way: tuple[int, int]) -> float:
            before, of_turn = way
            turns = (self.tiles - before) // of_turn if of_turn else 0
            time = turns * (_TURN if before else _TURN + _ENDS)
            return self.pairs * time + _WORTH * bytes_ * (before + of_turn)

        return min(ways, key=lambda way: (dearness(way), way))

    @property
    def turns(self) -> int:
        before, of_turn = self.code
        return (self.tiles - before) // of_turn if of_turn else 0

    @property
    def ends(self) -> int:
        """Vectors of a tile behind its weights: biases, and what scales."""
        return 1 + int(self.packed_ends.shape[1])

    @property
    def skipped(self) -> int:
        """Bytes from a tile's last weights over its ends to the next one's first."""
        return VECTOR * (1 + self.ends)

    @property
    def section_bytes(self) -> int:
        """Of a stream."""
        return VECTOR * (TILE * self.vectors + self.ends) * self.tiles

    @property
    def stream_bytes(self) -> int:
        # Behind its last tile a loop loads the first weights of another one.
        return HEAD + self.section_bytes * self.sections + VECTOR * (self.turns > 0)

    def description(self) -> tuple[str, ...]:
        return (
            f"weights: {self.number_text} and the input's zero point, so that layers share the "
            "function; of each tile of four filters those of each 16 bytes of a window, then "
            f"bias[4], {self.ends_text}.",
        )

    def pack(self) -> Array:
        """uint32: `rounding_number` and the input's zero point; of each section, of each tile of
        each vector of a window the weights of four filters, then their biases and `packed_ends`."""
        head = np.array([self.rounding_number, self.padding], np.uint32)
        sections = [self._packed(n * self.filters) for n in range(self.sections)]
        stream = np.concatenate([head, *sections])
        return np.pad(stream, (0, self.stream_bytes // 4 - stream.size))

    def _packed(self, first: int) -> Array:
        """Of the section that begins with this filter."""
        of = slice(first, first + self.filters)
        missing = TILE * self.tiles - self.filters
        taps = np.zeros((self.filters + missing, self.rows, self.row_vectors, VECTOR), np.int8)
        for n, begin in enumerate(self.begins):
            taken = self.weights[of, :, VECTOR * n : VECTOR * (n + 1)]
            at = VECTOR * n - begin
            taps[: self.filters, :, n, at : at + taken.shape[2]] = taken
        of_tiles = taps.reshape(self.tiles, TILE, self.vectors, VECTOR)
        words = np.ascontiguousarray(of_tiles.transpose(0, 2, 1, 3)).reshape(self.tiles, -1)
        bias = self.bias[of].astype(np.int32).view(np.uint32)
        ends = np.concatenate([bias[:, None], self.packed_ends[of]], axis=1)
        rest = np.pad(ends, ((0, missing), (0, 0))).reshape(self.tiles, TILE, self.ends)
        tiles = [words.view(np.uint32), rest.transpose(0, 2, 1).reshape(self.tiles, -1)]
        return np.concatenate(tiles, axis=1).reshape(-1)
