"""The keys of tables, and all that are missing or unknown in a whole file, in one sentence."""

from __future__ import annotations

import difflib
import functools
import types
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

from mcu_deploy.errors import one_line
from mcu_deploy.schema.misfit import Misfit

UNIONS = (typing.Union, types.UnionType)


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys that no dataclass has, with their hints, and those that must be there."""

    hints: Mapping[str, Any]
    required: Collection[str] = ()


class WrongKeys(Misfit):
    """Keys that are missing, or mean nothing."""


@functools.cache
def keys_of(cls: Any) -> Keys:
    """The keys of a dataclass."""
    hints = typing.get_type_hints(cls, include_extras=True)
    named = {item.name: hints[item.name] for item in fields(cls)}
    required = {f.name for f in fields(cls) if f.default is f.default_factory is MISSING}
    return Keys(named, required)


@functools.cache
def parts(hint: Any) -> tuple[Any, Sequence[Any], Any, tuple[Any, ...]]:
    """A hint without Annotated, the rules that it had, its origin, its arguments; of an alias, as
    numpy's NDArray is since 2.5, those of what it stands for."""
    hint = getattr(hint, "__value__", hint)
    rules: Sequence[Any] = ()
    if typing.get_origin(hint) is typing.Annotated:
        hint, rules = hint.__origin__, hint.__metadata__
    return hint, rules, typing.get_origin(hint), typing.get_args(hint)


def under(place: str, key: str) -> str:
    """The place of a table in another one."""
    return f"{place}.{key}" if place else key


Table = tuple[Keys, Mapping[str, Any], str]


def require_keys(tables: Sequence[Table]) -> None:
    """Raises WrongKeys for tables, each with its keys and its place, and those in them."""
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


def tables(hint: Any, value: Any, place: str) -> Iterator[Table]:
    """The tables in a value; what is of another type than it should be is for `fit` to tell."""
    if not isinstance(value, (dict, list, tuple)):
        return
    bare, rules, origin, arguments = parts(hint)
    if origin in UNIONS:
        (inner,) = (a for a in arguments if a is not types.NoneType)
        yield from tables(inner, value, place)
        return
    table = rules[0] if rules and isinstance(rules[0], Keys) else None
    if table is None and is_dataclass(bare) and isinstance(bare, type):
        table = keys_of(bare)
    if table is not None and isinstance(value, Mapping):
        yield table, value, place
    elif origin is tuple and isinstance(value, Sequence) and not isinstance(value, str):
        for i, item in enumerate(value):
            yield from tables(arguments[0], item, f"{place}[{i}]")
    elif table is None and origin is Mapping and isinstance(value, Mapping):
        for name, item in value.items():
            yield from tables(arguments[1], item, f"{place}.{name}")


def _missing(keys: Keys, given: Mapping[str, Any], place: str) -> Iterator[str]:
    """The keys that must be there and are not, as a file has them: 'irq' in [serial]."""
    for key in keys.hints:
        if key in keys.required and key not in given:
            bare, _, origin, _ = parts(keys.hints[key])
            is_table = is_dataclass(bare) or origin is Mapping
            yield f"[{under(place, key)}]" if is_table else _named(key, place)
    for table in _inner(keys, given, place):
        yield from _missing(*table)


def _unknown(keys: Keys, given: Mapping[str, Any], place: str) -> Iterator[str]:
    """The keys that are there and mean nothing, each with the nearest that could stand there, or
    the first with all of them."""
    all_known = f" (known here: {', '.join(keys.hints)})"
    for key in given:
        if key not in keys.hints:
            absent = [name for name in keys.hints if name not in given]
            near = difflib.get_close_matches(str(key), absent, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else all_known
            all_known = all_known if near else ""
            yield f"{_named(one_line(str(key), 60), place)}{hint}"
    for table in _inner(keys, given, place):
        yield from _unknown(*table)


def _inner(keys: Keys, given: Mapping[str, Any], place: str) -> Iterator[Table]:
    for key, value in given.items():
        if key in keys.hints:
            yield from tables(keys.hints[key], value, under(place, key))


def _named(key: str, place: str) -> str:
    return f"{key!r} in [{place}]" if place else repr(key)
