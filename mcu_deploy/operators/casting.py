"""Changes of the element type: Cast-25, CastLike-25, BitCast-26 and older."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array, narrow
from mcu_deploy.ir import DType
from mcu_deploy.operators import integers
from mcu_deploy.operators.base import Call, Operator


def _cast(call: Call) -> list[Array]:
    x, target = call.value(0), call.results[0].dtype
    source = DType.of(x.dtype)
    if target is source:
        return [x]
    if source.is_narrow:
        x = narrow.widened(x, source)
    if target is DType.BOOL:
        return [x != 0]
    if target.is_narrow:
        return [_narrowed(call, x, target)]
    if target.is_integer and x.dtype.kind == "f":
        return [integers.from_real(x, target.numpy)]
    return [x.astype(target.numpy)]


def _narrowed(call: Call, x: Array, target: DType) -> Array:
    """A narrow type of one that C has."""
    if target.wide is DType.FLOAT32:
        saturate = bool(call.attributes.get("saturate", 1))
        mode = str(call.attributes.get("round_mode", "up"))
        return narrow.rounded(x.astype(np.float32), target, saturate, mode)
    if x.dtype.kind == "f":
        x = integers.from_real(x, np.dtype(np.int32))
    return x.astype(np.int64).astype(target.numpy)


def _bit_cast(call: Call) -> list[Array]:
    """BitCast-26: the same bytes as another type of the same width."""
    return [np.ascontiguousarray(call.value(0)).view(call.results[0].dtype.numpy)]


OPERATORS = (
    Operator("Cast", _cast, view=True, elementwise=True, exact=True),
    Operator("CastLike", _cast, elementwise=True, exact=True),
    Operator("BitCast", _bit_cast, copies=True, view=True),
)
