"""Windows times filters as vectors multiply them: 16 bytes of a window by 16 of each of 4 filters.

A window is rows of bytes that are neighbours in memory, so nothing is gathered: a row of a 3x3
window in [row][column][channel] is three pixels. The sums of four filters are a vector of words.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.fused_rounding import fused_factors
from mcu_deploy.backends.quantized.vector_rounding import VectorRounding
from mcu_deploy.ir import DType

VECTOR = 16  # bytes
TILE = 4  # filters
HEAD = 8  # bytes of a stream in front of the weights


@dataclass(frozen=True, eq=False)
class VectorProduct(VectorRounding):
    """weights: [filter, row, byte] of windows whose elements have the same order."""

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
    def needs_number(self) -> bool:
        """Whether `rounding_number` is any."""
        if self.fixed is not None:
            return self.packed_shifts is None
        return not self.layer.leaves_halfwords

    @functools.cached_property
    def _fused(self) -> Array | None:
        layer = self.layer
        return fused_factors(
            layer.factors, layer.reach, layer.zero_points[1], layer.y.dtype.range
        )  # fmt: skip

    @property
    def is_fused(self) -> bool:
        """Whether one instruction scales and rounds (fused_rounding.py)."""
        if self.fixed is not None or self.has_common_factor or self.layer.leaves_halfwords:
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

    @property
    def rounding_number(self) -> int:
        """`magic`, or of TFLite the shift that all filters have."""
        if self.fixed is not None:
            return (self.fixed.common_shift or 0) & 0xFFFF_FFFF
        return self.magic
