"""Products of matrices that are both computed, as their kernel sees them, and what rounds them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import multiplier
from mcu_deploy.backends.interface import InPlace, Layer
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.strides import Loops, matrices
from mcu_deploy.backends.quantized import tile_shapes
from mcu_deploy.backends.quantized.requantization import accumulate, shift_of
from mcu_deploy.backends.quantized.requantization import refusal as refusal_of
from mcu_deploy.backends.quantized.staircases import Channel
from mcu_deploy.ir import TensorType

# At a time; rows are the filters of a tile, as a kernel has it.
TAPS, COLUMNS, ROWS = 4, tile_shapes.COLUMNS.rows, tile_shapes.COLUMNS.filters
BLOCK_BYTES = 2 * TAPS * COLUMNS
_SHIFT = 4  # as in dense_product.py


@dataclass(frozen=True)
class Rounding:
    """words: scale and addend, or twice the factor as float32; then the zero point for floats, and
    what a sum is moved by. is_real: whether it is in floats."""

    words: tuple[int, int, int, int]
    shift: int
    is_real: bool


@dataclass(frozen=True)
class MatrixProduct:
    """a: [..., row, tap]; b: [..., tap, column]; y: [..., row, column]."""

    a: TensorType
    b: TensorType
    y: TensorType

    @property
    def rows(self) -> int:
        return self.a.shape[-2] if self.a.rank > 1 else 1

    @property
    def columns(self) -> int:
        return self.b.shape[-1] if self.b.rank > 1 else 1

    @property
    def depth(self) -> int:
        return self.a.shape[-1]

    @property
    def loops(self) -> Loops:
        """Over the matrices of a, b and y."""
        return matrices(self.a, self.b)

    @property
    def rest(self) -> int:
        """Taps that are no block."""
        return self.depth % TAPS

    @property
    def panel_bytes(self) -> int:
        """Of the columns in the scratch: what sums start from, and the words."""
        return 4 * COLUMNS + BLOCK_BYTES * -(-self.depth // TAPS)

    @property
    def zero_points(self) -> tuple[int, int, int]:
        a, b, y = (t.scaling.zero_point[0] for t in (self.a, self.b, self.y))
        return a, b, y

    def rounding(self) -> Rounding | None:
        """In integers where these give the oracle's bits, else in floats; None where the factor is
        too large, or no normal number."""
        factor = multiplier(self.a.scaling, self.b.scaling, self.y.scaling)
        shift = min(shift_of(factor), _SHIFT)
        if shift < 0:
            return None
        a, b = (
            [end - zero for end in type_.dtype.range]
            for type_, zero in zip((self.a, self.b), self.zero_points, strict=False)
        )
        ends = [self.depth * left * right for left in a for right in b]
        if refusal_of(factor):
            return None
        zero, bounds = self.zero_points[2], self.y.dtype.range
        found = accumulate(Channel(factor[0], zero, bounds, (min(ends), max(ends))), 1, shift)
        if found is None:
            bits = int(factor.astype(np.float32).view(np.uint32)[0])
            return Rounding((bits, bits, zero, 0), 0, is_real=True)
        return Rounding((found.scale, found.addend, 0, found.move), shift, is_real=False)


def in_place(layer: Layer, product: MatrixProduct) -> tuple[InPlace, ...]:
    """A matrix is written while all of its factors are read. All elements have the same size."""
    loops, size = product.loops, product.y.dtype.bytes
    ends = overlap.strided(loops.extents, loops.steps[2]) + product.rows * product.columns
    facts: list[InPlace] = []
    for index in (0, 1):
        lowest = overlap.strided((*loops.extents, 2), (*loops.steps[index], 0))
        facts += overlap.fact(
            layer, index, overlap.distance(size * np.repeat(ends, 2), size * lowest)
        )
    return tuple(facts)
