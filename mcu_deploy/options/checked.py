"""Values whose fields are checked, by their type hints, where they are made."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from mcu_deploy.errors import UsageError
from mcu_deploy.schema import Misfit, fit, keys_of


class Checked:
    """A dataclass whose fields are checked by their type hints and flags when it is made.

    Lists become tuples, and mappings the dataclasses that are expected, so that what JSON gives
    back makes the value again. Raises UsageError for a value that a field cannot have.
    """

    def __post_init__(self) -> None:
        cls: Any = type(self)
        hints = keys_of(cls).hints
        for item in fields(cls):
            flag = item.metadata.get("flag")
            what = flag.name if flag is not None else f"{cls.__name__}.{item.name}"
            try:
                value = fit(hints[item.name], getattr(self, item.name), what, least=0)
            except Misfit as misfit:
                raise UsageError(misfit.sentence) from None
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
