"""How closely a kernel's output may follow its input: the distances behind `InPlace`.

A kernel is described by its steps, in the order in which they run. Each reads, then writes one
element, and says of each input the lowest element that it reads. The distance is then counted, not
estimated: tests/operators/test_overlap.py compares it with the memory accesses of the compiled
kernel.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import InPlace, Layer
from mcu_deploy.backends.kit.strides import Plane
from mcu_deploy.ir import DType

# The lowest element that is read by a step that reads none: behind the end of every tensor.
NOTHING = 1 << 34


def in_place(
    layer: Layer, *lowest: Array, written: Array | None = None, output: int = 0
) -> tuple[InPlace, ...]:
    """The facts of a kernel whose step k writes the element `written[k]` of an output.

    lowest: for each input, from the first on, the lowest element that step k reads before it
    writes; a further entry stands for what is read after the last step. Elements are counted in
    memory order. written: by default one element after the other.
    """
    y = layer.outputs[output].type
    ends = (np.arange(y.elements) if written is None else written) + 1
    facts: list[InPlace] = []
    for index, elements in enumerate(lowest):
        reading = layer.input(index).type.dtype.bytes
        facts += fact(layer, index, distance(ends * y.dtype.bytes, elements * reading), output)
    return tuple(facts)


def distance(ends: Array, lowest: Array) -> int:
    """The maximum over all writes of its end minus the lowest byte that is read thereafter.

    ends[k]: where the bytes end that step k writes; lowest[k]: the lowest byte that it reads before
    that. The last write of all has nothing to fear unless `lowest` has a further entry.
    """
    after = np.minimum.accumulate(lowest[::-1])[::-1][1:]
    return int(np.max(ends[: after.size] - after, initial=-NOTHING))


def fact(layer: Layer, index: int, demand: int, output: int = 0) -> tuple[InPlace, ...]:
    """A distance in bytes as a fact, or none where it would be of no use or not hold in C.

    It is cut off where it stops to mean anything: an output that may start as many bytes behind the
    input's start as the input has may lie anywhere, and one that must end before the input starts
    shares no byte with it.
    """
    x, y = layer.input(index), layer.outputs[output]
    if x.constant is not None or not x.type.elements or demand >= y.type.bytes:
        return ()
    if not _may_alias(x.type.dtype, y.type.dtype):
        return ()
    return (InPlace(index, output, max(demand, -x.type.bytes)),)


def _may_alias(x: DType, y: DType) -> bool:
    """Whether C lets pointers to both types point to the same bytes (C99, 6.5, paragraph 7).

    Bytes alias everything. Of any other two types gcc may assume that a store through one leaves
    alone what is read through the other, and read it again after the store.
    """
    return x is y or x.bytes == 1 or y.bytes == 1


def nested(*loops: Array) -> Array:
    """The elements that nested loops read, outermost first: the sums of one offset of each."""
    elements = np.zeros(1, np.int64)
    for offsets in loops:
        elements = (elements[:, None] + offsets).reshape(-1)
    return np.minimum(elements, NOTHING)


def strided(extents: tuple[int, ...], steps: tuple[int, ...]) -> Array:
    """The elements that nested loops read, each of them in even steps."""
    return nested(*(np.arange(e) * s for e, s in zip(extents, steps, strict=True)))


def window(batch: int, channels: int, plane: Plane, reads: Array) -> Array:
    """The lowest elements that a window reads as it slides over channel-last planes.

    reads: for each element of an output pixel the lowest channel that it reads.
    """
    return _planes(batch, channels, plane, [_first_inside(plane, axis) for axis in (0, 1)], reads)


def transposed_window(batch: int, channels: int, plane: Plane, reads: Array) -> Array:
    """The same of a kernel that gathers what a transposed window spreads.

    plane: its input and output are those of the operator; the window slides over the output.
    """
    return _planes(batch, channels, plane, [_first_reached(plane, axis) for axis in (0, 1)], reads)


def _planes(batch: int, channels: int, plane: Plane, first: list[Array], reads: Array) -> Array:
    height, width = plane.input
    row = width * channels
    return nested(np.arange(batch) * height * row, first[0] * row, first[1] * channels, reads)


def _first_inside(plane: Plane, axis: int) -> Array:
    """For each output position the first input position under a tap, or NOTHING."""
    taps = np.arange(plane.kernel[axis]) * plane.dilation[axis] - plane.pad[axis]
    at = np.arange(plane.output[axis])[:, None] * plane.stride[axis] + taps
    inside = (at >= 0) & (at < plane.input[axis])
    return np.asarray(np.where(inside, at, NOTHING).min(axis=1))


def _first_reached(plane: Plane, axis: int) -> Array:
    """For each output position the first input position that a tap carries there, or NOTHING."""
    taps = np.arange(plane.kernel[axis]) * plane.dilation[axis] - plane.pad[axis]
    up = np.arange(plane.output[axis])[:, None] - taps
    at = up // plane.stride[axis]
    reached = (up >= 0) & (at * plane.stride[axis] == up) & (at < plane.input[axis])
    return np.asarray(np.where(reached, at, NOTHING).min(axis=1))
