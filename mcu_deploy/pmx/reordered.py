"""Constants that are another one with its axes in another order: of those the order is saved.

A kernel reads its weights in the order that suits it (OHWI, say), and the graph keeps them in
ONNX's (OIHW) for the interpreter. Together they would double every file.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.schema import Clause

_FEWEST_BYTES = 64  # below, the order takes as much space
_MOST_AXES = 5  # 120 orders to try


@dataclass(frozen=True)
class Reordered:
    """The elements, of `item` bytes, of constant `source`: as an array of this shape, transposed.

    order: which axis of `shape` each axis is.
    """

    source: int
    item: int
    shape: tuple[int, ...]
    order: tuple[int, ...]

    def elements(self, constants: Sequence[memoryview | Reordered]) -> npt.NDArray[Any]:
        """The elements, read-only, of a type without a meaning.

        Raises Misfit or ValueError where it is impossible.
        """
        data = constants[self.source]
        if isinstance(data, Reordered):
            raise Clause("a constant is a reordered one in another order")
        elements = np.frombuffer(data, np.dtype((np.void, self.item)))
        return elements.reshape(self.shape).transpose(self.order)


def reorders(arrays: Sequence[npt.NDArray[Any]]) -> Mapping[int, Reordered]:
    """Which of the arrays are a later one in another order, by number.

    The later one is saved as it is: workloads come after the graph, and are what a build reads.
    """
    alike: dict[tuple[np.dtype[Any], int, int], list[int]] = {}
    for number, array in enumerate(arrays):
        if array.nbytes >= _FEWEST_BYTES and array.dtype != np.bool_:
            elements = zlib.crc32(np.sort(array, axis=None).tobytes())
            alike.setdefault((array.dtype, array.nbytes, elements), []).append(number)
    found = {}
    for *others, last in alike.values():
        wanted = arrays[last].tobytes()
        for number in others:
            order = _order(arrays[number], wanted)
            if order is not None:
                shape = tuple(arrays[number].shape[axis] for axis in order)
                back = tuple(order.index(axis) for axis in range(len(order)))
                found[number] = Reordered(last, arrays[number].itemsize, shape, back)
    return found


def _order(array: npt.NDArray[Any], wanted: bytes) -> tuple[int, ...] | None:
    """The axes of an array in the order that gives these bytes."""
    if not 2 <= array.ndim <= _MOST_AXES:
        return None
    orders = itertools.permutations(range(array.ndim))
    return next((o for o in orders if array.transpose(o).tobytes() == wanted), None)
