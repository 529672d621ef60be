"""What an edge carries: element type, shape, quantization and layout."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt


class DType(enum.Enum):
    """Element types, by numpy's names."""

    BOOL = "bool"
    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype(self.value)

    @property
    def bytes(self) -> int:
        """Bytes of one element."""
        return int(self.numpy.itemsize)

    @property
    def is_integer(self) -> bool:
        return self.value.startswith(("int", "uint"))

    @property
    def is_float(self) -> bool:
        return self.value.startswith("float")

    @property
    def c_type(self) -> str:
        """The C99 type of one element."""
        names = {"float32": "float", "float64": "double", "bool": "uint8_t"}
        return names.get(self.value, f"{self.value}_t")

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        return _range(self.value)

    @classmethod
    def of(cls, dtype: npt.DTypeLike) -> DType:
        """The DType of a numpy dtype. Raises ValueError for types that no device knows."""
        return cls(np.dtype(dtype).name)


@cache
def _range(integer: str) -> tuple[int, int]:
    info = np.iinfo(integer)
    return int(info.min), int(info.max)


@dataclass(frozen=True)
class Quantization:
    """real = scale * (q - zero_point), per tensor (axis None) or per slice along `axis`.

    `scale` holds float32 values; it has as many elements as `zero_point`: one, or the size of
    the axis.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int | None = None

    @classmethod
    def from_arrays(
        cls, scale: npt.ArrayLike, zero_point: npt.ArrayLike, axis: int | None
    ) -> Quantization:
        scales = np.asarray(scale, dtype=np.float32).reshape(-1)
        points = np.asarray(zero_point).reshape(-1)
        if len(points) == 1 and len(scales) > 1:
            points = np.repeat(points, len(scales))
        return cls(
            tuple(float(s) for s in scales),
            tuple(int(z) for z in points),
            axis if len(scales) > 1 else None,
        )

    @property
    def per_tensor(self) -> bool:
        return self.axis is None

    @cached_property
    def scales(self) -> npt.NDArray[np.float32]:
        return np.array(self.scale, dtype=np.float32)

    @cached_property
    def zero_points(self) -> npt.NDArray[np.int32]:
        return np.array(self.zero_point, dtype=np.int32)

    def broadcast(self, rank: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Scale and zero point, shaped to broadcast against a tensor of this rank."""
        if self.axis is None:
            return self.scales.reshape(()), self.zero_points.reshape(())
        shape = [1] * rank
        shape[self.axis] = len(self.scale)
        return self.scales.reshape(shape), self.zero_points.reshape(shape)


@dataclass(frozen=True)
class TensorType:
    """The type of an edge.

    `shape` is always the logical shape, in ONNX's order of axes. `layout` is the order in which the
    axes lie in memory, outermost first: None is the natural order, (0, 2, 3, 1) is channel-last.
    """

    dtype: DType
    shape: tuple[int, ...]
    quantization: Quantization | None = None
    layout: tuple[int, ...] | None = None

    @property
    def scaling(self) -> Quantization:
        """The quantization of a tensor that has one."""
        assert self.quantization is not None, f"{self} has no scale"
        return self.quantization

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * self.dtype.bytes

    @property
    def is_quantized(self) -> bool:
        return self.quantization is not None and self.dtype.is_integer

    @property
    def order(self) -> tuple[int, ...]:
        """The axes in memory order, outermost first."""
        return self.layout if self.layout is not None else tuple(range(self.rank))

    @property
    def physical_shape(self) -> tuple[int, ...]:
        """The shape in memory order."""
        return tuple(self.shape[axis] for axis in self.order)

    def memory_axes(self) -> tuple[int, ...]:
        """The axes in memory order without those of size 1, which have no place in memory."""
        return tuple(axis for axis in self.order if self.shape[axis] != 1)

    def same_memory(self, other: TensorType) -> bool:
        """Whether a tensor of equal shape has the same bytes in both layouts."""
        return self.shape == other.shape and self.memory_axes() == other.memory_axes()

    def to_memory(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A logical array as it lies in memory (physical shape, C order)."""
        return np.asarray(np.transpose(value, self.order), order="C")

    def from_memory(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The logical array of one that lies in memory in this type's layout."""
        inverse = tuple(int(axis) for axis in np.argsort(self.order))
        return np.transpose(value.reshape(self.physical_shape), inverse)

    def __str__(self) -> str:
        text = f"{self.dtype.value}[{','.join(str(d) for d in self.shape)}]"
        if self.quantization is not None:
            text += " quantized per " + ("tensor" if self.quantization.per_tensor else "axis")
        return text


def channels_last(rank: int) -> tuple[int, ...]:
    """The channel-last memory order for a tensor (N, C, spatial...) of this rank, at least 2."""
    return (0, *range(2, rank), 1)
