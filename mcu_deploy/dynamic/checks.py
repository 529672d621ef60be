"""Reading what a worker answered: every value is looked at before it is used.

A worker's JSON may be anything, also where the worker means well and its backend has overwritten
its memory. Each function returns the value in its Python type, or raises Nonsense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.backends.c_rules import Nonsense, require
from mcu_deploy.errors import one_line
from mcu_deploy.ir import DType

# In the order of mcu_dtype_t.
DTYPES = (
    DType.BOOL, DType.INT8, DType.UINT8, DType.INT16, DType.UINT16, DType.INT32, DType.UINT32,
    DType.INT64, DType.UINT64, DType.FLOAT32, DType.FLOAT64,
)  # fmt: skip

Json = dict[str, Any]
Blobs = Sequence[bytes | bytearray | memoryview]

_UINT32 = 2**32 - 1
_LONGEST_TEXT = 4 << 20
_LONGEST_NAME = 64


def member(message: Any, key: str) -> Any:
    """A member of a JSON object."""
    if not isinstance(message, dict) or key not in message:
        raise Nonsense(f"{key} is missing")
    return message[key]


def integer(value: Any, what: str, low: int = 0, high: int = _UINT32) -> int:
    """An integer between two, both included."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Nonsense(f"{what} is {_shown(value)}, not a number from {low} to {high}")
    return value


def real(value: Any, what: str) -> float:
    """A number, an infinite one too."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Nonsense(f"{what} is {_shown(value)}, not a number")
    return float(value)


def text(value: Any, what: str, longest: int = _LONGEST_TEXT) -> str:
    """A text of bounded length, without zero bytes."""
    if not isinstance(value, str) or "\0" in value or len(value) > longest:
        raise Nonsense(f"{what} is no text of at most {longest} characters")
    return value


def line(value: Any, what: str) -> str:
    """A text for people, made one printable line."""
    return one_line(text(value, what))


def name(value: Any, what: str) -> str:
    """A short printable text that is not empty."""
    found = text(value, what)
    if not 0 < len(found) <= _LONGEST_NAME or not found.isprintable():
        raise Nonsense(f"{what} is {_shown(found)}, not 1 to {_LONGEST_NAME} printable characters")
    return found


def items(value: Any, what: str, most: int = 1 << 16) -> list[Any]:
    """A list."""
    if not isinstance(value, list) or len(value) > most:
        raise Nonsense(f"the {what} are no list of at most {most}")
    return value


def parts(value: Any, what: str, count: int) -> list[Any]:
    """A list of exactly so many."""
    found = items(value, f"parts of {what}")
    require(len(found) == count, f"{what} has {len(found)} parts, not {count}")
    return found


def integers(value: Any, what: str, low: int = 0, high: int = _UINT32) -> tuple[int, ...]:
    """A list of integers between two."""
    return tuple(integer(item, f"one of the {what}", low, high) for item in items(value, what))


def dtype(value: Any, what: str) -> DType:
    """An element type, by its number in mcu_dtype_t."""
    return DTYPES[integer(value, f"the element type of {what}", 0, len(DTYPES) - 1)]


def array(
    message: Any, kind: DType, shape: tuple[int, ...], blobs: Blobs, what: str
) -> npt.NDArray[Any]:
    """The elements in a blob, whose number is the object's "data"."""
    index = integer(member(message, "data"), f"the data of {what}", 0, len(blobs) - 1)
    data, expected = memoryview(blobs[index]).cast("B"), int(np.prod(shape, dtype=object))
    expected *= kind.bytes
    require(len(data) == expected, f"{what} has {len(data)} bytes of data, not {expected}")
    if kind is DType.BOOL:
        return np.asarray(np.frombuffer(data, np.uint8) != 0).reshape(shape)
    return np.asarray(np.frombuffer(data, kind.numpy)).reshape(shape)


def blob(value: npt.NDArray[Any]) -> memoryview:
    """The bytes of an array's elements, row-major."""
    return np.ascontiguousarray(value).reshape(-1).view(np.uint8).data


def _shown(value: Any) -> str:
    shown = one_line(repr(value))
    return shown if len(shown) <= 40 else f"{shown[:40]}..."
