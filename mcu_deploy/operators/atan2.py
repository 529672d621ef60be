"""TFLite's ATAN2 of float32: the angle of the point whose second coordinate comes first."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def _atan2(call: Call) -> list[Array]:
    """In radians, from -pi to pi. Computed in float64 and rounded once."""
    y, x = (call.value(k).astype(np.float64) for k in range(2))
    return [np.arctan2(y, x).astype(np.float32)]


OPERATORS = (Operator("Atan2", _atan2, domain="mcu", broadcasts=True),)
