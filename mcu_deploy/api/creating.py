"""`new`: a small firmware project for a board, to go on from."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy import formats, resources
from mcu_deploy.boards import Board, load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import RequestError, ToolError, UsageError
from mcu_deploy.exports.values import sample_of, sample_values
from mcu_deploy.output.paths import make_folders, remove_empty, resolved, shown, write_files
from mcu_deploy.pipelines.first import installed_from
from mcu_deploy.projects import contents
from mcu_deploy.projects.asked import NO_MODEL, OwnModel
from mcu_deploy.projects.labels import labels_for

# From here on a board has room for the larger example, which needs 38 KB of flash and 10 KB of RAM,
# beside its stacks and the firmware that `build` makes of it, too.
_KWS_FLASH, _KWS_RAM = 64 << 10, 32 << 10


@dataclass(frozen=True)
class Project:
    """What was written: the folder, its files, the emulators that its test can run in, and what is
    left for the user to do. sample, labels: where these are from; no labels for an output without
    classes."""

    path: Path
    board: str
    network: str
    sample: str
    labels: str | None
    files: tuple[str, ...]
    emulators: tuple[str, ...]
    notes: tuple[str, ...]


def new_project(
    directory: str | Path,
    board: str | Path | Board,
    model: str | Path | None = None,
    *,
    data: str | Path | None = None,
    labels: str | Path | None = None,
    name: str | None = None,
) -> Project:
    """Writes a project into a folder that is not there or is empty, whole or not at all.

    model: what the firmware runs; by default one that ships with mcu-deploy and fits the board.
    data: the samples' file whose first one it runs on; a made-up one by default. labels: a text
    with the names of the classes (see `labels_for`). name: of the network.
    Raises RequestError where the folder holds anything, and for the board "host", ToolError where
    it cannot be written, and what
    `compile_model` and `load_samples` do for a model and samples that cannot be used.
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
    subject = subject_for(target, OwnModel(model, data, labels, name))
    files = contents.project_files(real.name, target, subject)
    _write(files, path)
    note = installed_from().note
    return Project(
        path=path,
        board=target.name,
        network=subject.name,
        sample=subject.origin,
        labels=subject.labels.origin if subject.labels else None,
        files=tuple(files),
        emulators=contents.emulators_of(target),
        notes=(note,) if note else (),
    )


def _write(files: Mapping[str, bytes], path: Path) -> None:
    """Writes a folder, whole or not at all. Raises ToolError where that cannot be."""
    real = resolved(path)
    made: list[Path] = []
    try:
        make_folders(real.parent, made)
        with tempfile.TemporaryDirectory(prefix=".mcu-deploy-", dir=real.parent) as scratch:
            aside = Path(scratch, "project")
            write_files(files, aside)
            aside.rename(real)  # an empty folder gives way, and no other
    except BaseException as error:
        remove_empty(made)
        if isinstance(error, OSError):
            raise ToolError(
                f"{shown(path)} cannot be written ({error.strerror}); choose another folder for "
                "the project."
            ) from error
        raise


def subject_for(board: Board, own: OwnModel = NO_MODEL) -> contents.Subject:
    """What a project's firmware runs: the user's model, or an example that fits the board.

    The model is compiled for the board, so that one that cannot be is refused now.
    """
    data = own.data
    if own.model is None:
        if own != NO_MODEL:
            raise UsageError("--data, --labels and --name are those of a model: give --model, too.")
        folder = resources.examples() / _example_for(board)
        (file,) = (f for f in folder.iterdir() if f.stem == "model")
        data, source = folder / "samples.npz", (folder / "SOURCE.md").read_bytes()
    else:
        file, source = Path(own.model), None
    network = compile_model(file, board, name=own.name)
    samples = sample_of(network, data)
    inputs, outputs = sample_values(network, samples)
    given = None if own.labels is None else Path(own.labels)
    return contents.Subject(
        name=network.name,
        suffix=file.suffix.lower(),
        model=formats.self_contained(file),
        source=source,
        inputs=inputs,
        outputs=outputs,
        origin=samples.origin,
        labels=labels_for(file, outputs[0].elements, given) if outputs else None,
    )


def _example_for(board: Board) -> str:
    """Keyword spotting where the board has room for it, else a sine."""
    ram, flash = board.memory_for("data").size, board.memory_for("weights").size
    return "sine" if ram < _KWS_RAM or flash < _KWS_FLASH else "kws"
