"""Changes of the element type: Cast-13, CastLike-15, BitCast-26 and older."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import DType
from mcu_deploy.operators import integers
from mcu_deploy.operators.base import Call, Operator


def _cast(call: Call) -> list[Array]:
    x, target = call.value(0), call.results[0].dtype
    if target is DType.BOOL:
        return [x != 0]
    if target.is_integer and x.dtype.kind == "f":
        return [integers.from_real(x, target.numpy)]
    return [x.astype(target.numpy)]


def _bit_cast(call: Call) -> list[Array]:
    """BitCast-26: the same bytes as another type of the same width."""
    return [np.ascontiguousarray(call.value(0)).view(call.results[0].dtype.numpy)]


OPERATORS = (
    Operator("Cast", _cast, view=True, elementwise=True, exact=True),
    Operator("CastLike", _cast, elementwise=True, exact=True),
    Operator("BitCast", _bit_cast, view=True),
)
