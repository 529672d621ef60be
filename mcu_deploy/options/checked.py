"""Values whose fields are checked, by their type hints, where they are made."""

from __future__ import annotations

import difflib
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from mcu_deploy.errors import UsageError

_KINDS: Mapping[type, str] = {
    str: "a text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
}


class Checked:
    """A dataclass whose fields are checked by their type hints and flags when it is made.

    Lists become tuples, and mappings the dataclasses that are expected, so that what JSON gives
    back makes the value again. Raises UsageError for a value that a field cannot have.
    """

    def __post_init__(self) -> None:
        cls: Any = type(self)
        hints = _hints(cls)
        for item in fields(cls):
            flag = item.metadata.get("flag")
            what = flag.name if flag is not None else f"{cls.__name__}.{item.name}"
            value = fit(hints[item.name], getattr(self, item.name), what)
            if flag is not None and flag.words is not None and not isinstance(value, bool):
                require_word(what, value, flag.words())
            object.__setattr__(self, item.name, value)


def require_word(option: str, value: str, words: Sequence[str]) -> None:
    """Raises UsageError for a word that an option does not have."""
    if value not in words:
        near = difflib.get_close_matches(str(value), words, n=1)
        listed = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"{option} {value} is not known; it is {listed}.{hint}")


@functools.cache
def _hints(cls: Any) -> Mapping[str, Any]:
    return typing.get_type_hints(cls)


def fit(hint: Any, value: Any, what: str, least: float = 0) -> Any:
    """The value as a type hint asks for it; of a dataclass, what JSON made of one will do.

    least: what a number may be. Raises UsageError for a value that is none of that type.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        (inner,) = (a for a in arguments if a is not type(None))
        return None if value is None else fit(inner, value, what, least)
    if origin is tuple:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise UsageError(f"{what} {value!r} is not a sequence, such as a tuple.")
        if arguments[1:] == (...,):
            return tuple(fit(arguments[0], item, what, least) for item in value)
        if len(value) != len(arguments):
            raise UsageError(f"{what} {value!r} has not {len(arguments)} items.")
        return tuple(fit(a, v, what, least) for a, v in zip(arguments, value, strict=True))
    if hasattr(origin, "keys"):
        if not isinstance(value, Mapping):
            raise UsageError(f"{what} {value!r} is not a mapping, such as a dict.")
        key, item = arguments
        return {fit(key, k, what): fit(item, v, what, least) for k, v in value.items()}
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, (hint, Mapping)):
            raise UsageError(f"{what} {value!r} is not a value of {hint.__name__}.")
        return _made(hint, value, least) if isinstance(value, Mapping) else value
    if hint is float and type(value) is int and abs(value) < 2**1023:
        value = float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise UsageError(f"{what} {value!r} is not {_KINDS[hint]}.")
    if hint in (int, float) and value < least:
        raise UsageError(f"{what} {value} is less than nothing; give a number from 0 on.")
    return value


def _made(cls: Any, given: Mapping[str, Any], least: float) -> Any:
    """A dataclass of a mapping that has all of its fields."""
    for item in fields(cls):
        if item.name not in given and item.default is item.default_factory is MISSING:
            raise UsageError(f"{cls.__name__}.{item.name} is missing.")
    for name in given:
        if name not in _hints(cls):
            raise UsageError(f"{cls.__name__} has no {name!r}.")
    if issubclass(cls, Checked):
        return cls(**given)
    hints, name = _hints(cls), cls.__name__
    return cls(**{key: fit(hints[key], v, f"{name}.{key}", least) for key, v in given.items()})
