"""A build folder, read back: what `run`, `validate` and `profile` need of it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote

from mcu_deploy import formats, report
from mcu_deploy.api.several import options_of
from mcu_deploy.boards import Board, Processor, load_board, load_core
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model, sha256_of
from mcu_deploy.device import ExpectedModel
from mcu_deploy.errors import BoardError, RequestError, UsageError, one_line
from mcu_deploy.files.given import is_file, is_folder
from mcu_deploy.hygiene.images import require_whole
from mcu_deploy.options import Options
from mcu_deploy.output import settle
from mcu_deploy.report import NetworkReport, Report
from mcu_deploy.selection import sizes
from mcu_deploy.session import Session, session_or_own

# What --core takes behind the core's name, and gcc's -mcpu as well.
_LACKING = ("nodsp", "nomve")


@dataclass(frozen=True)
class ObjectFolder:
    """A folder that `build` filled, for a board or for a core alone, and its report."""

    directory: Path
    board: Processor
    report: Report
    _compiled: dict[tuple[str, int | None], Network] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def networks(self) -> tuple[NetworkReport, ...]:
        """What the report says of the networks."""
        return self.report.networks

    def network(self, name: str | None = None) -> NetworkReport:
        """What the report says of a network; without a name of the only one there is."""
        entries = self.networks
        if name is None and len(entries) == 1:
            return entries[0]
        for entry in entries:
            if entry.name == name:
                return entry
        names = ", ".join(e.name for e in entries)
        asked = "Say which with --model" if name is None else f"There is no {name!r}"
        raise RequestError(f"The firmware in {self.directory} holds the networks {names}. {asked}.")

    def compile_again(
        self, name: str, session: Session | None = None, size: int | None = None
    ) -> Network:
        """The network's graph and plan, from the copy of the model that the build kept.

        size: as the network is at that size, where each run decides one. session: with the backends
        of the build; without one they are looked for where the build found them, once. Raises
        UsageError where other backends than then would compute the layers.
        """
        if session is None:
            if (name, size) not in self._compiled:
                with self.session() as own:
                    self._compiled[name, size] = self.compile_again(name, own, size)
            return self._compiled[name, size]
        entry = self.network(name)
        options = self.report.options
        if size is not None:
            options = sizes.for_bound(options).at(size)
        pools = replace(options.pools, taken=entry.pools_taken)
        network = compile_model(
            _there(self.directory / entry.kept_model),
            self.board,
            name=name,
            session=session,
            options=options_of(
                replace(options, pools=pools), name, [e.name for e in self.networks]
            ),
        )
        computed = [step.choice.workload.backend for step in network.plan.steps]
        if size is None and computed != [layer.backend for layer in entry.layers]:
            before = ", ".join(dict.fromkeys(layer.backend for layer in entry.layers))
            raise RequestError(
                f"{self.directory} was built with the backends {before}, and now {name!r} would be "
                f"computed by {', '.join(dict.fromkeys(computed))}. Give the same backends "
                "(--dynamic-backends), or build again."
            )
        return network

    def session(self, given: Session | None = None) -> AbstractContextManager[Session]:
        """The session that was given, or one that looks for backends where the build did."""
        return session_or_own(given, self.report.session)


@dataclass(frozen=True)
class BuildFolder(ObjectFolder):
    """A folder that `build` filled for a board: it has firmware too."""

    board: Board

    @property
    def firmware(self) -> Path:
        """The image with the protocol. Raises UsageError where it is missing or cut off."""
        return require_whole(self.directory / "firmware.elf")

    @property
    def bench(self) -> Path:
        """The image for counting. Raises UsageError where it is missing or cut off."""
        return require_whole(self.directory / "bench.elf")

    def expected(self) -> tuple[ExpectedModel, ...]:
        """What the firmware on the device must say of itself."""
        return tuple(
            ExpectedModel(
                e.name, e.source_sha256, sha256_of(_there(self.directory / f"network_{e.name}.o"))
            )
            for e in self.networks
        )


AnyFolder = BuildFolder | str | os.PathLike[str]
"""A folder that was opened, its path, or what `build` returned, which is a path, too."""


def open_objects(directory: str | os.PathLike[str]) -> ObjectFolder:
    """Reads a build folder, of a board or of a core alone. Raises RequestError where it is none."""
    path = Path(directory).absolute()  # emulators run in folders of their own
    settle(path)
    file = path / "report.json"
    if is_file(path):
        raise RequestError(
            f"{path} is a file, where a build folder is wanted. Make one of a model by "
            "`mcu-deploy build MODEL --board BOARD -o FOLDER`, and give that."
        )
    if not is_file(file):
        raise RequestError(
            f"{path} is no build folder: it has no report.json. Make it one by `mcu-deploy build "
            f"MODEL --board BOARD -o {quote(str(path))}` first."
        )
    try:
        saved = report.read(json.loads(file.read_text(encoding="utf-8")))
        return ObjectFolder(path, _built_for(path, saved), saved)
    except (ValueError, RecursionError, UsageError, BoardError) as error:
        clause = one_line(str(error), 300).rstrip(".")
        raise RequestError(
            f"{file} is not a report of this version of mcu-deploy ({clause}). Build again."
        ) from error


def _built_for(folder: Path, saved: Report) -> Processor:
    if saved.board is not None:
        return load_board(folder / saved.board_file if saved.board_file else saved.board)
    cpus = [flag.partition("=")[2] for flag in saved.cflags if flag.startswith("-mcpu=")]
    lacking = [f"+{word}" for word in "".join(cpus[-1:]).split("+") if word in _LACKING]
    return load_core(saved.core + "".join(lacking), saved.fpu, saved.cflags)


def open_folder(directory: str | os.PathLike[str], board: str | Path | None = None) -> BuildFolder:
    """Reads a build folder with its firmware. Raises RequestError where it is none, has none, or
    was made for another board."""
    folder = open_objects(directory)
    path, saved, built_for = folder.directory, folder.report, folder.board
    if not isinstance(built_for, Board):
        models = " ".join(network.model for network in saved.networks)
        raise RequestError(
            f"{path} holds objects for a {saved.core} and no firmware: nothing that starts it, and "
            "no serial port. Build one for a board with such a core: `mcu-deploy build "
            f"{models} --board BOARD`; `mcu-deploy boards` lists them."
        )
    if board is not None and load_board(board).name != built_for.name:
        raise RequestError(
            f"{path} was built for board {built_for.name}, not {board}. Build it for that board, "
            "or leave --board out."
        )
    return BuildFolder(path, built_for, saved)


def _there(file: Path) -> Path:
    if not is_file(file):
        raise RequestError(f"{file} is not there; build again.")
    return file


def as_folder(folder: AnyFolder) -> BuildFolder:
    """A build folder that was opened already, or the folder of that path."""
    from mcu_deploy.api.building import Build

    if isinstance(folder, BuildFolder):
        return folder
    opened = open_folder(folder)
    # What was just built need not be compiled again, unless another build has taken its place.
    if isinstance(folder, Build) and folder.report.as_json() == opened.report.as_json():
        opened._compiled.update(((b.name, None), b.network) for b in folder.networks)
    return opened


@contextmanager
def folder_for(
    source: str | Path,
    board: str | Path | None,
    *,
    name: str | None = None,
    options: Options | None = None,
    session: Session | None = None,
) -> Iterator[BuildFolder]:
    """A build folder for a model file or a build folder; a model is built in a temporary one.

    options: of a model's build; UsageError where shapes are asked of a folder, which has its own.
    """
    from mcu_deploy.api.building import build

    path = Path(source)
    if is_folder(path):
        if options is not None and options.shapes:
            raise UsageError(
                f"{path} is a build, which has its shapes. Leave --shape out, or build it again."
            )
        yield open_folder(path, board)
        return
    if not path.exists():
        raise RequestError(
            f"There is no {path}, neither a build folder nor a model file. Check the path."
        )
    formats.require_format(path)
    if board is None:
        raise UsageError(f"Say with --board for which board {path} is to be built.")
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as directory:
        yield as_folder(build(path, board, directory, name=name, options=options, session=session))
