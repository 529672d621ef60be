"""What is no more than a number or a text: its form, and rules that it may have."""

from __future__ import annotations

import enum
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcu_deploy.schema.misfit import Misfit, Unfit, did_you_mean

_SIZE = re.compile(r"(\d+)\s*([KMG]?)", re.ASCII)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_KINDS: Mapping[Any, str] = {
    str: "a text in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


@dataclass(frozen=True)
class Form:
    """encode: (writer, value) to JSON; decode: (reader, JSON) to the value, or Misfit.

    decode_all: (reader, list) to a list, where that is faster than one by one.
    """

    encode: Callable[[Any, Any], Any]
    decode: Callable[[Any, Any], Any]
    decode_all: Callable[[Any, list[Any]], list[Any]] | None = None

    def all(self, reader: Any, values: Sequence[Any]) -> list[Any]:
        """The values of a list."""
        if self.decode_all is not None:
            return self.decode_all(reader, list(values))
        return each(self.decode, reader, values)


def each(decode: Callable[[Any, Any], Any], reader: Any, values: Sequence[Any]) -> list[Any]:
    """The values of a list, one by one."""
    found: list[Any] = []
    try:
        for value in values:
            found.append(decode(reader, value))
    except Misfit as misfit:
        misfit.inside(f"[{len(found)}]")
        raise
    return found


def unfit(wanted: str, value: Any) -> Unfit:
    """What is wrong with a value of another kind."""
    return Unfit(f"must be {wanted}, not {value!r:.200}")


def of(kind: Any) -> Callable[[Any, Any], Any]:
    """What decodes values of a kind."""
    return lambda reader, value: of_kind(kind, value)


def of_kind(kind: Any, value: Any) -> Any:
    """The value, if it is of this kind; a truth value is no number."""
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise unfit(_KINDS[kind], value)


def same(_: Any, value: Any) -> Any:
    """The value as it is."""
    return value


def people(least: float | None) -> dict[Any, Form]:
    """The forms of what people write. least: what numbers without a rule may be."""

    def number(kind: Any) -> Form:
        def decode(_: Any, value: Any) -> Any:
            if kind is float and type(value) is int and abs(value) < 2**1023:
                value = float(value)
            if of_kind(kind, value) < (value if least is None else least):
                raise Unfit(f"= {value} is out of range; it must be {least:g} or more")
            return value

        return Form(same, decode)

    plain = {kind: Form(same, of(kind)) for kind in _KINDS}
    return {**plain, int: number(int), float: number(float), Any: Form(same, same)}


def enumeration(cls: type[enum.Enum]) -> Form:
    """A member as its name, in small letters."""
    members = {member.name.lower(): member for member in cls}
    names = {member: name for name, member in members.items()}

    def decode(_: Any, value: Any) -> enum.Enum:
        found = members.get(value) if type(value) is str else None
        if found is None:
            raise Unfit(f"= {value!r:.200} is no {cls.__name__}")
        return found

    return Form(lambda writer, value: names[value], decode)


def word(words: Sequence[Any]) -> Form:
    """One of some texts, or of some numbers."""

    def decode(_: Any, value: Any) -> Any:
        if isinstance(value, str) and value not in words:
            raise Unfit(f"= {value!r:.200} is not known; {did_you_mean(value, map(str, words))}")
        if type(value) is not type(words[0]):
            raise unfit(_KINDS[type(words[0])], value)
        if value not in words:
            raise Unfit(f"= {value} must be {', '.join(map(str, words[:-1]))} or {words[-1]}")
        return value

    return Form(same, decode)


# ---- Rules: functions of a value, which may stand behind a hint in Annotated ----


@dataclass(frozen=True)
class Whole:
    """A whole number, low <= number < high."""

    low: int
    high: int

    def __call__(self, value: int) -> int:
        if not self.low <= value < self.high:
            raise Unfit(f"= {value} is out of range; it must be {self.low} to {self.high - 1}")
        return value


@dataclass(frozen=True)
class Multiple:
    """An address with this alignment in bytes."""

    alignment: int

    def __call__(self, value: int) -> int:
        if value % self.alignment:
            raise Unfit(f"= {value:#x} must be a multiple of {self.alignment}")
        return value


def power_of_two(value: int) -> int:
    """A rule."""
    if value & (value - 1):
        raise Unfit(f"= {value} must be a power of two")
    return value


def printable(value: str) -> str:
    """A rule: something, without control characters."""
    if not value:
        raise unfit(_KINDS[str], value)
    if any(ord(c) < 32 or ord(c) == 127 for c in value):
        raise Unfit("must not hold control characters")
    return value


def _bytes(value: Any) -> Any:
    """8192, or a text such as "512K" or "1M": powers of 1024."""
    size = value
    if not isinstance(value, int) or isinstance(value, bool):
        match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            raise unfit('a size such as 8192 or "512K"', value)
        size = int(match[1]) * _UNITS[match[2]]
    if not 0 < size <= 1 << 32:
        raise Unfit(f"= {value!r} is out of range; it must be 1 byte to 4G")
    return size


def kept(rule: Callable[[Any], Any], key: str, value: Any) -> Any:
    """A value that keeps a rule, where none stands in the hint of its key."""
    try:
        return rule(value)
    except Unfit as misfit:
        misfit.inside(key)
        raise


Text = typing.Annotated[str, printable]
Bytes = typing.Annotated[Any, _bytes]
