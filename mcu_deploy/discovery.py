"""Modules that are found by being there: adding a file to a package is all that it takes."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType


def modules(package: str) -> Iterator[tuple[str, ModuleType]]:
    """The modules of a package, imported, with their short names, in the order of these."""
    for name in names(importlib.import_module(package).__path__):
        yield name, importlib.import_module(f"{package}.{name}")


def names(path: Iterable[str]) -> tuple[str, ...]:
    """The short names of the modules in the folders of a package, in order."""
    return _names(tuple(path))


@functools.cache  # folders are read once: every check of an option comes here
def _names(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(info.name for info in pkgutil.iter_modules(path)))


def named(package: str) -> Mapping[str, ModuleType]:
    """The modules of a package that have a NAME, by it: those without one are what these share."""
    found = {m.NAME: m for _, m in modules(package) if hasattr(m, "NAME")}
    return dict(sorted(found.items()))
