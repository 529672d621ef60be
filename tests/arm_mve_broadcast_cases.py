"""Sums and products of tensors of different shapes for ArmMve: channels, planes and numbers, in
either order."""

from __future__ import annotations

from arm_dsp_sum_cases import BROADCAST, EXTREMES, Sum, model

_TIES = (0.1, 0.3, 0.2)
TAKEN = (
    *(case for case in BROADCAST if case not in EXTREMES),
    Sum(shapes=((1, 40, 3, 3), (1, 40, 1, 1)), scales=_TIES, zeros=(3, 4, -5)),
    Sum(op="Sub", shapes=((1, 1, 1, 1), (1, 2, 7, 5)), scales=_TIES, zeros=(3, 4, -5)),
    Sum(op="Sub", shapes=((2, 1, 5), (2, 9, 5)), scales=_TIES, zeros=(3, 4, -5)),
    Sum(op="Mul", shapes=((3, 70), (1, 1)), scales=(0.25, 0.5, 0.75), zeros=(3, 4, 9)),
)
GOLDEN = Sum(op="Mul", shapes=((1, 6, 4, 5), (1, 6, 1, 1)))

__all__ = ["GOLDEN", "TAKEN", "Sum", "model"]
