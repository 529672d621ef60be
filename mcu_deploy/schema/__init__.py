"""What files and users say, as values: a dataclass says which keys there are and what each may be.

`fit` makes a value of a type hint of it, or raises `Misfit` with the place and a clause: texts,
numbers, booleans, `X | None`, Literal, tuples, mappings, dataclasses, each perhaps Annotated with
rules (functions of a value such as `Whole`, or a `Keys` that stands for the hint). What its keys
mean together a dataclass's own `__post_init__` checks, and raises `Clause`. `mcu_deploy.records`
writes and reads the project's own values by the same forms.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from mcu_deploy.schema.forms import Schema, listed, tabled
from mcu_deploy.schema.keys import Keys, WrongKeys, keys_of, parts, require_keys, tables
from mcu_deploy.schema.misfit import Clause, Misfit, Unfit, did_you_mean
from mcu_deploy.schema.plain import (
    Bytes,
    Form,
    Multiple,
    Text,
    Whole,
    each,
    enumeration,
    kept,
    of_kind,
    people,
    power_of_two,
    printable,
)

__all__ = [
    "Bytes", "Clause", "Form", "Keys", "Misfit", "Multiple", "Schema", "Text", "Unfit", "Whole",
    "WrongKeys", "did_you_mean", "each", "enumeration", "fit", "kept", "keys_of", "listed", "made",
    "of_kind", "parts", "power_of_two", "printable", "tabled",
]  # fmt: skip


def fit(hint: Any, value: Any, key: str, least: float | None = None) -> Any:
    """The value as a hint asks for it. key: what it is called.

    least: what numbers without a rule may be. Raises Misfit, with all keys that are missing or
    unknown in one.
    """
    require_keys([*tables(hint, value, key)])
    try:
        return _schema(least).form(hint).decode(None, value)
    except Misfit as misfit:
        misfit.inside(key)
        raise


def made(
    cls: Any, given: Any, place: str = "", least: float | None = None, keys: Keys | None = None
) -> Any:
    """A dataclass of a table; keys: its own by default. Raises Misfit, as `fit` does."""
    if not isinstance(given, Mapping):
        raise Misfit(place, f"it is no table, but {given!r:.200}")
    require_keys([(keys or keys_of(cls), given, place)])
    try:
        return _schema(least).record(cls).decode(None, given)
    except Misfit as misfit:
        if place:
            misfit.inside(place)
        raise


@functools.cache
def _schema(least: float | None) -> Schema:
    return Schema(people(least))
