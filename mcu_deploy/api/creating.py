"""`new`: a small firmware project for a board, to go on from."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.boards import Board, load_board
from mcu_deploy.errors import RequestError
from mcu_deploy.output.paths import make_folders, remove_empty, resolved, shown
from mcu_deploy.pipelines.first import installed_from
from mcu_deploy.projects import contents


@dataclass(frozen=True)
class Project:
    """What was written: the folder, its files, the emulators that its test can run in, and what is
    left for the user to do."""

    path: Path
    board: str
    files: tuple[str, ...]
    emulators: tuple[str, ...]
    notes: tuple[str, ...]


def new_project(directory: str | Path, board: str | Path | Board) -> Project:
    """Writes a project into a folder that is not there or is empty, whole or not at all.

    Raises RequestError where the folder holds anything, and for the board "host".
    """
    path = Path(directory)
    target = board if isinstance(board, Board) else load_board(board)
    if target.is_host:
        raise RequestError(
            "A firmware project is for a microcontroller, and --board host is this machine. "
            "`mcu-deploy boards` lists the others."
        )
    real = resolved(path)
    if os.path.lexists(real) and not (real.is_dir() and next(real.iterdir(), None) is None):
        raise RequestError(
            f"{shown(path)} is there already, and not empty. Choose another folder for the project."
        )
    files = contents.project_files(real.name, target)
    made: list[Path] = []
    make_folders(real.parent, made)
    aside = Path(tempfile.mkdtemp(prefix=f".{real.name}.", dir=real.parent))
    try:
        for name, content in files.items():
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).write_bytes(content)
        aside.chmod(0o777 & ~_umask())
        aside.rename(real)  # an empty folder gives way, and no other
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        remove_empty(made)
        raise
    note = installed_from().note
    return Project(
        path, target.name, tuple(files), contents.emulators_of(target), (note,) if note else ()
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
