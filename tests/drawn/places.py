"""What is drawn of operators that move elements, pick some, or count them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from drawn.graph import Array, Drawing, NoFit
from drawn.numbers import BOOL, F16, F32, F64, I8, I16, I32, I64, U8
from onnx import numpy_helper

_MOVED = (F32, F32, F32, F32, I8, U8, I32, I64, BOOL, F16, F64, I16)
_PICKED = (F32, F32, I32, I64, U8, I8, BOOL)
_END = 2**63


def shaped(g: Drawing) -> None:
    """The same elements in another shape or order."""
    x = g.tensor(g.one(*_MOVED))
    shape = list(g.extents(x))
    op = g.one("Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze")
    if op == "Transpose":
        order = g.random.permutation(len(shape)).tolist()
        g.add(op, [x], **({"perm": order} if order and g.maybe(0.8) else {}))
    elif op == "Flatten":
        g.add(op, [x], axis=g.int(-len(shape), len(shape)))
    elif op == "Reshape":
        g.random.shuffle(shape)
        if len(shape) > 1 and g.maybe():
            shape = [shape[0] * shape[1], *shape[2:]]
        if shape and g.maybe(0.4):
            shape[g.int(0, len(shape) - 1)] = -1
        g.add(op, [x, g.constant(shape, I64)])
    elif op == "Squeeze":
        ones = [axis for axis, extent in enumerate(shape) if extent == 1]
        _with_axes(g, op, x, ones if g.maybe(0.7) else [])
    else:
        axes = g.axes(len(shape) + 1, 1) if g.maybe() else g.axes(len(shape) + 2, 2)
        _with_axes(g, op, x, axes[::-1] if g.maybe(0.2) else axes)


def _with_axes(g: Drawing, op: str, x: str, axes: list[int]) -> None:
    if not axes:
        g.add(op, [x])
    elif g.opset >= 13:
        g.add(op, [x, g.constant(axes, I64)])
    else:
        g.add(op, [x], axes=axes)


def joined(g: Drawing) -> None:
    dtype = g.one(*_MOVED)
    x = g.tensor(dtype)
    axis, parts = g.axis(x), [x]
    for _ in range(g.int(0, 2)):
        shape = list(g.extents(x))
        shape[axis] = g.int(1, 3)
        parts.append(g.new(g.filled(shape, dtype)))
    g.random.shuffle(parts)
    g.add("Concat", parts, axis=axis)


def split(g: Drawing) -> None:
    x = g.tensor(g.one(*_MOVED))
    axis = g.axis(x)
    extent = g.extents(x)[axis]
    if extent < 2:
        raise NoFit
    first = g.int(1, extent - 1)
    sizes = [first, extent - first]
    if g.opset >= 13:
        g.add("Split", [x, g.constant(sizes, I64)], 2, axis=axis)
    else:
        g.add("Split", [x], 2, axis=axis, split=sizes)


def sliced(g: Drawing) -> None:
    """Forwards and backwards, with bounds in the tensor and beyond."""
    x = g.tensor(g.one(*_MOVED))
    g.axis(x)
    shape = g.extents(x)
    axes = g.axes(len(shape))
    starts, ends, steps = [], [], []
    for axis in axes:
        n = shape[axis]
        if g.maybe(0.75):
            starts.append(g.int(-n - 1, n - 1))
            ends.append(g.one(g.int(-n, n + 1), _END - 1, n))
            steps.append(g.int(1, 2))
        else:
            starts.append(g.one(g.int(-n, n + 1), _END - 1))
            ends.append(g.one(-_END, g.int(-n - 2, n)))
            steps.append(-g.int(1, 2))
    if g.maybe(0.3):
        axes = [axis - len(shape) for axis in axes]
    g.add("Slice", [x, *(g.constant(each, I64) for each in (starts, ends, axes, steps))])


def padded(g: Drawing) -> None:
    dtype = g.one(*_MOVED)
    x = g.tensor(dtype)
    g.axis(x)
    shape = g.extents(x) * 2
    more = ("wrap",) if g.opset >= 19 else ()
    mode = g.one("constant", "constant", "reflect", "edge", *more)
    amounts = [g.int(0, 2 if mode == "constant" else min(2, n - 1)) for n in shape]
    if mode == "constant" and g.maybe(0.3):
        amounts = [
            amount if g.maybe(0.6) else -min(1, n - 1)
            for amount, n in zip(amounts, shape, strict=True)
        ]
    operands = [x, g.constant(amounts, I64)]
    if mode == "constant" and g.maybe():
        operands.append(g.constant(g.filled((), dtype), dtype))
    g.add("Pad", operands, mode=mode)


def repeated(g: Drawing) -> None:
    x = g.tensor(g.one(*_MOVED))
    shape = g.extents(x)
    if g.maybe():
        g.add("Tile", [x, g.constant([g.int(1, 3) for _ in shape], I64)])
        return
    wider = [g.int(2, 4) if n == 1 and g.maybe(0.7) else g.one(n, 1) for n in shape]
    g.add("Expand", [x, g.constant([2, *wider] if g.maybe(0.3) else wider, I64)])


def gathered(g: Drawing) -> None:
    x = g.tensor(g.one(*_MOVED))
    axis = g.axis(x)
    shape = g.extents(x)
    op = g.one("Gather", "GatherElements", "GatherND")
    if op == "Gather":
        at = _indices(g, shape[axis], g.shape(g.int(0, 2), 3))
        g.add(op, [x, g.new(at)], axis=axis)
    elif op == "GatherElements":
        several = [g.int(1, n) for n in shape]
        several[axis] = g.int(1, 4)
        g.add(op, [x, g.new(_indices(g, shape[axis], several))], axis=axis)
    else:
        batch = g.int(0, len(shape) - 1) if g.opset >= 12 else 0
        depth = g.int(1, len(shape) - batch)
        several = (*shape[:batch], *g.shape(g.int(0, 1), 3))
        parts = [g.random.integers(-n, n, several) for n in shape[batch : batch + depth]]
        at = np.stack(parts, -1).astype(I64).reshape(*several, depth)
        g.add(op, [x, g.new(at)], **({"batch_dims": batch} if g.opset >= 12 else {}))


def _indices(g: Drawing, extent: int, shape: Sequence[int]) -> Array:
    """Places along an axis, from its front or its end."""
    return g.random.integers(-extent, extent, shape).astype(g.one(I32, I64))


def scattered(g: Drawing) -> None:
    """To places of which none is named twice."""
    dtype = g.one(*_PICKED)
    x = g.tensor(dtype)
    axis = g.axis(x)
    shape = g.extents(x)
    attributes: dict[str, Any] = {}
    if g.opset >= 16 and dtype not in (BOOL, U8, I8) and g.maybe():
        more = ("max", "min") if g.opset >= 18 else ()
        attributes["reduction"] = g.one("add", "mul", *more)
    if g.maybe():
        several = [g.int(1, n) for n in shape]
        several[axis] = shape[axis]
        order = np.argsort(g.random.random(several), axis)
        at = np.take(order, range(g.int(1, shape[axis])), axis)
        operands = [x, g.new(at.astype(g.one(I32, I64))), g.new(g.filled(at.shape, dtype))]
        g.add("ScatterElements", operands, axis=axis, **attributes)
        return
    depth = g.int(1, len(shape))
    cells = np.array(list(np.ndindex(*shape[:depth])), I64)
    count = g.int(1, min(4, len(cells)))
    at = cells[g.random.choice(len(cells), count, replace=False)]
    operands = [x, g.new(at), g.new(g.filled((count, *shape[depth:]), dtype))]
    g.add("ScatterND", operands, **attributes)


def chosen(g: Drawing) -> None:
    dtype = g.one(*_PICKED)
    x = g.tensor(dtype)
    shape = g.extents(x)
    op = g.one("Where", "TopK", "Compress", "Trilu", "ReverseSequence")
    if op == "Where":
        condition = g.new(g.filled(g.broadcast(shape), BOOL))
        g.add(op, [condition, x, g.new(g.filled(g.broadcast(shape), dtype))])
    elif op == "Trilu":
        square = g.tensor(g.one(F32, I64), axes=g.int(2, 3))
        diagonal = [g.constant(g.int(-2, 2), I64)] if g.maybe(0.6) else []
        g.add(op, [square, *diagonal], upper=g.int(0, 1))
    elif op == "ReverseSequence":
        y, time = g.tensor(dtype, axes=g.int(2, 3)), g.int(0, 1)
        steps, batch = g.extents(y)[time], g.extents(y)[1 - time]
        lengths = g.new(g.random.integers(1, steps + 1, batch), I64)
        g.add(op, [y, lengths], time_axis=time, batch_axis=1 - time)
    else:
        axis = g.axis(x)
        if op == "TopK":
            g.without_ties(x, axis)
            count = g.constant([g.int(1, shape[axis])], I64)
            g.add(op, [x, count], 2, axis=axis, largest=g.int(0, 1))
        else:
            g.add(op, [x, g.constant(g.filled((shape[axis],), BOOL), BOOL)], axis=axis)


def made(g: Drawing) -> None:
    """Of a shape, or of constants."""
    op = g.one(
        "OneHot", "EyeLike", "NonZero", "Unique", "Range", "ConstantOfShape", "Shape", "Size"
    )
    if op in ("Shape", "Size"):
        g.add(op, [g.tensor(g.one(*_PICKED))])
    elif op == "OneHot":
        depth, dtype = g.int(2, 5), g.one(F32, I64)
        at = g.new(g.random.integers(-depth, depth, g.shape(g.int(0, 2), 3)), I64)
        both = g.constant(g.filled((2,), dtype), dtype)
        g.add(op, [at, g.constant(depth, I64), both], axis=g.int(-1, 0))
    elif op == "ConstantOfShape":
        value = numpy_helper.from_array(g.filled((1,), g.one(*_PICKED)))
        g.add(op, [g.constant(list(g.shape(2)), I64)], value=value)
    elif op == "Range":
        bounds = (g.int(0, 3), g.int(4, 9), g.int(1, 2))
        g.add(op, [g.constant(bound, I64) for bound in bounds])
    elif op == "EyeLike":
        g.add(op, [g.tensor(g.one(F32, I32), axes=2)], k=g.int(-1, 1))
    elif op == "NonZero":
        g.add(op, [g.constant(g.filled(g.shape(2), F32), F32)])
    else:
        dtype = g.one(F32, I64)
        g.add(op, [g.constant(g.filled((6,), dtype), dtype)], 4)


RULES: tuple[Callable[[Drawing], None], ...] = (
    *[shaped] * 2, joined, split, sliced, padded, repeated, gathered, scattered, chosen, made,
)  # fmt: skip
