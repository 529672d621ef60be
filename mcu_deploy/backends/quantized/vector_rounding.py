"""How vectors of a layer's sums become elements: isa/mve/rounding.py has the instructions."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from mcu_deploy.backends.quantized.layers import Linear
from mcu_deploy.backends.quantized.twice_rounded import TwiceRounded, twice_rounded

# 1.5 * 2**23, a float32: what is added to it has its integer, to nearest even, in the lowest bits.
MAGIC = 0x4B40_0000


@dataclass(frozen=True, eq=False)
class VectorRounding:
    layer: Linear

    @functools.cached_property
    def fixed(self) -> TwiceRounded | None:
        """Of a layer of TFLite, which no floats round."""
        return twice_rounded(self.layer)

    @property
    def adds_zero(self) -> bool:
        """Whether the zero point is added behind: `magic` has it only if it is even."""
        zero = self.layer.zero_points[1]
        has_number = self.fixed is None and not self.layer.leaves_halfwords
        return zero % 2 == 1 if has_number else zero != 0

    @property
    def magic(self) -> int:
        """A float32 that is added to a scaled sum: with the zero point, if that is even."""
        zero = self.layer.zero_points[1]
        return MAGIC + (0 if zero % 2 else zero)
