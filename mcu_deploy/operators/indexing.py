"""Indices that are computed at run time: GatherElements-13, GatherND-13, ScatterElements-18,
ScatterND-18, Scatter-9.

An index counts from the end where it is negative. What is still outside then reads the nearest
element, and writes none: ONNX leaves both open, and memory beyond a tensor is never touched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import FIRST, Call, Operator

REDUCTIONS = {"none": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def counted(indices: Array, size: int | Array) -> Array:
    """Indices into an axis, negative ones counted from its end."""
    wide = indices.astype(np.int64)
    return np.asarray(np.where(wide < 0, wide + size, wide))


def nearest(indices: Array, size: int | Array) -> Array:
    """Indices into an axis of at least one element, moved to the nearest one that is inside."""
    return np.asarray(np.clip(counted(indices, size), 0, np.asarray(size) - 1))


def batch_dims(call: Call) -> int:
    """How many leading axes of GatherND's tensors belong together."""
    return int(call.attributes.get("batch_dims", 0))


def along_axis(call: Call) -> int:
    """How many positions there are along the axis."""
    return call.type(0).shape[call.axis()]


def _along_each(call: Call) -> int:
    """Of the axes that a position of GatherND or ScatterND counts along the shortest one's."""
    batch = batch_dims(call)
    return min(call.type(0).shape[batch : batch + call.type(1).shape[-1]])


def misfit(call: Call) -> str | None:
    """What does not fit in the shapes of one of these operators, as a clause; None: all does."""
    x, indices, y = call.type(0).shape, call.type(1).shape, call.results[0].shape
    if not x or not math.prod(x):
        return "it indexes a tensor without axes or elements"
    if call.op in ("GatherElements", "ScatterElements", "Scatter"):
        axis = call.axis()
        others = [a <= b for k, (a, b) in enumerate(zip(indices, x, strict=False)) if k != axis]
        fits = len(indices) == len(x) and all(others)
        fits &= y == indices if call.op == "GatherElements" else y == x
        fits &= call.op == "GatherElements" or call.type(2).shape == indices
    elif call.op == "GatherND":
        batch, depth = batch_dims(call), indices[-1] if indices else 0
        fits = 0 < depth <= len(x) - batch and indices[:batch] == x[:batch]
        fits &= batch < len(indices) and y == indices[:-1] + x[batch + depth :]
    else:
        depth = indices[-1] if indices else 0
        fits = 0 < depth <= len(x) and y == x
        fits &= call.type(2).shape == indices[:-1] + x[depth:]
    return None if fits else "its shapes do not fit together"


def _gather_elements(call: Call) -> list[Array]:
    x, axis = call.value(0), call.axis()
    at = list(np.indices(call.type(1).shape))
    at[axis] = nearest(call.value(1), x.shape[axis])
    return [x[tuple(at)]]


def _gather_nd(call: Call) -> list[Array]:
    x, indices, batch = call.value(0), call.value(1), batch_dims(call)
    depth = indices.shape[-1]
    at = nearest(indices, np.array(x.shape[batch : batch + depth]))
    leading = np.indices(indices.shape[:-1])[:batch]
    return [x[(*leading, *np.moveaxis(at, -1, 0))]]


def _scatter_elements(call: Call) -> list[Array]:
    x, axis = call.value(0), call.axis()
    at = list(np.indices(call.type(1).shape))
    at[axis] = counted(call.value(1), x.shape[axis])
    return [_scattered(call, at, call.value(2))]


def _scatter_nd(call: Call) -> list[Array]:
    x, indices = call.value(0), call.value(1)
    depth = indices.shape[-1]
    at = np.moveaxis(counted(indices, np.array(x.shape[:depth])), -1, 0)
    return [_scattered(call, list(at), call.value(2))]


def _scattered(call: Call, at: Sequence[Array], updates: Array) -> Array:
    """The tensor with updates at positions along its first axes, one after another."""
    x = call.value(0).copy()
    inside = np.ones(at[0].shape, bool)
    for position, size in zip(at, x.shape, strict=False):
        inside &= (position >= 0) & (position < size)
    place = tuple(position[inside] for position in at)
    reduce = REDUCTIONS[call.attributes.get("reduction", "none")]
    if reduce is None:
        x[place] = updates[inside]
    else:
        reduce.at(x, place, updates[inside])
    return x


OPERATORS = (
    Operator("GatherElements", _gather_elements, moves=FIRST, copies=True, positions=along_axis),
    Operator("GatherND", _gather_nd, moves=FIRST, copies=True, positions=_along_each),
    Operator("ScatterElements", _scatter_elements, positions=along_axis),
    Operator("Scatter", _scatter_elements, positions=along_axis),
    Operator("ScatterND", _scatter_nd, positions=_along_each),
)
