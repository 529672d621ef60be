"""Small builds: folder operations alone, no compiler."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

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
