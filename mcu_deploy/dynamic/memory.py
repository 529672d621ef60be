"""Reading a backend's memory with suspicion: bounded counts, no NULL, valid text, known words.

What points nowhere crashes the worker, which the session reports; what can be told by looking at it
is declined with a reason. Runs in workers: the standard library, and cffi's compiled module.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from .wire import NONSENSE, Declined

MAX_ID = 64
MAX_TEXT = 4 << 20
MAX_COUNT = 1 << 16
MAX_BODIES = 16  # that lie in one another
MAX_BODY_NODES = 1 << 14
MAX_DATA = 128 << 20

# What the names of an enumeration begin with; in small letters the rest is the word for a value.
_PREFIXES = {
    "mcu_dtype_t": "MCU_",
    "mcu_attribute_kind_t": "MCU_ATTRIBUTE_",
    "mcu_layout_rule_t": "MCU_LAYOUT_",
    "mcu_role_t": "MCU_ROLE_",
}


def declared(tables: dict[str, str]) -> Any:
    """The FFI object of `declarations.tables`."""
    sys.path.append(tables["cffi"])
    names: dict[str, Any] = {}
    exec(tables["declarations"], names)
    return names["ffi"]


def nonsense(reason: str) -> Declined:
    """The exception for an answer that cannot be used."""
    return Declined(NONSENSE, reason)


def width(dtype: str) -> int:
    """The bytes of an element: 4 of "float32"."""
    return int(re.sub("[a-z]", "", dtype) or 8) // 8


class BackendMemory:
    """Memory of a backend, by the declarations in `ffi`. `what` is for the reasons."""

    def __init__(self, ffi: Any) -> None:
        self.ffi = ffi

    def text(self, at: Any, what: str, limit: int = MAX_TEXT) -> str:
        """The UTF-8 text at a pointer. Declines NULL, what is too long, and other encodings."""
        if not at:
            raise nonsense(f"{what} is NULL")
        found: bytes = self.ffi.string(at, limit + 1)
        if len(found) > limit:
            raise nonsense(f"{what} is longer than {limit} bytes")
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise nonsense(f"{what} is not UTF-8") from None

    def optional_text(self, at: Any, what: str) -> str:
        """The text at a pointer, "" for NULL."""
        return self.text(at, what) if at else ""

    def array(self, at: Any, count: int, what: str) -> list[Any]:
        """`count` elements. Declines counts beyond reason, and NULL unless it is 0."""
        if count > MAX_COUNT:
            raise nonsense(f"{count} {what}, {MAX_COUNT} at most")
        if count and not at:
            raise nonsense(f"{count} {what} at NULL")
        return list(at[0:count]) if count else []

    def data(self, at: Any, size: int, what: str) -> bytes:
        """A copy of `size` bytes."""
        if size > MAX_DATA:
            raise nonsense(f"{what} has {size} bytes, {MAX_DATA} at most")
        if size and not at:
            raise nonsense(f"{what} is NULL")
        return bytes(self.ffi.buffer(at, size)) if size else b""

    def word(self, enumeration: str, number: int, what: str) -> str:
        """The word for a value of an enumeration."""
        name = self.ffi.typeof(enumeration).elements.get(number)
        if name is None:
            raise nonsense(f"the {what} {number} does not exist")
        return str(name.removeprefix(_PREFIXES[enumeration]).lower())

    def number(self, enumeration: str, word: str) -> int:
        """The value of an enumeration that has this word."""
        return int(self.ffi.integer_const(_PREFIXES[enumeration] + word.upper()))
