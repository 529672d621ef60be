"""Element types: what they are called, how they lie in memory, what computes for small ones.

C99 has no type for a float of fewer than 32 bits, nor for an integer of fewer than 8. Tensors of
such *narrow* types lie in memory as integers of as many bits, several in a byte where they are
smaller; each is computed in a type that C has and that holds all of its values (`DType.wide`).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import ml_dtypes  # also tells numpy the names of the types that it lacks
import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class FloatFormat:
    """How the bits of a narrow float are meant: sign, exponent, fraction, from the highest bit.

    fraction: the bits of the fraction; bias: of the exponent. largest, beyond, nan: the bits,
    without the sign, of the largest number, of what is beyond it (infinity, or where there is none,
    NaN, or the largest number), and of NaN. one_zero: there is no -0, whose bits are NaN's.

    Sources: IEEE 754-2008 (float16); ONNX, docs/docsgen/source/technical/float8.md and float4.md;
    float8_e8m0fnu, which is an exponent alone, is a power of two and has no row.
    """

    fraction: int
    bias: int
    largest: int
    beyond: int
    nan: int
    one_zero: bool = False


_FORMATS: Mapping[str, FloatFormat] = {
    "float16": FloatFormat(10, 15, 0x7BFF, 0x7C00, 0x7E00),
    "bfloat16": FloatFormat(7, 127, 0x7F7F, 0x7F80, 0x7FC0),
    "float8_e4m3fn": FloatFormat(3, 7, 0x7E, 0x7F, 0x7F),
    "float8_e4m3fnuz": FloatFormat(3, 8, 0x7F, 0x80, 0x80, one_zero=True),
    "float8_e5m2": FloatFormat(2, 15, 0x7B, 0x7C, 0x7E),
    "float8_e5m2fnuz": FloatFormat(2, 16, 0x7F, 0x80, 0x80, one_zero=True),
    "float4_e2m1fn": FloatFormat(1, 1, 0x7, 0x7, 0x8),
}
Buffer = bytes | bytearray | memoryview
# Of the types whose name is not their C type with "_t" behind it.
_C_TYPES = {"float32": "float", "float64": "double", "bool": "uint8_t"}
# DLPack's DLDataTypeCode, where that is neither a float's nor an integer's.
_DLPACK = {
    "bool": 6, "bfloat16": 4, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12,
    "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14, "float4_e2m1fn": 17,
}  # fmt: skip
_KINDS = {"int": 0, "uint": 1, "float": 2}


class DType(enum.Enum):
    """Element types, by numpy's names (those of the package ml_dtypes where numpy has none)."""

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
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT8_E4M3FN = "float8_e4m3fn"
    FLOAT8_E4M3FNUZ = "float8_e4m3fnuz"
    FLOAT8_E5M2 = "float8_e5m2"
    FLOAT8_E5M2FNUZ = "float8_e5m2fnuz"
    FLOAT8_E8M0FNU = "float8_e8m0fnu"
    FLOAT4_E2M1FN = "float4_e2m1fn"
    INT4 = "int4"
    UINT4 = "uint4"
    INT2 = "int2"
    UINT2 = "uint2"

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        """Of an array of such elements; one of 4 bits or fewer has a byte to itself there."""
        return np.dtype(self.value)

    @cached_property
    def bits(self) -> int:
        """Bits of one element in memory."""
        packed = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}
        return packed.get(self.value, 8 * int(self.numpy.itemsize))

    @property
    def is_packed(self) -> bool:
        """Whether several elements share a byte, the first in its lowest bits."""
        return self.bits < 8

    @property
    def bytes(self) -> int:
        """Bytes of one element; of a packed type, of the byte that it lies in."""
        return max(self.bits, 8) // 8

    @property
    def is_narrow(self) -> bool:
        """Whether C lacks the type, so that another one computes for it."""
        return self.wide is not self

    @property
    def wide(self) -> DType:
        """The type that computes for this one: itself, or one that holds all of its values."""
        if self.value in ("int2", "int4"):
            return DType.INT8
        if self.value in ("uint2", "uint4"):
            return DType.UINT8
        is_float = "float" in self.value and self.value not in ("float32", "float64")
        return DType.FLOAT32 if is_float else self

    @property
    def is_integer(self) -> bool:
        """Whether C has it, as an integer."""
        return self.value.startswith(("int", "uint")) and not self.is_packed

    @property
    def is_float(self) -> bool:
        """Whether C has it, as a float."""
        return self.value in ("float32", "float64")

    @property
    def format(self) -> FloatFormat:
        """The meaning of a narrow float's bits. Raises KeyError for other types."""
        return _FORMATS[self.value]

    @property
    def step(self) -> float:
        """Of a narrow float: from a number to the next one, as a share of it, at most."""
        return 1.0 if self is DType.FLOAT8_E8M0FNU else 2.0**-self.format.fraction

    @cached_property
    def memory(self) -> np.dtype[Any]:
        """What a tensor's bytes are an array of: the type itself, or an integer of as many bits."""
        return np.dtype(f"u{self.bytes}") if self.is_narrow else self.numpy

    @property
    def in_files(self) -> np.dtype[Any]:
        """What an array in an .npy or .npz file has: numpy's own types, else unsigned integers of
        as many bytes as an element has in numpy, with its bits."""
        is_numpys = not self.is_narrow or self is DType.FLOAT16
        return self.numpy if is_numpys else np.dtype(f"u{self.numpy.itemsize}")

    @property
    def c_type(self) -> str:
        """The C99 type of what a tensor's bytes are an array of."""
        return _C_TYPES.get(self.value, f"{self.memory.name}_t")

    @property
    def dlpack(self) -> int:
        """DLPack's code of the type, beside which stands the number of bits."""
        plain = _KINDS.get(self.value.rstrip("0123456789"), 0)
        return _DLPACK.get(self.value, plain)

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        return _range(self.value)

    @classmethod
    def of(cls, dtype: npt.DTypeLike) -> DType:
        """The DType of a numpy dtype. Raises ValueError for types that no device knows."""
        return cls(np.dtype(dtype).name)

    @classmethod
    def of_dlpack(cls, code: int, bits: int) -> DType | None:
        """The type of DLPack's code and a number of bits; None where there is none."""
        return next((d for d in cls if (d.dlpack, d.bits) == (code, bits)), None)

    def size(self, elements: int) -> int:
        """Bytes of so many elements; the last byte of packed ones may have unused bits."""
        return (elements * self.bits + 7) // 8

    def to_memory(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array in C order as an array of `memory`; of packed types one without axes."""
        if not self.is_narrow:
            return value
        bits = np.ascontiguousarray(value).view(self.memory)
        if not self.is_packed:
            return bits.reshape(value.shape)
        each = 8 // self.bits
        rows = np.zeros((-(-value.size // each), each), np.uint8)
        rows.reshape(-1)[: value.size] = bits.reshape(-1) & ((1 << self.bits) - 1)
        shifts = self.bits * np.arange(each, dtype=np.uint8)
        return np.asarray(np.bitwise_or.reduce(rows << shifts, axis=1))

    def from_memory(self, raw: Buffer, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """The array of a tensor's bytes in row-major order, read-only where nothing is unpacked."""
        if not self.is_packed:
            return np.frombuffer(raw, self.numpy).reshape(shape)
        shifts = self.bits * np.arange(8 // self.bits, dtype=np.uint8)
        bits = np.frombuffer(raw, np.uint8)[:, None] >> shifts & ((1 << self.bits) - 1)
        if self in (DType.INT4, DType.INT2):  # a byte of ml_dtypes' has the sign in all high bits
            sign = 1 << (self.bits - 1)
            bits = (bits ^ sign) - np.uint8(sign)
        return bits.astype(np.uint8).reshape(-1)[: math.prod(shape)].view(self.numpy).reshape(shape)


@cache
def _range(integer: str) -> tuple[int, int]:
    info = ml_dtypes.iinfo(integer)  # type: ignore[no-untyped-call]
    return int(info.min), int(info.max)
