"""How a type is written and read, and the forms of what is no more than a number or a text."""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcu_deploy.errors import one_line

_MOST = 1 << 63


class Malformed(Exception):
    """What is wrong with a value that is read, or written: a clause."""


@dataclass(frozen=True)
class Form:
    """encode: (writer, value) to JSON; decode: (reader, JSON) to the value, or Malformed.

    decode_all: (reader, list) to a list, where that is faster than one by one.
    """

    encode: Callable[[Any, Any], Any]
    decode: Callable[[Any, Any], Any]
    decode_all: Callable[[Any, list[Any]], list[Any]] | None = None

    def all(self, reader: Any, values: list[Any]) -> list[Any]:
        """The values of a list."""
        if self.decode_all is not None:
            return self.decode_all(reader, values)
        decode = self.decode
        return [decode(reader, value) for value in values]


def shown(value: Any) -> str:
    """A value in a message."""
    text = one_line(repr(value) if not isinstance(value, str) else repr(value[:80]))
    return text if len(text) <= 40 else f"{text[:40]}..."


def listed(value: Any) -> list[Any]:
    """The value, a list."""
    if type(value) is not list:
        raise Malformed(f"{shown(value)} is no list")
    return value


def tabled(value: Any) -> dict[str, Any]:
    """The value, an object, whose keys are texts that can be written anywhere."""
    if type(value) is not dict:
        raise Malformed(f"{shown(value)} is no object")
    for key in value:
        if not key.isascii():
            text(None, key)
    return value


def integer(reader: Any, value: Any) -> int:
    """The value, an integer of 64 bits and a sign."""
    if type(value) is not int or not -_MOST <= value < _MOST:
        raise Malformed(f"{shown(value)} is no integer of 64 bits")
    return value


def _integers(reader: Any, values: list[Any]) -> list[int]:
    if values and not (
        set(map(type, values)) == {int} and min(values) >= -_MOST and max(values) < _MOST
    ):
        return [integer(reader, value) for value in values]
    return values


def text(reader: Any, value: Any) -> str:
    """The value, a text that UTF-8 can hold."""
    if type(value) is not str:
        raise Malformed(f"{shown(value)} is no text")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Malformed("a text in it is half of a character") from None
    return value


def _boolean(reader: Any, value: Any) -> bool:
    if type(value) is not bool:
        raise Malformed(f"{shown(value)} is neither true nor false")
    return value


def real(reader: Any, value: Any) -> float:
    """The value, a number, or one of those that JSON lacks."""
    if type(value) is float:
        return value
    if type(value) is dict and value.get("float") in ("inf", "-inf", "nan"):
        return float(value["float"])
    return float(integer(reader, value))


def encode_real(writer: Any, value: float) -> Any:
    """A number as JSON."""
    value = float(value)
    return value if math.isfinite(value) else {"float": repr(value)}


def _reals(reader: Any, values: list[Any]) -> list[float]:
    return values if set(map(type, values)) <= {float} else [real(reader, v) for v in values]


def _texts(reader: Any, values: list[Any]) -> list[str]:
    if set(map(type, values)) <= {str} and all(map(str.isascii, values)):
        return values
    return [text(reader, value) for value in values]


def _encode_integer(writer: Any, value: Any) -> int:
    try:
        return operator.index(value)  # numpy's too
    except TypeError:
        raise Malformed(f"{shown(value)} is no integer") from None


def _encode_text(writer: Any, value: Any) -> str:
    if not isinstance(value, str):
        raise Malformed(f"{shown(value)} is no text")
    return value


PLAIN = {
    int: Form(_encode_integer, integer, _integers),
    str: Form(_encode_text, text, _texts),
    bool: Form(lambda writer, value: bool(value), _boolean),
    float: Form(encode_real, real, _reals),
}


def enumeration(cls: type[enum.Enum]) -> Form:
    """A member as its name, in small letters."""
    members = {member.name.lower(): member for member in cls}
    names = {member: name for name, member in members.items()}

    def decode(reader: Any, value: Any) -> enum.Enum:
        found = members.get(value) if type(value) is str else None
        if found is None:
            raise Malformed(f"{shown(value)} is no {cls.__name__}")
        return found

    return Form(lambda writer, value: names[value], decode)
