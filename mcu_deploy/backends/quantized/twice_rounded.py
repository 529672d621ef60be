"""TFLite's arithmetic as vectors have it: a sum is multiplied and rounded, shifted and rounded.

The first rounding is VQRDMULH's, ties up. The second is VRSHL's but for its ties, which are away
from zero: of products below 0 one is taken first. That changes no other element, and none where
all that is below 0 is the least element.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.layers import Linear


@dataclass(frozen=True, eq=False)
class TwiceRounded:
    """multipliers, shifts: int32 of each filter, shifts as VRSHL has them: below 0 to the right.
    is_away: whether one is taken from products below 0."""

    multipliers: Array
    shifts: Array
    is_away: bool

    @property
    def common_shift(self) -> int | None:
        """That of all filters, if they have one."""
        return int(self.shifts[0]) if (self.shifts == self.shifts[0]).all() else None

    @property
    def is_mixed(self) -> bool:
        """Whether filters are not shifted, from whose products nothing may be taken."""
        return self.is_away and not bool(self.shifts.all())

    @property
    def ties(self) -> str:
        """Where the second rounding's go."""
        return "away from zero" if self.is_away else "up"


def twice_rounded(layer: Linear) -> TwiceRounded | None:
    """Of a layer of TFLite."""
    if layer.fixed is None:
        return None
    multipliers, shifts = layer.fixed.astype(np.int32).T
    is_least = layer.zero_points[1] == layer.y.dtype.range[0]
    return TwiceRounded(multipliers, shifts, not is_least and bool(layer.reach[0].min() < 0))
