"""Along one axis: running sums and products, CumSum-14 and CumProd-26; where the largest or the
smallest element lies, ArgMax-13 and ArgMin-13."""

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


def _position(call: Call) -> list[Array]:
    """The first such element, or the last one where `select_last_index` is set; NaN before all."""
    x, axis = call.value(0), call.axis()
    search = np.argmax if call.op == "ArgMax" else np.argmin
    if not call.attributes.get("select_last_index", 0):
        return [np.asarray(search(x, axis=axis))]
    return [np.asarray(x.shape[axis] - 1 - search(np.flip(x, axis), axis=axis))]


OPERATORS = (
    Operator("CumSum", _running),
    Operator("CumProd", _running),
    Operator("ArgMax", _position),
    Operator("ArgMin", _position),
)
