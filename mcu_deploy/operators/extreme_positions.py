"""Where the largest or the smallest element lies: ArgMax-13, ArgMin-13."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def searched_axis(call: Call) -> int:
    return int(call.attributes.get("axis", 0)) % call.type(0).rank


def _position(call: Call) -> list[Array]:
    """The first such element, or the last one where `select_last_index` is set; NaN before all."""
    x, axis = call.value(0), searched_axis(call)
    search = np.argmax if call.op == "ArgMax" else np.argmin
    if not call.attributes.get("select_last_index", 0):
        return [np.asarray(search(x, axis=axis))]
    return [np.asarray(x.shape[axis] - 1 - search(np.flip(x, axis), axis=axis))]


OPERATORS = (Operator("ArgMax", _position), Operator("ArgMin", _position))
