"""Copies that read, along each axis, the positions of a list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.CpuRef.kernels.base import compute, render
from mcu_deploy.backends.interface import Constant, Layer, Operand, Workload
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.loops import counters, plus, times
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import memory_strides


def picked(x: Operand, y: Operand, positions: Sequence[Sequence[int]]) -> Array:
    """The elements of `x` that loops over `y` in memory order read, by their positions."""
    strides = memory_strides(x.type)
    return overlap.nested(*(np.array(positions[a], np.int64) * strides[a] for a in y.type.order))


def positioned(layer: Layer, word: str, positions: Sequence[Sequence[int]]) -> Workload:
    """Axes that keep their size run straight; the others go through a table of offsets."""
    x, y = layer.input(0), layer.output
    strides = memory_strides(x.type)
    terms: list[str] = []
    constants: list[Constant] = []
    extents = y.type.physical_shape
    for axis, at in zip(y.type.order, counters("i", extents), strict=True):
        if list(positions[axis]) == list(range(y.type.shape[axis])):
            terms.append(times(at, strides[axis]))
            continue
        table = np.array(positions[axis], np.int32) * np.int32(strides[axis])
        name = f"axis{axis}"
        terms.append(f"{name}[{plus(at)}]")
        constants.append(Constant(name, table))
    return compute(
        layer, stem(word, x.type.dtype.value, *sizes(extents)),
        render("copy.c.j2", extents=extents, source=f"x[{plus(*terms)}]"), constants,
        in_place=overlap.in_place(layer, picked(x, y, positions)),
    )  # fmt: skip
