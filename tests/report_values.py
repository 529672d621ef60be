"""A report that is made up: of every table one, of every kind one value."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from mcu_deploy.options.checked import Checked
from mcu_deploy.report import Report

_VALUES: Mapping[type, Any] = {str: "x", int: -1, float: 0.5, bool: True}


def report() -> Report:
    """A sound one."""
    made: Report = _example(Report)
    return made


def _example(hint: Any) -> Any:
    arguments = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin is types.UnionType:
        return _example(arguments[0])
    if origin is tuple:
        return (_example(arguments[0]),)
    if origin is not None:
        return {_example(arguments[0]): _example(arguments[1])}
    if is_dataclass(hint) and issubclass(hint, Checked):
        return hint()
    if is_dataclass(hint):
        return hint(**{name: _example(h) for name, h in typing.get_type_hints(hint).items()})
    return _VALUES[hint]
