"""Whether a report.json holds what `run`, `validate` and `profile` take from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from mcu_deploy.errors import UsageError
from mcu_deploy.options import fit

_NETWORK: Mapping[str, Any] = {
    "name": str,
    "kept_model": str,
    "source_sha256": str,
    "pools_taken": Mapping[str, int],
}
_LAYER: Mapping[str, Any] = {
    "index": int,
    "short": str,
    "name": str,
    "op": str,
    "backend": str,
    "macs": int,
}
_NAMED: Mapping[str, Any] = {"name": str}


def require_sound(report: Any) -> None:
    """Raises UsageError, without the file's name, where something is missing or of another type.

    Its options are checked where they are made. Files that it names lie in the build's folder.
    """
    _fields(report, {"board": str, "board_file": str | None}, "the report")
    _fields(report, {"firmware_stack_bytes": int | None}, "the report")
    _inside(report["board_file"] or ".")
    networks = _tables(report, "networks")
    if not networks:
        raise UsageError("it has no networks")
    for network in networks:
        _fields(network, _NETWORK, "a network")
        if not re.fullmatch(r"[A-Za-z0-9_]+", network["name"]):
            raise UsageError(f"a network is called {network['name'][:80]!r}")
        _inside(network["kept_model"])
        for layer in _tables(network, "layers"):
            _fields(layer, _LAYER, "a layer")
        for key in ("inputs", "outputs", "kept", "states"):
            for tensor in _tables(network, key):
                _fields(tensor, _NAMED, f"one of the {key}")
        fit(tuple[tuple[tuple[int, ...], ...], ...], network.get("lanes"), "lanes")


def _fields(value: Any, wanted: Mapping[str, Any], what: str) -> None:
    for key, hint in wanted.items():
        if not isinstance(value, Mapping) or key not in value:
            raise UsageError(f"{key} of {what} is missing")
        fit(hint, value[key], key)


def _tables(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = value.get(key)
    if not isinstance(found, list) or not all(isinstance(item, Mapping) for item in found):
        raise UsageError(f"{key} are no list of tables")
    return found


def _inside(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise UsageError(f"{name[:80]!r} lies outside of the folder")
