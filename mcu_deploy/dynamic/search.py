"""Where dynamic backends are looked for: the option, else the environment, else the default list.

The first of these that is set holds alone (Arm NN's rule).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.configuration import dynamic_backend_paths
from mcu_deploy.errors import one_line

ENVIRONMENT = "MCU_DEPLOY_DYNAMIC_BACKENDS"


@dataclass(frozen=True)
class SearchPaths:
    """The folders to scan, in their order, and one sentence for each path that is none."""

    folders: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


def search_paths(
    options: CreationOptions, environment: Mapping[str, str] = os.environ
) -> SearchPaths:
    """Where a session with these options looks. No folders: dynamic backends are off."""
    if not options.dynamic_backends:
        return SearchPaths()
    if options.dynamic_backends_path is not None:
        given = [options.dynamic_backends_path] if options.dynamic_backends_path else []
        return _checked(given, "--dynamic-backends", "give the absolute path of one folder")
    if ENVIRONMENT in environment:
        given = environment[ENVIRONMENT].split(":")
        return _checked(given, f"${ENVIRONMENT}", "correct it, or take the path out of the list")
    return _checked(
        dynamic_backend_paths(),
        "the default list",
        f"make the folder, or set ${ENVIRONMENT} to other ones",
    )


def _checked(paths: Sequence[str], source: str, remedy: str) -> SearchPaths:
    folders: dict[str, Path] = {}
    warnings = []
    for path in dict.fromkeys(p for p in paths if p):
        fault = _fault(path)
        if fault is None:
            folders.setdefault(os.path.realpath(path), Path(path))
        else:
            warnings.append(
                f"The path {one_line(path)!r} for dynamic backends, from {source}, {fault}: it is "
                f"not searched. Remedy: {remedy}."
            )
    return SearchPaths(tuple(folders.values()), tuple(warnings))


def _fault(path: str) -> str | None:
    """What is wrong with a path, a verb and its object; None: it can be scanned."""
    if not Path(path).is_absolute():
        return "is not absolute"
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "does not exist"
    except PermissionError:
        return "is not readable"
    except (OSError, ValueError) as error:
        return f"cannot be looked at ({getattr(error, 'strerror', None) or error})"
    if not stat.S_ISDIR(mode):
        return "is no folder"
    return None if os.access(path, os.R_OK | os.X_OK) else "is not readable"
