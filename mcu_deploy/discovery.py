"""Modules that are found by being there: adding a file to a package is all that it takes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType


def modules(package: str) -> Iterator[tuple[str, ModuleType]]:
    """The modules of a package, imported, with their short names, in the order of these."""
    home = importlib.import_module(package)
    for info in sorted(pkgutil.iter_modules(home.__path__), key=lambda module: module.name):
        yield info.name, importlib.import_module(f"{package}.{info.name}")


def named(package: str) -> Mapping[str, ModuleType]:
    """The modules of a package that have a NAME, by it: those without one are what these share."""
    found = {m.NAME: m for _, m in modules(package) if hasattr(m, "NAME")}
    return dict(sorted(found.items()))
