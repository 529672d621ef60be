"""Operators that move elements and change none: Reshape, Transpose, Concat, Pad and their kin."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import FIRST, Call, Operator


def viewed_shape(call: Call) -> tuple[int, ...]:
    """The shape that Reshape, Flatten, Squeeze or Unsqueeze gives, which must be known.

    Raises ValueError, a clause, where there is none.
    """
    shape, given = call.type(0).shape, call.optional(1)
    if call.op == "Flatten":
        axis = _axis(int(call.attributes.get("axis", 1)), len(shape) + 1, len(shape))
        return math.prod(shape[:axis]), math.prod(shape[axis:])
    if call.op == "Reshape":
        wanted = call.attributes.get("shape", ()) if given is None else given.reshape(-1)
        return reshaped(shape, wanted, bool(call.attributes.get("allowzero", 0)))
    named = call.attributes.get("axes") if given is None else given.reshape(-1)
    if call.op == "Squeeze":
        ones = [axis for axis, size in enumerate(shape) if size == 1]
        axes = ones if named is None else [_axis(int(a), len(shape), len(shape)) for a in named]
        if any(shape[axis] != 1 for axis in axes):
            raise ValueError(f"it removes axes of {list(shape)} that are longer than 1")
        return tuple(size for axis, size in enumerate(shape) if axis not in axes)
    rank = len(shape) + len(() if named is None else named)
    axes = [_axis(int(a), rank, rank) for a in (() if named is None else named)]
    if len(set(axes)) != len(axes):
        raise ValueError(f"it adds an axis twice: {axes}")
    sizes = iter(shape)
    return tuple(1 if axis in axes else next(sizes) for axis in range(rank))


def _axis(axis: int, beyond: int, rank: int) -> int:
    """An axis counted from the first; those below 0 count back from `rank`."""
    found = axis + rank if axis < 0 else axis
    if not 0 <= found < beyond:
        raise ValueError(f"it has no axis {axis}")
    return found


def reshaped(
    shape: Sequence[int], wanted: Sequence[int] | Array, allow_zero: bool
) -> tuple[int, ...]:
    """Reshape-14: 0 takes the size of the input (unless zeros are allowed), -1 what is left.

    Raises ValueError, a clause, where the elements do not fit.
    """
    sizes = [int(size) for size in wanted]
    for axis, size in enumerate(sizes):
        if size == 0 and not allow_zero:
            if axis >= len(shape):
                raise ValueError(f"it copies the size of axis {axis}, which its input lacks")
            sizes[axis] = shape[axis]
    if sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        raise ValueError(f"{[int(s) for s in wanted]} is no shape")
    total = math.prod(shape)
    if -1 in sizes:
        known = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = total // known if known else 0
    if math.prod(sizes) != total:
        raise ValueError(f"{list(shape)} cannot become {[int(s) for s in wanted]}")
    return tuple(sizes)


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


def _pad(call: Call) -> list[Array]:
    mode = str(call.attributes.get("mode", "constant"))
    pads = pad_amounts(call)
    x = call.value(0)
    # Negative amounts crop.
    crop = tuple(
        slice(max(0, -before), size - max(0, -after))
        for (before, after), size in zip(pads, x.shape, strict=True)
    )
    grow = [(max(0, before), max(0, after)) for before, after in pads]
    if mode == "edge":
        return [np.pad(x[crop], grow, mode="edge")]
    if mode == "reflect":
        return [np.pad(x[crop], grow, mode="reflect")]
    if mode == "wrap":
        return [np.pad(x[crop], grow, mode="wrap")]
    return [np.pad(x[crop], grow, constant_values=pad_value(call).reshape(-1)[0])]


OPERATORS = (
    *(Operator(n, _reshape, moves=FIRST) for n in ("Reshape", "Flatten", "Squeeze", "Unsqueeze")),
    # mcu-deploy's own: another memory order of the same logical tensor.
    Operator("Reorder", lambda call: [call.value(0)], domain="mcu", moves=FIRST),
    Operator("Transpose", _transpose, moves=FIRST),
    Operator("Concat", _concat, moves=slice(None)),
    Operator("Pad", _pad, moves=slice(0, 3, 2)),
)
