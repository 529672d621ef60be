"""What an edge carries: element type, shape, quantization and layout."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir.dtypes import Buffer, DType


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
        return self.dtype.size(self.elements)

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
        """A logical array in the order in which it lies in memory (physical shape, C order)."""
        return np.asarray(np.transpose(value, self.order), order="C")

    def from_memory(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The logical array of one that lies in memory in this type's layout."""
        inverse = tuple(int(axis) for axis in np.argsort(self.order))
        return np.transpose(value.reshape(self.physical_shape), inverse)

    def stored(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A logical array as what a C program holds of it: in memory order, narrow types as the
        integers that their bits are."""
        return self.dtype.to_memory(self.to_memory(value))

    def from_bytes(self, raw: Buffer) -> npt.NDArray[Any]:
        """The logical array of a tensor's bytes in this type's layout."""
        return self.from_memory(self.dtype.from_memory(raw, (self.elements,)))

    def __str__(self) -> str:
        text = f"{self.dtype.value}[{','.join(str(d) for d in self.shape)}]"
        if self.quantization is not None:
            text += " quantized per " + ("tensor" if self.quantization.per_tensor else "axis")
        return text


def channels_last(rank: int) -> tuple[int, ...]:
    """The channel-last memory order for a tensor (N, C, spatial...) of this rank, at least 2."""
    return (0, *range(2, rank), 1)
