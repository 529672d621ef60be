"""Backends that come as installed Python packages, by the entry-point group `mcu_deploy.backends`.

    [project.entry-points."mcu_deploy.backends"]
    any-name = "my_package:MyBackend"

The value names what makes the backend when it is called: a class, or a function. Each runs in a
worker process of its own (`package_worker.py`); the session never imports the package.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from mcu_deploy.dynamic.process import Worker, WorkerPool
from mcu_deploy.errors import one_line

GROUP = "mcu_deploy.backends"

# -I: neither the working folder nor the environment adds to the session's sys.path
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from mcu_deploy.dynamic.package_worker import main; main(int(sys.argv[2]))"
)


@dataclass(frozen=True)
class BackendPackage:
    """An entry point of a package. fault: why it cannot be one, a clause."""

    origin: str
    value: str = ""
    fault: str = ""

    def start(self, pool: WorkerPool) -> Worker:
        """Starts a worker for it. Raises LoadError."""
        path = json.dumps([str(entry) for entry in sys.path])
        program = (sys.executable, "-I", "-c", _PROGRAM, path)
        return pool.start(Path(self.origin), program, {"value": self.value})


def installed() -> tuple[BackendPackage, ...]:
    """The entry points of all packages on sys.path, by the names of the packages."""
    first: dict[str, list[BackendPackage]] = {}
    for distribution in metadata.distributions():
        name, found = _entries(distribution)
        # a package that is there twice is imported from where it comes first
        if found:
            first.setdefault(name, found)
    return tuple(package for name in sorted(first) for package in first[name])


def _entries(distribution: metadata.Distribution) -> tuple[str, list[BackendPackage]]:
    """A package's name, and its entry points of our group, in the order of their names.

    What is installed beside mcu-deploy may be damaged in any way; only what says that it is a
    backend is spoken of.
    """
    try:
        if GROUP not in (distribution.read_text("entry_points.txt") or ""):
            return "", []
        name, version = str(distribution.metadata["Name"]), distribution.version
    except Exception:
        return "", []
    origin = one_line(f"package {name} {version}")
    name = re.sub(r"[-_.]+", "-", name).lower()  # as the packaging standards compare names
    try:
        entries = sorted(distribution.entry_points.select(group=GROUP), key=lambda e: e.name)
    except Exception as error:
        fault = f"its entry_points.txt cannot be read: {type(error).__name__}: {error}"
        return name, [BackendPackage(origin, fault=one_line(fault))]
    return name, list(_packages(origin, entries))


def _packages(origin: str, entries: list[metadata.EntryPoint]) -> Iterator[BackendPackage]:
    for entry in entries:
        which = f" ({entry.name})" if len(entries) > 1 else ""
        yield BackendPackage(one_line(origin + which), entry.value)
