"""The shapes that operators give whose shape depends on values: Reshape-14, Flatten-13, Squeeze-13,
Unsqueeze-13, Expand-13, Tile-13, ConstantOfShape-9, Range-11, OneHot-11, Slice-13.

Shapes are static here. Where such a value is a constant, the model must declare what it gives;
where it is computed, a run checks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call
from mcu_deploy.operators.selection import slice_ranges

Shape = tuple[int, ...]


def given_shape(call: Call) -> Shape | None:
    """The shape that a call gives; None where the operator is none of these, or a value unknown.

    Raises ValueError, a clause, where its values give none.
    """
    rule = _SHAPES.get(call.op)
    if rule is None:
        return None
    read, function = rule
    pairs = zip(call.values[read], call.types[read], strict=True)
    if any(value is None and type_ is not None for value, type_ in pairs):
        return None
    return function(call)


def misfit(call: Call) -> str | None:
    """Why a call does not give the shape that the model declares; None where it does."""
    try:
        shape = given_shape(call)
    except ValueError as error:
        return str(error)
    declared = call.results[0].shape
    if shape is None or shape == declared:
        return None
    return f"it gives the shape {list(shape)}, and the model declares {list(declared)}"


def axis_set(given: Sequence[int] | Array, rank: int) -> list[int]:
    """Axes counted from the first, ascending. Raises ValueError for one that is not, or twice."""
    axes = [int(axis) for axis in given]
    if not all(-rank <= axis < rank for axis in axes):
        raise ValueError(f"it names the axes {axes} of {rank}")
    found = sorted({axis % rank for axis in axes})
    if len(found) != len(axes):
        raise ValueError(f"it names an axis twice: {axes}")
    return found


def _flatten(call: Call) -> Shape:
    shape, axis = call.type(0).shape, int(call.attributes.get("axis", 1))
    if not -len(shape) <= axis <= len(shape):
        raise ValueError(f"it has no axis {axis}")
    axis += len(shape) if axis < 0 else 0
    return math.prod(shape[:axis]), math.prod(shape[axis:])


def _reshape(call: Call) -> Shape:
    """0 takes the size of the input, unless zeros are allowed, and -1 what is left."""
    shape, wanted = call.type(0).shape, [int(size) for size in call.value(1).reshape(-1)]
    sizes = list(wanted)
    if not call.attributes.get("allowzero", 0):
        for axis, size in enumerate(sizes):
            if size == 0 and axis >= len(shape):
                raise ValueError(f"{wanted} copies the size of axis {axis} of {list(shape)}")
            sizes[axis] = shape[axis] if size == 0 else size
    if sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        raise ValueError(f"{wanted} is no shape")
    if -1 in sizes:
        known = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = math.prod(shape) // known if known else 0
    if math.prod(sizes) != math.prod(shape):
        raise ValueError(f"{list(shape)} cannot become {wanted}")
    return tuple(sizes)


def _axes(call: Call) -> list[int] | None:
    given = call.optional(1)
    axes = call.attributes.get("axes") if given is None else given.reshape(-1)
    return None if axes is None else [int(axis) for axis in axes]


def squeezed(shape: Shape, axes: Sequence[int] | None) -> Shape:
    """`shape` without these axes, which have the size 1; None: without all of size 1."""
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    removed = ones if axes is None else axis_set(axes, len(shape))
    if not set(removed) <= set(ones):
        raise ValueError(f"it removes the axes {removed} of {list(shape)}; one is longer than 1")
    return tuple(size for axis, size in enumerate(shape) if axis not in removed)


def unsqueezed(shape: Shape, axes: Sequence[int]) -> Shape:
    """`shape` with these axes of size 1, counted in the result."""
    rank = len(shape) + len(axes)
    added, sizes = axis_set(axes, rank), iter(shape)
    return tuple(1 if axis in added else next(sizes) for axis in range(rank))


def _expand(call: Call) -> Shape:
    wanted = tuple(int(size) for size in call.value(1).reshape(-1))
    try:
        return np.broadcast_shapes(call.type(0).shape, wanted)
    except ValueError:
        raise ValueError(
            f"{list(call.type(0).shape)} cannot be expanded to {list(wanted)}"
        ) from None


def _tile(call: Call) -> Shape:
    shape, counts = call.type(0).shape, call.value(1).reshape(-1)
    if len(shape) != len(counts):
        raise ValueError(f"it repeats {len(counts)} axes, and its input has {len(shape)}")
    return tuple(size * int(count) for size, count in zip(shape, counts, strict=True))


def _range(call: Call) -> Shape:
    start, limit, delta = (call.value(k).reshape(-1)[0] for k in range(3))
    if delta == 0:
        raise ValueError("its steps are 0")
    if start.dtype.kind in "iu":
        return (len(range(int(start), int(limit), int(delta))),)
    with np.errstate(all="ignore"):
        count = np.ceil(np.float64(limit - start) / np.float64(delta))
    if not np.isfinite(count):
        raise ValueError(f"it has no last element from {start} to {limit} by {delta}")
    return (max(0, int(count)),)


def _one_hot(call: Call) -> Shape:
    shape = list(call.type(0).shape)
    axis = int(call.attributes.get("axis", -1))
    if not -len(shape) - 1 <= axis <= len(shape):
        raise ValueError(f"it has no axis {axis}")
    shape.insert(axis % (len(shape) + 1), int(call.value(1).reshape(-1)[0]))
    return tuple(shape)


def _constant_of_shape(call: Call) -> Shape:
    return tuple(int(size) for size in call.value(0).reshape(-1))


_ALL, _BEHIND_DATA, _DEPTH = slice(0, None), slice(1, None), slice(1, 2)
# The inputs whose values matter, and the rule.
_SHAPES: Mapping[str, tuple[slice, Callable[[Call], Shape]]] = {
    "ConstantOfShape": (_ALL, _constant_of_shape),
    "Expand": (_BEHIND_DATA, _expand),
    "Flatten": (_BEHIND_DATA, _flatten),
    "OneHot": (_DEPTH, _one_hot),
    "Range": (_ALL, _range),
    "Reshape": (_BEHIND_DATA, _reshape),
    "Slice": (_BEHIND_DATA, lambda call: tuple(len(r) for r in slice_ranges(call))),
    "Squeeze": (_BEHIND_DATA, lambda call: squeezed(call.type(0).shape, _axes(call))),
    "Tile": (_BEHIND_DATA, _tile),
    "Unsqueeze": (_BEHIND_DATA, lambda call: unsqueezed(call.type(0).shape, _axes(call) or [])),
}
