"""What files and users say, as values: a dataclass says which keys there are and what each may be.

`fit` makes a value of a type hint of it, or raises `Misfit` with the place and a clause: texts,
numbers, booleans, `X | None`, Literal, tuples, mappings, dataclasses, each perhaps Annotated with
rules (functions of key and value such as `Whole`, or a `Keys` that stands for the hint). What its
keys mean together a dataclass's own `__post_init__` checks, and raises `Clause`.
"""

from __future__ import annotations

import difflib
import functools
import re
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, Literal

from mcu_deploy.errors import one_line

_SIZE = re.compile(r"(\d+)\s*([KMG]?)", re.ASCII)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_UNIONS = (typing.Union, types.UnionType)
_KINDS: Mapping[Any, str] = {
    str: "a text in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


class Clause(Exception):
    """What is wrong with a value: a clause without the place."""


class Misfit(Exception):
    """What does not fit. place: of the table, as a file has it; empty for the outermost one."""

    def __init__(self, place: str, clause: str) -> None:
        super().__init__(clause)
        self.place = place
        self.clause = clause

    def __str__(self) -> str:
        return f"{self.place}: {self.clause}" if self.place else self.clause

    @property
    def sentence(self) -> str:
        """The place and the clause, which ends as a sentence does."""
        return f"{self}" if self.clause.endswith(("?", ".", "!")) else f"{self}."


@dataclass(frozen=True)
class Whole:
    """A whole number, low <= number < high."""

    low: int
    high: int

    def __call__(self, key: str, value: int) -> int:
        if not self.low <= value < self.high:
            raise Clause(
                f"{key} = {value} is out of range; it must be {self.low} to {self.high - 1}"
            )
        return value


@dataclass(frozen=True)
class Multiple:
    """An address with this alignment in bytes."""

    alignment: int

    def __call__(self, key: str, value: int) -> int:
        if value % self.alignment:
            raise Clause(f"{key} = {value:#x} must be a multiple of {self.alignment}")
        return value


def power_of_two(key: str, value: int) -> int:
    """A rule."""
    if value & (value - 1):
        raise Clause(f"{key} = {value} must be a power of two")
    return value


def printable(key: str, value: str) -> str:
    """A rule: something, without control characters."""
    if not value:
        raise Clause(f"{key} must be {_KINDS[str]}, not {value!r:.200}")
    if any(ord(c) < 32 or ord(c) == 127 for c in value):
        raise Clause(f"{key} must not hold control characters")
    return value


def _bytes(key: str, value: Any) -> Any:
    """8192, or a text such as "512K" or "1M": powers of 1024."""
    size = value
    if not isinstance(value, int) or isinstance(value, bool):
        match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            raise Clause(f'{key} must be a size such as 8192 or "512K", not {value!r:.200}')
        size = int(match[1]) * _UNITS[match[2]]
    if not 0 < size <= 1 << 32:
        raise Clause(f"{key} = {value!r} is out of range; it must be 1 byte to 4G")
    return size


Text = typing.Annotated[str, printable]
Bytes = typing.Annotated[Any, _bytes]


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys that no dataclass has, with their hints, and those that must be there."""

    hints: Mapping[str, Any]
    required: Collection[str] = ()


@functools.cache
def keys_of(cls: Any) -> Keys:
    """The keys of a dataclass."""
    hints = typing.get_type_hints(cls, include_extras=True)
    named = {item.name: hints[item.name] for item in fields(cls) if item.init}
    required = {f.name for f in fields(cls) if f.default is f.default_factory is MISSING}
    return Keys(named, required & named.keys())


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error sentence: the nearest known word, or all of them."""
    words = list(known)
    plain = {known.lower(): known for known in words}
    near = difflib.get_close_matches(word.lower(), plain, n=1)
    if near:
        return f"did you mean {plain[near[0]]!r}?"
    return f"known here: {', '.join(words) or 'nothing'}"


def fit(hint: Any, value: Any, key: str, place: str = "", least: float | None = None) -> Any:
    """The value as a hint asks for it. key: what it is called; place: of the table it stands in.

    least: what numbers without a rule may be. Raises Misfit, with all keys that are missing or
    unknown in one.
    """
    _require_keys([*_tables(hint, value, _under(place, key))])
    return _fit(hint, value, key, place, least)


def made(
    cls: Any, given: Any, place: str = "", least: float | None = None, keys: Keys | None = None
) -> Any:
    """A dataclass of a table; keys: its own by default. Raises Misfit, as `fit` does."""
    if not isinstance(given, Mapping):
        raise Misfit(place, f"it is no table, but {given!r:.200}")
    _require_keys([(keys or keys_of(cls), given, place)])
    return _made(cls, given, place, least)


def _fit(hint: Any, value: Any, key: str, place: str, least: float | None) -> Any:
    try:
        return _fitted(hint, value, key, place, least)
    except Clause as clause:
        raise Misfit(place, str(clause)) from None


def _made(cls: Any, given: Mapping[str, Any], place: str, least: float | None) -> Any:
    values = _table(keys_of(cls), given, place, least)
    try:
        return cls(**values)
    except Clause as clause:
        raise Misfit(place, str(clause)) from None


def _table(keys: Keys, given: Mapping[str, Any], place: str, least: float | None) -> dict[str, Any]:
    return {key: _fit(keys.hints[key], value, key, place, least) for key, value in given.items()}


@functools.cache
def _parts(hint: Any) -> tuple[Any, Sequence[Any], Any, tuple[Any, ...]]:
    """A hint without Annotated, the rules that it had, its origin, its arguments."""
    rules: Sequence[Any] = ()
    if typing.get_origin(hint) is typing.Annotated:
        hint, rules = hint.__origin__, hint.__metadata__
    return hint, rules, typing.get_origin(hint), typing.get_args(hint)


def _fitted(hint: Any, value: Any, key: str, place: str, least: float | None) -> Any:
    hint, rules, origin, arguments = _parts(hint)
    if rules and isinstance(rules[0], Keys):
        return _table(rules[0], _mapping(value, key), _under(place, key), least)
    if origin in _UNIONS:
        (inner,) = (a for a in arguments if a is not types.NoneType)
        return None if value is None else _fit(inner, value, key, place, least)
    if origin is tuple:
        return _sequence(arguments, value, key, place, least)
    if origin is not None and hasattr(origin, "keys"):
        given, inside = _mapping(value, key), _under(place, key)
        name = arguments[0]
        return {
            _fit(name, k, f"a key of {key}", place, None): _fit(
                arguments[1], v, str(k), inside, least
            )
            for k, v in given.items()
        }
    if is_dataclass(hint) and isinstance(hint, type):
        if isinstance(value, hint):
            return value
        return _made(hint, _mapping(value, key, hint.__name__), _under(place, key), least)
    if origin is Literal:
        return _word(arguments, value, key)
    if hint is float and type(value) is int and abs(value) < 2**1023:
        value = float(value)
    if hint is not Any and (
        not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool)
    ):
        raise Clause(f"{key} must be {_KINDS[hint]}, not {value!r:.200}")
    if hint in (int, float) and least is not None and not rules and value < least:
        raise Clause(f"{key} = {value} is out of range; it must be {least:g} or more")
    for rule in rules:
        value = rule(key, value)
    return value


