"""Running sums and products along an axis: CumSum-14, CumProd-26."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def running_axis(call: Call) -> int:
    return int(call.value(1).reshape(-1)[0]) % call.type(0).rank


def _running(call: Call) -> list[Array]:
    """One element after another, in the element type; from the end where `reverse` is set."""
    axis, add = running_axis(call), call.op == "CumSum"
    x = np.moveaxis(call.value(0), axis, 0)
    x = x[::-1] if call.attributes.get("reverse", 0) else x
    result = (np.add if add else np.multiply).accumulate(x, axis=0, dtype=x.dtype)
    if call.attributes.get("exclusive", 0) and len(x):
        result = np.concatenate([np.full_like(x[:1], 0 if add else 1), result[:-1]])
    result = result[::-1] if call.attributes.get("reverse", 0) else result
    return [np.moveaxis(result, 0, axis)]


OPERATORS = (Operator("CumSum", _running), Operator("CumProd", _running))
