"""The formats that there are a module for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

from mcu_deploy.discovery import named
from mcu_deploy.errors import UsageError
from mcu_deploy.exports.model import Archive, Exported


class Format(Protocol):
    """A module of this package that is a format; what each member means says the package."""

    NAME: str
    ARCHIVE: Archive | None

    def files(self, exported: Exported) -> Mapping[str, bytes]: ...


def formats() -> Mapping[str, Format]:
    """Every format by its name."""
    found = named("mcu_deploy.exports")
    return {name: cast(Format, module) for name, module in found.items()}


def format_named(name: str) -> Format:
    """The format of this name. Raises UsageError, which lists all, where there is none."""
    known = formats()
    if name not in known:
        raise UsageError(f"There is no format {name!r}; give --format {', '.join(known)}.")
    return known[name]
