"""Small builds: folder operations alone, no compiler."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcu_deploy.output import MARKER, locked

OLD = {"report.json": "old", "firmware.elf": "old", "obj/old.o": "", "obj/crt/a.o": "same"}
NEW = {"report.json": "new", "firmware.elf": "new", "obj/new.o": "", "obj/crt/a.o": "same"}


def make(folder: Path, files: Mapping[str, str]) -> None:
    """Builds these files, by their paths, into a folder."""
    with locked(folder) as out:
        out.require_pristine()
        with out.replaced() as aside:
            for name, content in files.items():
                (aside / name).parent.mkdir(parents=True, exist_ok=True)
                (aside / name).write_text(content)


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder but the marker, with its content."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MARKER
    }


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    """Mounts a file system; skips the test where that is not allowed."""
    place.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, place], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"only root may mount a file system: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)
