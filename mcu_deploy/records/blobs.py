"""Arrays beside the JSON: their bytes, each once, in memory that nothing is copied from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir.dtypes import DType
from mcu_deploy.ir.graph import freeze
from mcu_deploy.records.form import integer
from mcu_deploy.schema import Clause, enumeration, listed

_DTYPE = enumeration(DType)
_NUMPY = {dtype: dtype.numpy for dtype in DType}


class Writer:
    """Gathers the bytes of arrays while a value is written; one array is written once."""

    def __init__(self) -> None:
        self.blobs: list[memoryview] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[npt.NDArray[Any]] = []

    def blob(self, value: npt.NDArray[Any]) -> int:
        """The number of an array's bytes in row-major order, little-endian."""
        if id(value) not in self._numbers:
            self._kept.append(value)  # so that its id stays its own
            self._numbers[id(value)] = len(self.blobs)
            self.blobs.append(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
        return self._numbers[id(value)]


class Reader:
    """The blobs that arrived with a value."""

    def __init__(self, blobs: Sequence[bytes | bytearray | memoryview] = ()) -> None:
        self._blobs = blobs

    def array(self, dtype: DType, shape: tuple[int, ...], number: int) -> npt.NDArray[Any]:
        """The array of a blob, read-only. Raises Misfit."""
        if not 0 <= number < len(self._blobs):
            raise Clause(f"an array has its bytes in blob {number} of {len(self._blobs)}")
        return array_of(memoryview(self._blobs[number]), dtype, shape)


def array_of(data: memoryview, dtype: DType, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The read-only array of these bytes. Raises Misfit where they are too many or too few."""
    size = math.prod(shape) * _NUMPY[dtype].itemsize
    if data.nbytes != size:
        raise Clause(f"an array has {data.nbytes:,} bytes, and its type and shape {size:,}")
    try:
        if dtype is DType.BOOL:  # a byte may hold more than 0 and 1
            return freeze((np.frombuffer(data, np.uint8) != 0).reshape(shape))
        return freeze(np.frombuffer(data, _NUMPY[dtype]).reshape(shape))
    except ValueError as error:  # more axes than numpy has, or extents below 0
        raise Clause(f"an array cannot have the shape {shape!r:.200} ({error})") from None


def encode_array(writer: Writer, value: npt.NDArray[Any]) -> list[Any]:
    """[element type, shape, number]"""
    return [DType.of(value.dtype).name.lower(), list(value.shape), writer.blob(value)]


def decode_array(reader: Reader, value: Any) -> npt.NDArray[Any]:
    """The array of [element type, shape, number]."""
    parts = listed(value)
    if len(parts) != 3:
        raise Clause(f"{value!r:.200} is not the type, shape and bytes of an array")
    shape = tuple(integer(reader, axis) for axis in listed(parts[1]))
    return reader.array(_DTYPE.decode(reader, parts[0]), shape, integer(reader, parts[2]))
