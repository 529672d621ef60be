"""Operators on truth values and on bits: And-7, Not-1, Where-16, BitShift-11, BitwiseAnd-18."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator, of_two


def _not(call: Call) -> list[Array]:
    return [np.logical_not(call.value(0))]


def _where(call: Call) -> list[Array]:
    return [np.where(call.value(0), call.value(1), call.value(2))]


def _bit_shift(call: Call) -> list[Array]:
    """BitShift-28: a distance below 0, or of the type's width or more, shifts all bits out.

    A right shift of signed integers fills with the sign.
    """
    x, distance = np.broadcast_arrays(call.value(0), call.value(1))
    width = 8 * x.dtype.itemsize
    beyond = (distance < 0) | (distance >= width)
    inside = np.where(beyond, 0, distance).astype(x.dtype)
    if call.attributes.get("direction") == "LEFT":
        return [np.where(beyond, 0, np.left_shift(x, inside)).astype(x.dtype)]
    rest = np.where(x < 0, -1, 0) if x.dtype.kind == "i" else 0
    return [np.where(beyond, rest, np.right_shift(x, inside)).astype(x.dtype)]


OPERATORS = (
    of_two("And", np.logical_and),
    of_two("Or", np.logical_or),
    of_two("Xor", np.logical_xor),
    Operator("Not", _not),
    Operator("Where", _where, moves=slice(1, 3)),
    Operator("BitShift", _bit_shift),
    of_two("BitwiseAnd", np.bitwise_and),
    of_two("BitwiseOr", np.bitwise_or),
    of_two("BitwiseXor", np.bitwise_xor),
    Operator("BitwiseNot", lambda call: [np.invert(call.value(0))]),
)
