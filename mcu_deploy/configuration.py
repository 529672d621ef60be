"""What was chosen when the package was built: what is off, and where backends are looked for.

CMake writes the choice to `configuration.json` in its build folder. A wheel carries that file as
`mcu_deploy/_data/configuration.json`; `$MCU_DEPLOY_CONFIGURATION` names another one, for a package
that is used from the repository. Without either, nothing is off and no path is looked in.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NoReturn

from mcu_deploy.errors import RequestError

VARIABLE = "MCU_DEPLOY_CONFIGURATION"
_INSTALLED = Path(__file__).resolve().parent / "_data" / "configuration.json"
_LISTS = ("backends_off", "formats_off")
_PATHS = "dynamic_backend_paths"


def backends_off() -> frozenset[str]:
    """The ids of the backends that are switched off. Raises UsageError for a damaged file."""
    return frozenset(_read()["backends_off"])


def formats_off() -> frozenset[str]:
    """The modules of `mcu_deploy.formats` that are switched off ("onnx").

    Raises UsageError for a damaged file.
    """
    return frozenset(_read()["formats_off"])


def dynamic_backend_paths() -> tuple[str, ...]:
    """The folders in which dynamic backends are looked for by default, in this order.

    They are given as they were written: whether they are absolute, and exist, is for the search to
    say. Raises UsageError for a damaged file.
    """
    return tuple(path for path in _read()[_PATHS] if path)


def _read() -> dict[str, list[str]]:
    named = os.environ.get(VARIABLE)
    file = Path(named) if named else _INSTALLED
    if not named and not file.is_file():
        return {key: [] for key in (*_LISTS, _PATHS)}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        _refuse(file, f"cannot be read ({error.strerror})")
    except (ValueError, RecursionError):
        _refuse(file, "is no JSON")
    if not isinstance(content, dict):
        _refuse(file, "holds no JSON object")
    if unknown := sorted(set(content) - {*_LISTS, _PATHS}):
        _refuse(file, f"has the unknown entry {unknown[0]!r}")
    read: dict[str, list[str]] = {}
    for key in _LISTS:
        names = content.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            _refuse(file, f"has an entry {key!r} that is no list of names")
        read[key] = names
    paths = content.get(_PATHS, "")
    if not isinstance(paths, str):
        _refuse(file, f"has an entry {_PATHS!r} that is no text of paths with colons between them")
    read[_PATHS] = paths.split(":")
    return read


def _refuse(file: Path, reason: str) -> NoReturn:
    remedy = f"Let CMake write it anew, or unset {VARIABLE}."
    if file == _INSTALLED:
        remedy = "Install mcu-deploy again."
    raise RequestError(f"The configuration file {file} {reason}. {remedy}")
