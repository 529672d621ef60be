"""Constants of a .tflite file that are stored sparsely, as the dense ones that they stand for.

The elements lie in the order of nested loops, the levels. The first levels are the tensor's axes
in some order, the rest the axes of blocks into which some of these are divided. A level that is
dense runs over all of its places; one in the format CSR over those that `array_indices` names
between two of its `array_segments`, which the place in the levels around it chooses
(SparsityParameters of the schema; kernels/internal/utils/sparsity_format_converter.cc).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tflite

from mcu_deploy.arithmetic import Array

_VECTORS = {
    tflite.SparseIndexVector.Int32Vector: tflite.Int32Vector,
    tflite.SparseIndexVector.Uint16Vector: tflite.Uint16Vector,
    tflite.SparseIndexVector.Uint8Vector: tflite.Uint8Vector,
}
Numbers = Callable[[Any], list[int]]


def dense(table: Any, numbers: Numbers, stored: Array, shape: Sequence[int]) -> Array:
    """The elements of a tensor that has these stored ones, of its shape, with 0 elsewhere.

    numbers: reads a vector of the file. Raises ValueError or LookupError where the levels do not
    fit the shape or the elements.
    """
    order, blocks = numbers(table.TraversalOrderAsNumpy()), numbers(table.BlockMapAsNumpy())
    levels, rank = [table.DimMetadata(k) for k in range(table.DimMetadataLength())], len(shape)
    if sorted(order) != list(range(rank + len(blocks))) or len(levels) != len(order):
        raise ValueError("a sparse tensor has levels that are not its axes and blocks")
    if not all(axis >= rank for axis in order[rank:]):
        raise ValueError("a sparse tensor has blocks around its axes")
    at = np.zeros((1, 0), np.int64)
    chosen = np.zeros(1, np.int64)
    for level in levels:
        at, chosen = _within(level, numbers, at, chosen, math.prod(shape))
    if len(at) != len(stored):
        raise ValueError("a sparse tensor has other places than elements")
    places = np.zeros((rank, len(at)), np.int64)
    for column, axis in enumerate(order):
        if axis < rank:
            places[axis] = at[:, column]
        else:
            places[blocks[axis - rank]] *= levels[column].DenseSize()
            places[blocks[axis - rank]] += at[:, column]
    if places.size and places.min() < 0:
        raise ValueError("a sparse tensor has places before its beginning")
    found = np.zeros(tuple(shape), stored.dtype)
    found[tuple(places)] = stored
    return found


def _within(
    level: Any, numbers: Numbers, at: Array, chosen: Array, most: int
) -> tuple[Array, Array]:
    """The places of all levels down to one, a row each, and what the next one chooses by. most: how
    many there can be."""
    if level.Format() == tflite.DimensionType.DENSE:
        size = level.DenseSize()
        counts, firsts = np.full(len(at), size), chosen * size
    else:
        segments = _vector(level.ArraySegmentsType(), level.ArraySegments(), numbers)
        firsts = segments[chosen]
        counts = segments[chosen + 1] - firsts
    if (counts < 0).any() or counts.sum() > most:
        raise ValueError("a sparse tensor has other places than elements")
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    following = np.repeat(firsts, counts) + within
    if level.Format() != tflite.DimensionType.DENSE:
        within = _vector(level.ArrayIndicesType(), level.ArrayIndices(), numbers)[following]
    return np.column_stack([np.repeat(at, counts, axis=0), within]), following


def _vector(kind: int, table: Any, numbers: Numbers) -> Array:
    vector = _VECTORS[kind]()
    vector.Init(table.Bytes, table.Pos)
    return np.array(numbers(vector.ValuesAsNumpy()), np.int64)
