"""What is the same in every build, kept between builds: objects of the runtime and the firmware,
and archives of them.

An entry is found by all that it depends on, and holds a digest of itself: one that was damaged is
made again. $MCU_DEPLOY_CACHE names the folder, "off" turns the cache off; by default it lies where
the XDG base directory specification says. It can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import jinja2

from mcu_deploy.errors import ToolError
from mcu_deploy.output import write_file

VARIABLE = "MCU_DEPLOY_CACHE"
_MOST_ENTRIES = 2000
_ENTRY = re.compile(r"[0-9a-f]{64}")  # what key() gives
_DIGEST = hashlib.sha256().digest_size


def folder(kind: str) -> Path | None:
    """Where what is kept of a kind lies, made if need be; None where nothing is to be kept, or
    nothing can be."""
    named = os.environ.get(VARIABLE, "")
    if named == "off":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        found = (Path(named) if named else Path(home) / "mcu-deploy").expanduser() / kind
        found.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError):  # no such user, no home
        return None
    return found if os.access(found, os.W_OK) else None


def templates() -> jinja2.BytecodeCache | None:
    """Where jinja keeps its compiled templates; it notices those that changed."""
    home = folder("templates")
    return None if home is None else jinja2.FileSystemBytecodeCache(str(home))


def key(parts: Iterable[str | bytes]) -> str:
    """One name for all that an entry depends on."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little") + raw)
    return digest.hexdigest()


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """The entry of this key, or what `make` makes, which is then kept."""
    home = folder("objects")
    if home is None:
        return make()
    with contextlib.suppress(OSError):
        content = (home / name).read_bytes()
        if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
            return content[_DIGEST:]
    made = make()
    with contextlib.suppress(OSError, ToolError):
        _keep(home, name, hashlib.sha256(made).digest() + made)
    return made


def _keep(home: Path, name: str, content: bytes) -> None:
    # A folder that the user named may hold more than what was kept here.
    entries = [path for path in home.iterdir() if _ENTRY.fullmatch(path.name)]
    entries.sort(key=lambda path: path.stat().st_mtime)
    for old in entries[: max(0, len(entries) + 1 - _MOST_ENTRIES)]:
        old.unlink(missing_ok=True)
    write_file(home / name, content, durable=False)
