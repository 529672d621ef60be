"""Tensors made of little: Expand-13, Tile-13, ConstantOfShape-9, Range-11, OneHot-11, EyeLike-9,
and Trilu-14, which leaves a triangle of one.

Their outputs' shapes are static, so what a shape is computed from need not be known.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import FIRST, Call, Operator


def _expand(call: Call) -> list[Array]:
    return [np.broadcast_to(call.value(0), call.results[0].shape)]


def repeats(call: Call) -> tuple[int, ...]:
    """How often Tile repeats its input along each axis."""
    x, y = call.type(0).shape, call.results[0].shape
    return tuple(new // old if old else 1 for old, new in zip(x, y, strict=True))


def _tile(call: Call) -> list[Array]:
    return [np.tile(call.value(0), repeats(call))]


def fill_value(call: Call) -> Array:
    """What ConstantOfShape fills its output with: one number of the output's type."""
    value = np.asarray(call.attributes.get("value", np.float32(0)))
    return np.asarray(value.reshape(-1)[0], call.results[0].dtype.numpy)


def _constant_of_shape(call: Call) -> list[Array]:
    return [np.full(call.results[0].shape, fill_value(call))]


def _range(call: Call) -> list[Array]:
    """start + k * delta, in the element type."""
    start, delta = call.value(0).reshape(()), call.value(2).reshape(())
    steps = np.arange(call.results[0].elements).astype(start.dtype)
    with np.errstate(all="ignore"):
        return [np.asarray(start + steps * delta)]


def one_hot_axis(call: Call) -> int:
    """The axis of OneHot's output that is not one of its indices'."""
    return int(call.attributes.get("axis", -1)) % call.results[0].rank


def _one_hot(call: Call) -> list[Array]:
    """Negative indices count from the end; those that are outside then have nothing but `off`."""
    axis = one_hot_axis(call)
    depth = call.results[0].shape[axis]
    indices = np.expand_dims(call.value(0).astype(np.int64), axis)
    indices = np.where(indices < 0, indices + depth, indices)
    shape = [1] * call.results[0].rank
    shape[axis] = depth
    off, on = call.value(2)
    return [np.where(indices == np.arange(depth).reshape(shape), on, off)]


def _eye_like(call: Call) -> list[Array]:
    rows, columns = call.results[0].shape
    eye = np.eye(rows, columns, int(call.attributes.get("k", 0)))
    return [eye.astype(call.results[0].dtype.numpy)]


def _trilu(call: Call) -> list[Array]:
    x, given = call.value(0), call.optional(1)
    k = 0 if given is None else int(given.reshape(-1)[0])
    rows, columns = np.indices(x.shape[-2:])
    upper = bool(call.attributes.get("upper", 1))
    distance = columns - rows
    return [np.where(distance >= k if upper else distance <= k, x, x.dtype.type(0))]


OPERATORS = (
    Operator("Expand", _expand, moves=FIRST, copies=True),
    Operator("Tile", _tile, moves=FIRST, copies=True),
    Operator("ConstantOfShape", _constant_of_shape),
    Operator("Range", _range),
    Operator("OneHot", _one_hot),
    Operator("EyeLike", _eye_like),
    Operator("Trilu", _trilu),
)
