"""TopK-1, -10 and -11: the largest or smallest elements along an axis, and where they lie."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def _top_k(call: Call) -> list[Array]:
    """In order, equal ones by their places; NaN counts as larger than all."""
    axis = call.axis(-1)
    count = call.results[0].shape[axis]
    x = np.moveaxis(call.value(0), axis, -1)
    if call.attributes.get("largest", 1):
        # Sorted from the end on, so that equal ones stay in order when all is turned round.
        order = x.shape[-1] - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    else:
        order = np.argsort(x, axis=-1, kind="stable")
    order = order[..., :count]
    values = np.take_along_axis(x, order, axis=-1)
    return [np.moveaxis(v, -1, axis) for v in (values, order)]


OPERATORS = (Operator("TopK", _top_k),)
