"""Operators that move elements and change none: Reshape, Transpose, Concat, Pad and their kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import FIRST, Call, Operator


def _reshape(call: Call) -> list[Array]:
    return [call.value(0).reshape(call.results[0].shape)]


def _transpose(call: Call) -> list[Array]:
    x = call.value(0)
    return [np.transpose(x, call.attributes.get("perm", tuple(reversed(range(x.ndim)))))]


def _concat(call: Call) -> list[Array]:
    parts = [v for v in call.values if v is not None]
    return [np.concatenate(parts, axis=int(call.attributes["axis"]))]


def pad_amounts(call: Call) -> tuple[tuple[int, int], ...]:
    """Pad-2 (attribute), Pad-11 (input), Pad-18 (axes): (before, after) for each axis."""
    rank = call.type(0).rank
    given = call.optional(1)
    flat = call.attributes.get("pads", ()) if given is None else given.reshape(-1)
    axes_value = call.optional(3)
    axes = range(rank) if axes_value is None else [int(a) % rank for a in axes_value.reshape(-1)]
    pads = [(0, 0)] * rank
    half = len(flat) // 2
    for index, axis in enumerate(axes):
        pads[axis] = (int(flat[index]), int(flat[index + half]))
    return tuple(pads)


def pad_value(call: Call) -> Array:
    """The constant that Pad writes, in the element type of the tensor."""
    given = call.optional(2)
    value = np.float32(call.attributes.get("value", 0.0)) if given is None else given
    return np.asarray(value, dtype=call.type(0).dtype.numpy)


PAD_MODES = ("edge", "reflect", "wrap")


def pad_positions(call: Call) -> tuple[Array, ...]:
    """Of the modes that repeat elements, which position is read for each of an axis."""
    mode = str(call.attributes["mode"])
    return tuple(
        _cropped(before, after, size, lambda at, grow: np.pad(at, grow, mode=mode))  # type: ignore[call-overload]
        for (before, after), size in zip(pad_amounts(call), call.type(0).shape, strict=True)
    )


def _cropped(before: int, after: int, size: int, pad: Callable[[Array, Any], Array]) -> Array:
    """Positions along an axis, from which negative amounts take away; the others are padded."""
    kept = np.arange(size)[max(0, -before) : size - max(0, -after)]
    return pad(kept, (max(0, before), max(0, after)))


def _pad(call: Call) -> list[Array]:
    x, y = call.value(0), call.results[0]
    if str(call.attributes.get("mode", "constant")) != "constant":
        return [x[np.ix_(*pad_positions(call))]]
    positions = [
        _cropped(before, after, size, lambda at, grow: np.pad(at, grow, constant_values=-1))
        for (before, after), size in zip(pad_amounts(call), x.shape, strict=True)
    ]
    inside = np.ones(y.shape, bool)
    for axis, at in enumerate(positions):
        inside &= (at >= 0).reshape((-1,) + (1,) * (y.rank - axis - 1))
    result = np.full(y.shape, pad_value(call).reshape(-1)[0], x.dtype)
    if x.size:
        result = np.where(inside, x[np.ix_(*(np.maximum(at, 0) for at in positions))], result)
    return [result]


OPERATORS = (
    *(
        Operator(name, _reshape, moves=FIRST, copies=True, view=True)
        for name in ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
    ),
    # mcu-deploy's own: another memory order of the same logical tensor.
    Operator("Reorder", lambda call: [call.value(0)], domain="mcu", moves=FIRST),
    Operator("Transpose", _transpose, moves=FIRST, view=True, copies=True),
    Operator("Concat", _concat, moves=slice(None), copies=True),
    Operator("Pad", _pad, moves=slice(0, 3, 2)),
)
