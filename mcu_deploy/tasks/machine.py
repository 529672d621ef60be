"""What of a machine decides the numbers that come out: the code of mcu-deploy, and its tools."""

from __future__ import annotations

import functools
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.boards import load_board
from mcu_deploy.device.emulators import launchers
from mcu_deploy.errors import ToolError, one_line
from mcu_deploy.files import cache
from mcu_deploy.session import Session
from mcu_deploy.toolchain import Toolchain, gcc_number
from mcu_deploy.version import VERSION

_NONE = "none"
_PACKAGES = ("numpy", "onnx", "onnxruntime", "ai-edge-litert")
_COMPILERS = {"gcc for Cortex-M": "mps2-an386", "gcc": "host"}


@functools.cache
def this_machine() -> Mapping[str, str]:
    """The versions of mcu-deploy, what it runs on and the tools that it calls, by their names;
    "none" where one is missing. Asked for once in a process."""
    found = {
        "mcu-deploy": f"{VERSION} ({code_digest()[:12]})",
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "processor": platform.machine(),
    }
    found |= {name: _package(name) for name in _PACKAGES}
    found |= {title: _compiler(board) for title, board in _COMPILERS.items()}
    for launcher in launchers():
        if launcher.name != "host":
            try:
                found[launcher.title] = launcher.version(launcher.find())
            except ToolError:
                found[launcher.title] = _NONE
    with Session(report=lambda line: None) as session:
        found["backends"] = ", ".join(session.registry.ids) or _NONE
    return found


def require_alike(others: Mapping[str, Mapping[str, str]], own: Mapping[str, str]) -> None:
    """Raises ToolError where a worker, by its address, has anything else than the machine that
    wants the records, which is `own`."""
    clauses = []
    for address, theirs in sorted(others.items()):
        differing = [
            f"{name} {one_line(str(theirs.get(name, _NONE)), 80)} (wanted: {own.get(name, _NONE)})"
            for name in {**own, **theirs}
            if theirs.get(name, _NONE) != own.get(name, _NONE)
        ]
        if differing:
            clauses.append(f"the worker {address} has {', '.join(differing)}")
    if clauses:
        more = f"; and {len(clauses) - 3} more" if len(clauses) > 3 else ""
        raise ToolError(
            f"Other tools make other numbers, and {'; '.join(clauses[:3])}{more}. Install the same "
            "versions everywhere, or take such workers away."
        )


@functools.cache
def code_digest() -> str:
    """The SHA-256 of all files of mcu-deploy that a build may use."""
    package = Path(__file__).resolve().parents[1]
    files = {f"mcu_deploy/{name}": path for name, path in _files(package)}
    for folder in (resources.crt(), resources.boards(), resources.root() / "renode"):
        files |= {f"{folder.name}/{name}": path for name, path in _files(folder)}
    return digest((name.encode(), path.read_bytes()) for name, path in sorted(files.items()))


def digest(parts: Iterable[tuple[bytes, ...]]) -> str:
    """The SHA-256 of rows of bytes, each with its length, so that none runs into the next."""
    return cache.key(part for row in parts for part in (len(row).to_bytes(8), *row))


def _files(folder: Path) -> Iterable[tuple[str, Path]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if path.is_file() and not {"__pycache__", "_data"} & {*name.parts}:
            yield name.as_posix(), path


def _package(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return _NONE


def _compiler(board: str) -> str:
    try:
        return gcc_number(Toolchain.for_board(load_board(board)).version)
    except ToolError:
        return _NONE
