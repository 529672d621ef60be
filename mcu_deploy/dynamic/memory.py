"""Reading a backend's memory with suspicion: bounded counts, no NULL, valid text.

What points nowhere crashes the worker, which the session reports; what can be told by looking at it
is declined with a reason. Runs in workers: the standard library only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from .wire import NONSENSE, Declined

MAX_ID = 64
MAX_TEXT = 4 << 20
MAX_COUNT = 1 << 16
MAX_BODIES = 16  # that lie in one another
MAX_BODY_NODES = 1 << 14
MAX_DATA = 128 << 20

_libc = ctypes.CDLL(None)
_libc.strnlen.restype = ctypes.c_size_t
_libc.strnlen.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def nonsense(reason: str) -> Declined:
    """The exception for an answer that cannot be used."""
    return Declined(NONSENSE, reason)


def text_at(address: int | None, what: str, limit: int = MAX_TEXT) -> str:
    """The UTF-8 text at an address. Declines NULL, what is too long, and other encodings."""
    if not address:
        raise nonsense(f"{what} is NULL")
    length = _libc.strnlen(address, limit + 1)
    if length > limit:
        raise nonsense(f"{what} is longer than {limit} bytes")
    try:
        return ctypes.string_at(address, length).decode()
    except UnicodeDecodeError:
        raise nonsense(f"{what} is not UTF-8") from None


def optional_text(address: int | None, what: str) -> str:
    """The text at an address, "" for NULL."""
    return text_at(address, what) if address else ""


def array_at(kind: type[Any], address: int | None, count: int, what: str) -> Sequence[Any]:
    """`count` elements of a ctypes type. Declines counts beyond reason, and NULL unless it is 0."""
    if count > MAX_COUNT:
        raise nonsense(f"{count} {what}, {MAX_COUNT} at most")
    if count == 0:
        return ()
    if not address:
        raise nonsense(f"{count} {what} at NULL")
    array: Sequence[Any] = (kind * count).from_address(address)
    return array


def texts_at(address: int | None, count: int, what: str) -> list[str]:
    """An array of texts."""
    return [
        text_at(p, f"one of the {what}") for p in array_at(ctypes.c_void_p, address, count, what)
    ]


def bytes_at(address: int | None, size: int, what: str) -> bytes:
    """A copy of `size` bytes."""
    if size > MAX_DATA:
        raise nonsense(f"{what} has {size} bytes, {MAX_DATA} at most")
    if size == 0:
        return b""
    if not address:
        raise nonsense(f"{what} is NULL")
    return ctypes.string_at(address, size)
