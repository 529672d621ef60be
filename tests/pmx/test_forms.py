"""Everything in a compiled model has a form in a file."""

from __future__ import annotations

import dataclasses
import typing

from mcu_deploy.compiled import CompiledModel
from mcu_deploy.plan import Plan
from mcu_deploy.pmx.content import _CODEC


def _reached(hint: object, found: set[type]) -> None:
    """All dataclasses that a value of this type may hold."""
    for argument in typing.get_args(hint):
        _reached(argument, found)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and hint not in found:
        found.add(hint)
        for inner in typing.get_type_hints(hint).values():
            _reached(inner, found)


def test_every_field_of_a_model_has_a_form() -> None:
    """A class that a plan is to hold, and that has no form, is found before a user finds it."""
    found: set[type] = set()
    _reached(Plan, found)
    assert len(found) > 25
    assert set(_CODEC.fields(CompiledModel)) == {f.name for f in dataclasses.fields(CompiledModel)}
    for cls in found:
        if cls not in _CODEC.special:
            _CODEC.fields(cls)
