"""Reductions over axes: ReduceMean, ReduceSum, ReduceMax, ReduceMin (opsets 1, 11, 13, 18)."""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.arithmetic import Array, clip
from mcu_deploy.operators.base import Call, Operator


def reduced_axes(call: Call) -> tuple[int, ...]:
    """The axes that are reduced, ascending; from the input (opset 13 or 18 on) or the attribute."""
    rank = call.type(0).rank
    given = call.optional(1)
    axes = call.attributes.get("axes", ()) if given is None else given.reshape(-1)
    if len(axes) == 0:
        return () if call.attributes.get("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted({int(a) % rank for a in axes}))


def _reduce(call: Call) -> list[Array]:
    x = call.value(0)
    axes = reduced_axes(call)
    # One row for each result, its elements in index order.
    order = [*(a for a in range(x.ndim) if a not in axes), *axes]
    count = math.prod(x.shape[a] for a in axes)
    rows = np.transpose(x, order).reshape(-1, count)
    if call.op == "ReduceMax":
        result = rows.max(axis=1)
    elif call.op == "ReduceMin":
        result = rows.min(axis=1)
    else:
        # accumulate adds one after another; numpy's sum adds in pairs.
        sums = np.add.accumulate(rows, axis=1, dtype=x.dtype)
        result = sums[:, -1] if count else np.zeros(len(rows), dtype=x.dtype)
        if call.op == "ReduceMean":
            result = result / x.dtype.type(count)
    shaped = np.asarray(result, dtype=x.dtype).reshape(call.results[0].shape)
    return [clip(shaped, call.activation) if shaped.dtype.kind == "f" else shaped]


OPERATORS = (
    Operator("ReduceMean", _reduce, quantized="real"),
    Operator("ReduceSum", _reduce, quantized="real"),
    Operator("ReduceMax", _reduce, quantized="same"),
    Operator("ReduceMin", _reduce, quantized="same"),
)