def _sequence(
    arguments: tuple[Any, ...], value: Any, key: str, place: str, least: float | None
) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Clause(f"{key} must be a list, not {value!r:.200}")
    if arguments[1:] == (...,):
        arguments = arguments[:1] * len(value)
    if len(value) != len(arguments):
        raise Clause(f"{key} must have {len(arguments)} items, not {value!r:.200}")
    pairs = zip(arguments, value, strict=True)
    return tuple(_fit(a, v, f"{key}[{i}]", place, least) for i, (a, v) in enumerate(pairs))


def _mapping(value: Any, key: str, kind: str = "") -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        what = f"a table or a value of {kind}" if kind else "a table"
        raise Clause(f"{key} must be {what}, not {value!r:.200}")
    return value


def _word(words: Sequence[Any], value: Any, key: str) -> Any:
    if isinstance(value, str) and value not in words:
        raise Clause(f"{key} = {value!r:.200} is not known; {did_you_mean(value, map(str, words))}")
    if type(value) is not type(words[0]):
        raise Clause(f"{key} must be {_KINDS[type(words[0])]}, not {value!r:.200}")
    if value not in words:
        raise Clause(f"{key} = {value} must be {', '.join(map(str, words[:-1]))} or {words[-1]}")
    return value


def _under(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


# ---- All keys that are missing or unknown in a whole file, in one sentence ----


class WrongKeys(Misfit):
    """Keys that are missing, or mean nothing."""


_Tables = Sequence[tuple[Keys, Mapping[str, Any], str]]


def _require_keys(tables: _Tables) -> None:
    absent = [name for table in tables for name in _missing(*table)]
    strange = [name for table in tables for name in _unknown(*table)]
    said = []
    if absent:
        keys, are = ("the key", "is") if len(absent) == 1 else ("the keys", "are")
        said.append(f"{keys} {', '.join(absent)} {are} missing")
    if strange:
        keys = "the unknown key" if len(strange) == 1 else "the unknown keys"
        said.append(f"it has {keys} {', '.join(strange)}")
    if said:
        raise WrongKeys("", ", and ".join(said))


def _missing(keys: Keys, given: Mapping[str, Any], place: str) -> Iterator[str]:
    """The keys that must be there and are not, as a file has them: 'irq' in [serial]."""
    for key in keys.hints:
        if key in keys.required and key not in given:
            bare, _, origin, _ = _parts(keys.hints[key])
            is_table = is_dataclass(bare) or origin is Mapping
            yield f"[{_under(place, key)}]" if is_table else _named(key, place)
    for table in _inner(keys, given, place):
        yield from _missing(*table)


def _unknown(keys: Keys, given: Mapping[str, Any], place: str) -> Iterator[str]:
    """The keys that are there and mean nothing, each with those that could stand there."""
    for key in given:
        if key not in keys.hints:
            absent = [name for name in keys.hints if name not in given]
            near = difflib.get_close_matches(str(key), absent, n=1)
            # Where nothing is near, all that could stand there.
            known = f"known here: {', '.join(keys.hints)}"
            hint = f"did you mean {near[0]!r}?" if near else known
            yield f"{_named(one_line(str(key), 60), place)} ({hint})"
    for table in _inner(keys, given, place):
        yield from _unknown(*table)


def _inner(
    keys: Keys, given: Mapping[str, Any], place: str
) -> Iterator[tuple[Keys, Mapping[str, Any], str]]:
    for key, value in given.items():
        if key in keys.hints:
            yield from _tables(keys.hints[key], value, _under(place, key))


def _tables(hint: Any, value: Any, place: str) -> Iterator[tuple[Keys, Mapping[str, Any], str]]:
    """The tables in a value; what is of another type than it should be is for `fit` to tell."""
    if not isinstance(value, (dict, list, tuple)):
        return
    bare, rules, origin, arguments = _parts(hint)
    if origin in _UNIONS:
        (inner,) = (a for a in arguments if a is not types.NoneType)
        yield from _tables(inner, value, place)
        return
    table = rules[0] if rules and isinstance(rules[0], Keys) else None
    if table is None and is_dataclass(bare) and isinstance(bare, type):
        table = keys_of(bare)
    if table is not None and isinstance(value, Mapping):
        yield table, value, place
    elif origin is tuple and isinstance(value, Sequence) and not isinstance(value, str):
        for i, item in enumerate(value):
            yield from _tables(arguments[0], item, f"{place}[{i}]")
    elif table is None and origin is Mapping and isinstance(value, Mapping):
        for name, item in value.items():
            yield from _tables(arguments[1], item, f"{place}.{name}")


def _named(key: str, place: str) -> str:
    return f"{key!r} in [{place}]" if place else repr(key)
