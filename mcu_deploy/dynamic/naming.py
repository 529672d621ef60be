"""Which files of a folder are dynamic backends: Arm NN's naming rule, and the scan.

    <vendor>_<name>_backend.so[<version>]      Arm_GpuAcc_backend.so.1.2.3

Vendor and name are letters and digits of ASCII, the version is numbers, each behind a dot.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_RULE = re.compile(r"[A-Za-z0-9]+_[A-Za-z0-9]+_backend\.so(\.[0-9]+)*")
# the last ".so" that is a suffix of its own, not the begin of a word
_PARTS = re.compile(r"(?P<stem>.*)\.so(?P<version>(?![A-Za-z0-9_]).*)", re.DOTALL)
_FIELD = re.compile(r"[A-Za-z0-9]*")


def why_not(name: str) -> str | None:
    """Why a file of this name is not tried, a clause without full stop; None: it is."""
    if _RULE.fullmatch(name):
        return None
    parts = _PARTS.fullmatch(name)
    if parts is None:
        return 'its name does not end in ".so", or in ".so" and a version (.1.2.3)'
    return _stem_fault(parts["stem"]) or _version_fault(parts["version"])


def _stem_fault(stem: str) -> str | None:
    if not stem.strip("_"):
        return 'its name has no vendor, no name and no "backend" before ".so"'
    if not stem.endswith("_backend"):
        if "_backend" in stem:
            return 'something stands between "_backend" and ".so"; a version belongs behind ".so"'
        return 'its name lacks "_backend" before ".so"'
    return _fields_fault(stem.removesuffix("_backend").split("_"))


def _fields_fault(fields: list[str]) -> str | None:
    if not any(fields):
        return "its name has no vendor and no name"
    if len(fields) == 1 or not fields[0]:
        return "its name has no vendor"
    if not fields[1]:
        return 'its name has nothing between the vendor and "_backend"'
    if len(fields) > 2:
        return 'its name has more than a vendor and a name before "_backend"'
    for what, field in zip(("vendor", "name"), fields, strict=True):
        if not _FIELD.fullmatch(field):
            return f"its {what} has a character that is no letter and no digit"
    return None


def _version_fault(version: str) -> str:
    if re.fullmatch(r"[.0-9]*", version):
        return "a dot of its version is not followed by a number"
    return "its version has a character that is no digit and no dot"


@dataclass(frozen=True)
class BackendFile:
    """A file that may be a dynamic backend, by its canonical path."""

    path: Path


@dataclass(frozen=True)
class UntriedFile:
    """A file that is not tried. misnamed: it may be none at all, so that nobody is warned."""

    path: Path
    reason: str
    misnamed: bool = False


def scan(folder: Path) -> Iterator[BackendFile | UntriedFile]:
    """The dynamic backends of a folder, and what looks like one but is not tried, by name.

    Links are followed; several of them may lead to one candidate. Files whose names have nothing
    of a backend's are left out. Raises OSError where the folder cannot be read.
    """
    for path in sorted(folder.iterdir(), key=lambda p: p.name):
        reason = why_not(path.name)
        if reason is None:
            yield _resolved(path)
        elif "backend" in path.name or ".so" in path.name:
            yield UntriedFile(path, reason, misnamed=True)


def _resolved(path: Path) -> BackendFile | UntriedFile:
    try:
        # not Path.resolve: it raises RuntimeError for links that lead to each other
        canonical = Path(os.path.realpath(path, strict=True))
        mode = canonical.stat().st_mode
    except OSError as error:
        if path.is_symlink():
            return UntriedFile(path, f"it is a link to {path.readlink()}: {error.strerror}")
        return UntriedFile(path, f"it cannot be read: {error.strerror}")
    # opening a pipe would wait for its writer
    if not stat.S_ISREG(mode):
        return UntriedFile(
            path, "it is a folder" if stat.S_ISDIR(mode) else "it is no regular file"
        )
    return BackendFile(canonical)
