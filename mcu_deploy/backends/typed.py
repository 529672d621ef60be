"""Whether a value that a backend gives is what its type hints say, down to the last field.

mypy holds that for what is checked with it; a backend may have been written without.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from mcu_deploy.backends.c_rules import require
from mcu_deploy.errors import one_line
from mcu_deploy.schema import parts

# What Python takes for numbers: numpy's too, and no truth value for an integer.
_NUMBERS: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool, np.bool_), "truth value"),
    int: ((int, np.integer), "integer"),
    float: ((int, float, np.integer, np.floating), "number"),
    str: ((str,), "text"),
}
_Faults = Callable[[Any], Iterator[str]]


def require_typed(value: Any, hint: Any, what: str) -> None:
    """Raises Nonsense that names the first field which is of another type: "the price's
    costs.cycles is nan, and no integer". Sequences may be tuples or lists."""
    fault = next(_faults(hint)(value), None)
    require(fault is None, f"{what}{fault}")


@functools.cache
def _faults(hint: Any) -> _Faults:
    """What finds the faults of values of a type: clauses that go on behind the value's name."""
    hint, _, origin, arguments = parts(hint)
    if hint in _NUMBERS:
        kinds, name = _NUMBERS[hint]
        return lambda v: _unless(
            isinstance(v, kinds) and (hint is bool or not isinstance(v, bool)), v, name
        )
    if origin in (Union, types.UnionType):
        (inner,) = (a for a in arguments if a is not type(None))
        return lambda v: iter(()) if v is None else _faults(inner)(v)
    if origin in (tuple, Sequence):
        return functools.partial(_of_items, _faults(arguments[0]))
    if origin is Mapping:
        return functools.partial(_of_table, *map(_faults, arguments))
    if origin is Callable:
        return lambda v: _unless(callable(v), v, "function")
    if hint is Any:
        return lambda v: iter(())
    kind: type = origin or hint
    if dataclasses.is_dataclass(kind):
        return functools.partial(_of_fields, kind)
    return lambda v: _unless(isinstance(v, kind), v, kind.__name__)


def _unless(fits: bool, value: Any, name: str) -> Iterator[str]:
    if not fits:
        yield f" is {_shown(value)}, and no {name}"


def _of_items(inner: _Faults, value: Any) -> Iterator[str]:
    if not isinstance(value, tuple | list):
        yield f" is {_shown(value)}, and no tuple"
        return
    for index, item in enumerate(value):
        for fault in inner(item):
            yield f"[{index}]{fault}"


def _of_table(of_key: _Faults, of_value: _Faults, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f" is {_shown(value)}, and no mapping"
        return
    for key, item in value.items():
        for fault in of_key(key):
            yield f"'s key{fault}"
        for fault in of_value(item):
            yield f"[{_shown(key)}]{fault}"


def _of_fields(kind: type, value: Any) -> Iterator[str]:
    if not isinstance(value, kind):
        yield f" is {_shown(value)}, and no {kind.__name__}"
        return
    for name, inner in _fields(kind):
        for fault in inner(getattr(value, name)):
            yield f".{name}{fault}"


@functools.cache
def _fields(kind: type[Any]) -> tuple[tuple[str, _Faults], ...]:
    """Of graphs and views it counts what they are alone: they are verified as graphs."""
    if kind.__module__.startswith("mcu_deploy.ir"):
        return ()
    hints = typing.get_type_hints(kind)
    return tuple((f.name, _faults(hints[f.name])) for f in dataclasses.fields(kind))


def _shown(value: Any) -> str:
    text = one_line(repr(value))
    return text if len(text) <= 60 else f"{text[:60]}..."
