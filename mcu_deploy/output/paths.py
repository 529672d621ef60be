"""Folders that are made for an output, and taken away again where it fails; files in them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from mcu_deploy.errors import one_line


def resolved(path: Path) -> Path:
    """The path behind all symbolic links, of what need not be there yet.

    Raises FileNotFoundError for a link that leads nowhere."""
    while True:
        there = path.absolute()
        rest: list[str] = []
        while not os.path.lexists(there):
            rest.insert(0, there.name)
            there = there.parent
        try:
            real = Path(os.path.realpath(there, strict=True))  # resolve() has no OSError for a loop
        except FileNotFoundError:
            if os.path.lexists(there):
                raise
            continue  # another build, which failed, has taken it away
        return Path(os.path.normpath(real.joinpath(*rest)))


def make_folders(folder: Path, made: list[Path]) -> None:
    """Makes a folder and those above it, and adds each that was not there to `made`."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        try:
            new.mkdir()
            made.append(new)
        except FileExistsError:
            if not new.is_dir():
                raise NotADirectoryError(
                    errno.ENOTDIR, "a file is in the place of a folder", str(new)
                ) from None


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes files by their names, which may have folders in them, to a folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def remove_empty(folders: Iterable[Path]) -> None:
    """Takes folders away, the inner ones first; one that is not there or holds something stays."""
    for folder in sorted(set(folders), key=lambda f: len(f.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()


def shown(path: str | Path) -> str:
    """A path on one line, whatever is in it."""
    return one_line(str(path))
