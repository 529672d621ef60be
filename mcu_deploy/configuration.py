"""What was chosen when the package was built: what is off, and where backends are looked for.

CMake writes the choice to `configuration.json` in its build folder. A wheel carries that file as
`mcu_deploy/_data/configuration.json`; `$MCU_DEPLOY_CONFIGURATION` names another one, for a package
that is used from the repository. Without either, nothing is off and no path is looked in.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from mcu_deploy.errors import RequestError
from mcu_deploy.schema import Misfit, made

VARIABLE = "MCU_DEPLOY_CONFIGURATION"
_INSTALLED = Path(__file__).resolve().parent / "_data" / "configuration.json"


@dataclass(frozen=True)
class _Configuration:
    """The file. dynamic_backend_paths: with colons between them."""

    backends_off: tuple[str, ...] = ()
    formats_off: tuple[str, ...] = ()
    dynamic_backend_paths: str = ""


def backends_off() -> frozenset[str]:
    """The ids of the backends that are switched off. Raises UsageError for a damaged file."""
    return frozenset(_read().backends_off)


def formats_off() -> frozenset[str]:
    """The modules of `mcu_deploy.formats` that are switched off ("onnx").

    Raises UsageError for a damaged file.
    """
    return frozenset(_read().formats_off)


def dynamic_backend_paths() -> tuple[str, ...]:
    """The folders in which dynamic backends are looked for by default, in this order.

    They are given as they were written: whether they are absolute, and exist, is for the search to
    say. Raises UsageError for a damaged file.
    """
    return tuple(path for path in _read().dynamic_backend_paths.split(":") if path)


def _read() -> _Configuration:
    named = os.environ.get(VARIABLE)
    file = Path(named) if named else _INSTALLED
    if not named and not file.is_file():
        return _Configuration()
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        _refuse(file, f"cannot be read ({error.strerror})")
    except (ValueError, RecursionError):
        _refuse(file, "is no JSON")
    try:
        found: _Configuration = made(_Configuration, content)
        return found
    except Misfit as misfit:
        _refuse(file, f"cannot be used: {misfit}")


def _refuse(file: Path, reason: str) -> NoReturn:
    remedy = f"Let CMake write it anew, or unset {VARIABLE}."
    if file == _INSTALLED:
        remedy = "Install mcu-deploy again."
    end = "" if reason.endswith("?") else "."
    raise RequestError(f"The configuration file {file} {reason}{end} {remedy}")
