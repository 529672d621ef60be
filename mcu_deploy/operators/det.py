"""Det-11 and -22: determinants of square matrices."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def _det(call: Call) -> list[Array]:
    """In float64, rounded once."""
    x = call.value(0)
    return [np.asarray(np.linalg.det(x.astype(np.float64))).astype(x.dtype)]


OPERATORS = (Operator("Det", _det),)
