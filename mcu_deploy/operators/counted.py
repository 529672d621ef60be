"""NonZero-9, Compress-9, Unique-11, NonMaxSuppression-10: values say how many elements there are.

The results have room for the most that there can be: zeros lie behind the elements, and the last
result is how many there are. NaN equals itself and is larger than all numbers; no box with such a
score is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def _filled(call: Call, results: Sequence[Array], count: int) -> list[Array]:
    """The results in the shapes of their types, zeros behind their elements; and the count."""
    filled = []
    for result, type_ in zip(results, call.results, strict=False):
        whole = np.zeros(type_.shape, type_.dtype.numpy)
        whole[tuple(slice(extent) for extent in result.shape)] = result
        filled.append(whole)
    return [*filled, np.asarray(count, np.int64)]


def _non_zero(call: Call) -> list[Array]:
    places = np.stack(np.nonzero(call.value(0)))
    return _filled(call, [places], places.shape[1])


def _compress(call: Call) -> list[Array]:
    axis = call.attributes.get("axis")
    x = call.value(0) if axis is not None else call.value(0).reshape(-1)
    chosen = np.flatnonzero(call.value(1)[: x.shape[axis or 0]])
    return _filled(call, [np.take(x, chosen, axis or 0)], len(chosen))


def given(call: Call) -> tuple[int, ...]:
    """The places in ONNX of the outputs in front of the count."""
    return tuple(call.attributes.get("given", range(len(call.results) - 1)))


def _items(call: Call) -> tuple[Array, int]:
    """What Unique compares: [n, elements of each], and the axis along which they lie."""
    x, axis = call.value(0), call.attributes.get("axis")
    if axis is None:
        return x.reshape(-1, 1), 0
    axis %= x.ndim
    return np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1), axis


def _unique(call: Call) -> list[Array]:
    """Each value once, where it is first, of each element where its value is, how often it is."""
    x, axis = _items(call)
    order = np.lexsort(x.T[::-1])  # a stable order, with NaN behind all numbers
    y = x[order]
    same = (y[1:] == y[:-1]) | ((y[1:] != y[1:]) & (y[:-1] != y[:-1]))
    groups = np.cumsum(np.concatenate([[0], ~same.all(axis=1)]))
    found = np.empty(len(x), np.int64)
    found[order] = groups
    _, first, counts = np.unique(found, return_index=True, return_counts=True)
    if not call.attributes.get("sorted", 1):
        by_place = np.argsort(first)
        first, counts = first[by_place], counts[by_place]
        found = np.argsort(by_place)[found]
    whole = call.value(0) if call.attributes.get("axis") is not None else call.value(0).reshape(-1)
    results = (np.take(whole, first, axis), first, found, counts)
    return _filled(call, [results[place] for place in given(call)], len(first))


_HALF = np.float32(0.5)


def _corners(call: Call) -> Array:
    """[batches, boxes, 4]: the least and the largest coordinates of both axes."""
    boxes = call.value(0)
    if call.attributes.get("center_point_box", 0):
        middle, half = boxes[..., :2], boxes[..., 2:] * _HALF
        return np.concatenate([middle - half, middle + half], axis=-1)
    one, other = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(one, other), np.maximum(one, other)], axis=-1)


def _overlaps(box: Array, boxes: Array, threshold: np.float32) -> Array:
    """[n]: whether the intersection is more than so much of the union, in onnxruntime's steps."""
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    common = (high[:, 0] - low[:, 0]) * (high[:, 1] - low[:, 1])
    area = (box[2] - box[0]) * (box[3] - box[1])
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    union = area + areas - common
    meet = (high > low).all(axis=1) & (common > 0) & (area > 0) & (areas > 0) & (union > 0)
    result: Array = meet & (common / union > threshold)
    return result


def _non_max_suppression(call: Call) -> list[Array]:
    """[batch, class, box] of the best boxes of each class, none of which overlaps a better one."""

    def number(place: int, default: float) -> Array:
        given = call.optional(place)
        return np.asarray(default) if given is None else given.reshape(-1)[0]

    corners, scores = _corners(call), call.value(1)
    most, threshold = int(number(2, 0)), np.float32(number(3, 0))
    least = None if call.optional(4) is None else np.float32(number(4, 0))
    taken = []
    for batch, classes in enumerate(scores):
        for which, of_class in enumerate(classes):
            there = of_class == of_class if least is None else of_class > least
            for _ in range(min(most, int(there.sum()))):
                if not there.any():
                    break
                best = int(np.argmax(np.where(there, of_class, -np.inf)))
                if not there[best]:  # all that are left are as low as can be
                    best = int(np.argmax(there))
                taken.append((batch, which, best))
                there &= ~_overlaps(corners[batch, best], corners[batch], threshold)
                there[best] = False
    chosen = np.array(taken, np.int64).reshape(-1, 3)
    return _filled(call, [chosen], len(chosen))


OPERATORS = (
    Operator("NonZero", _non_zero),
    Operator("Compress", _compress),
    Operator("Unique", _unique),
    Operator("NonMaxSuppression", _non_max_suppression),
)
