"""Which files a build has read, in the form that Make and Ninja take: `build --depfile`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mcu_deploy import formats
from mcu_deploy.api.building import Build
from mcu_deploy.boards import Board
from mcu_deploy.output import write_file


def write_depfile(path: Path, built: Build) -> None:
    """A rule without a command: the objects of a build depend on what is the user's of its input.

    That is models, their files of data, measured costs, and the board file with what it names; what
    comes with mcu-deploy changes with its version alone.
    """
    files: list[Path] = []
    for network in (each.network for each in built.networks):
        files += [network.model, *formats.data_files(network.model)]
        files += [network.measured.file] if network.measured.file else []
    if isinstance(built.board, Board) and not built.board.document.is_shipped:
        files += [*built.board.document.read, *built.board.document.files]
    objects = _listed(network.object for network in built.networks)
    write_file(path, f"{objects}: {_listed(dict.fromkeys(files))}\n".encode())


def _listed(files: Iterable[Path]) -> str:
    return " ".join(map(_escaped, files))


def _escaped(file: Path) -> str:
    text = str(file.absolute()).replace("$", "$$")
    return text.replace(" ", "\\ ").replace("#", "\\#")
