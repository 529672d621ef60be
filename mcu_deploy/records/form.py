"""Numbers and texts in what programs write for programs: of 64 bits, and any that JSON can hold."""

from __future__ import annotations

import math
import operator
from typing import Any

from mcu_deploy.schema import Form, Unfit, each, of_kind

_MOST = 1 << 63


def integer(reader: Any, value: Any) -> int:
    """The value, an integer of 64 bits and a sign."""
    if type(value) is not int:
        of_kind(int, value)
    if not -_MOST <= value < _MOST:
        raise Unfit(f"= {value!r:.200} is no integer of 64 bits")
    return int(value)


def _integers(reader: Any, values: list[Any]) -> list[int]:
    if values and not (
        set(map(type, values)) == {int} and min(values) >= -_MOST and max(values) < _MOST
    ):
        return each(integer, reader, values)
    return values


def text(reader: Any, value: Any) -> str:
    """The value, a text that UTF-8 can hold."""
    if not of_kind(str, value).isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unfit("has half of a character") from None
    return str(value)


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
    return values if set(map(type, values)) <= {float} else each(real, reader, values)


def _texts(reader: Any, values: list[Any]) -> list[str]:
    if set(map(type, values)) <= {str} and all(map(str.isascii, values)):
        return values
    return each(text, reader, values)


def _encode_integer(writer: Any, value: Any) -> int:
    try:
        return operator.index(value)  # numpy's too
    except TypeError:
        of_kind(int, value)
        raise


PLAIN = {
    int: Form(_encode_integer, integer, _integers),
    str: Form(lambda writer, value: of_kind(str, value), text, _texts),
    bool: Form(lambda writer, value: bool(value), lambda reader, value: of_kind(bool, value)),
    float: Form(encode_real, real, _reals),
}
