"""Reductions over axes: ReduceMean, ReduceSum, ReduceMax and their kin (opsets 1, 11, 13, 18)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array, clip
from mcu_deploy.operators import integers
from mcu_deploy.operators.base import FIRST, Call, Operator


def reduced_axes(call: Call) -> tuple[int, ...]:
    """The axes that are reduced, ascending; from the input (opset 13 or 18 on) or the attribute."""
    rank = call.type(0).rank
    given = call.optional(1)
    axes = call.attributes.get("axes", ()) if given is None else given.reshape(-1)
    if len(axes) == 0:
        return () if call.attributes.get("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted({int(a) % rank for a in axes}))


def _rows(call: Call) -> Array:
    """One row for each result, its elements in index order."""
    x = call.value(0)
    axes = reduced_axes(call)
    kept = [a for a in range(x.ndim) if a not in axes]
    count = math.prod(x.shape[a] for a in axes)
    return np.transpose(x, [*kept, *axes]).reshape(math.prod(x.shape[a] for a in kept), count)


def _sum(rows: Array) -> Array:
    """One after another; numpy's own sum adds in pairs."""
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=rows.dtype)
    return np.asarray(np.add.accumulate(rows, axis=1, dtype=rows.dtype)[:, -1])


def _reduce(call: Call) -> list[Array]:
    rows = _rows(call)
    result = _function(call.op, rows)
    shaped = np.asarray(result, dtype=rows.dtype).reshape(call.results[0].shape)
    return [clip(shaped, call.activation) if shaped.dtype.kind == "f" else shaped]


def _function(op: str, rows: Array) -> Array:
    count = rows.shape[1]
    if op in ("ReduceMax", "ReduceMin"):
        if not count:
            return np.full(len(rows), _bound(rows.dtype, op == "ReduceMax"))
        return np.asarray(rows.max(axis=1) if op == "ReduceMax" else rows.min(axis=1))
    if op == "ReduceProd":
        return np.asarray(np.multiply.reduce(rows, axis=1, dtype=rows.dtype))
    if op == "ReduceMean":
        total, number = _sum(rows), rows.dtype.type(count)
        return integers.divide(total, number) if rows.dtype.kind in "iu" else total / number
    if op == "ReduceL1":
        return _sum(np.abs(rows))
    if op == "ReduceSumSquare":
        return _sum(rows * rows)
    if op == "ReduceL2":
        return np.asarray(np.sqrt(_sum(rows * rows).astype(np.float64)))
    if op == "ReduceLogSum":
        return np.asarray(np.log(_sum(rows).astype(np.float64)))
    if op == "ReduceLogSumExp":
        return _log_sum_exp(rows)
    return _sum(rows)


def _bound(dtype: np.dtype[Any], lowest: bool) -> Any:
    """The lowest or highest value of an element type: the maximum or minimum of nothing."""
    if dtype.kind == "b":
        return not lowest
    if dtype.kind == "f":
        return -np.inf if lowest else np.inf
    info = np.iinfo(dtype)
    return info.min if lowest else info.max


def _log_sum_exp(rows: Array) -> Array:
    """In float64, where the largest element is taken out, so that no exponential is too large."""
    wide = rows.astype(np.float64)
    largest = wide.max(axis=1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    result = np.log(np.exp(wide - shift).sum(axis=1)) + shift[:, 0]
    return np.asarray(result)


OPERATORS = (
    Operator("ReduceMean", _reduce, quantized="real", monotone=True),
    Operator("ReduceSum", _reduce, quantized="real", monotone=True),
    Operator("ReduceMax", _reduce, moves=FIRST),
    Operator("ReduceMin", _reduce, moves=FIRST),
    *(
        Operator(name, _reduce)
        for name in (
            "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
            "ReduceLogSumExp",
        )
    ),
)  # fmt: skip
