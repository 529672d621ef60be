"""Resize to the nearest element by blocks and lines.

What lies behind the innermost axis that is resized is a block, which is copied at once; and a line
of blocks that repeats the one before is copied from that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.CpuRef.kernels.base import compute, render
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Workload
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.loops import Counter, counters, plus, times
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import memory_strides
from mcu_deploy.operators.selection import nearest_positions

_LEAST = 4  # bytes of a block, below which one element is moved after the other


@dataclass(frozen=True)
class Lines:
    """places: of each axis up to the innermost resized one, in the order of memory, where its
    positions begin in the input, in elements. is_table: of each of these whether it is resized.
    block: elements behind them. is_repeated: of each position of the axis that lines are of,
    whether its line is that of the position before."""

    axes: tuple[int, ...]
    places: tuple[Array, ...]
    is_table: tuple[bool, ...]
    block: int
    is_repeated: Array

    @property
    def blocks(self) -> int:
        """In a line."""
        return len(self.places[-1])

    @property
    def count(self) -> int:
        """Of lines."""
        return math.prod(len(place) for place in self.places[:-1])

    @property
    def copied(self) -> int:
        """Of lines, from those before them."""
        return int(self.is_repeated.sum()) * math.prod(len(place) for place in self.places[:-2])


def lines_of(layer: Layer) -> Lines | None:
    """The lines of a Resize; None where neither blocks nor lines are worth it."""
    x, y = layer.input(0).type, layer.output.type
    positions, strides = nearest_positions(layer.call), memory_strides(x)
    resized = [list(positions[axis]) != list(range(x.shape[axis])) for axis in y.order]
    if not any(resized) or not y.elements:
        return None
    last = max(n for n, is_resized in enumerate(resized) if is_resized)
    axes = y.order[: last + 1]
    places = tuple(np.array(positions[a], np.int32) * np.int32(strides[a]) for a in axes)
    block = math.prod(y.shape[axis] for axis in y.order[last + 1 :])
    repeated = np.zeros(0, bool)
    if last and resized[last - 1]:
        repeated = np.append(False, places[-2][1:] == places[-2][:-1])
    if block * y.dtype.bytes < _LEAST and not repeated.any():
        return None
    return Lines(axes, places, tuple(resized[: last + 1]), block, repeated)


def lines(layer: Layer) -> Workload | None:
    """A line after the other; None where `lines_of` has none."""
    found = lines_of(layer)
    if found is None:
        return None
    x, y = layer.input(0).type, layer.output.type
    strides = memory_strides(x)
    names = counters("i", [len(place) for place in found.places])
    constants, terms = [], []
    for axis, name, places, is_table in zip(
        found.axes, names, found.places, found.is_table, strict=True
    ):
        if is_table:
            constants.append(Constant(f"axis{axis}", places))
            terms.append(f"axis{axis}[{plus(name)}]")
        else:
            terms.append(times(name, strides[axis]))
    is_repeated = bool(found.is_repeated.any())
    body = render(
        "resize_lines.c.j2", names=names, source=plus("x", *terms), block=found.block,
        line=found.block * found.blocks, size=y.dtype.bytes,
        element=f"x[{plus(*terms)}]",
        repeated=_repeated(names[-2], f"axis{found.axes[-2]}") if is_repeated else "",
    )  # fmt: skip
    return compute(
        layer, stem("resize", x.dtype.value, *sizes(y.physical_shape)), body, constants,
        headers=("string.h",), in_place=_in_place(layer, found),
    )  # fmt: skip


def _repeated(name: Counter, table: str) -> str:
    return f"{name} > 0 && {table}[{name}] == {table}[{name} - 1]"


def _in_place(layer: Layer, found: Lines) -> tuple[InPlace, ...]:
    """memcpy reads in any order, so a block must end before what it is copied from; an element of
    its own is read before it is written."""
    places = [place.astype(np.int64) for place in found.places]
    if found.is_repeated.any():
        places[-2] = np.where(found.is_repeated, overlap.NOTHING, places[-2])
    size = layer.output.type.dtype.bytes
    lowest = overlap.nested(*places)
    reads = np.where(lowest < overlap.NOTHING, lowest * size, lowest)
    ends = (np.arange(len(reads)) + 1) * found.block * size
    demand = overlap.distance(ends, reads)
    if found.block > 1:
        demand = max(demand, int((ends - reads).max()))
    return overlap.fact(layer, 0, demand)
