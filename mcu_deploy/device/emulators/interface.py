"""One interface for all that can run a firmware without a board.

    with open_emulator(board, elf) as emulator:
        with connect(emulator.url) as device: ...

A module of this package that has a value `EMULATOR` (a `Launcher`) is an emulator; adding the file
is all that adding one takes. Which of them runs a board is decided by `choose_emulator`, and is a
value with its reason in words.
"""

from __future__ import annotations

import contextlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.boards import Board
from mcu_deploy.device.emulators.trace import Trace, WatchedAddresses
from mcu_deploy.discovery import modules
from mcu_deploy.errors import DeviceError, RequestError, ToolError, UsageError
from mcu_deploy.processes.background import ChildProcess


@dataclass(frozen=True)
class EmulatorProgram:
    """An emulator's program. `found` says where: "on the PATH", "through renode-run", ..."""

    path: Path
    found: str


@dataclass(frozen=True)
class EmulatorJob:
    """What an emulator is to run: its program, the firmware of a board, more arguments for its
    command line, and a folder for temporary files."""

    board: Board
    elf: Path
    program: EmulatorProgram
    extra_args: tuple[str, ...]
    folder: Path


@dataclass(frozen=True)
class Launcher(ABC):
    """What an emulator's module gives as EMULATOR.

    name: how the command line calls it (`qemu`); title: how a sentence calls it (`QEMU`). Where
    several can run a board, the lowest rank is taken; merit: why, as the end of a sentence.
    counts_addresses: whether `trace` tells how often each address was executed. tried: the versions
    with which the tests ran, the oldest first.
    """

    name: str
    title: str
    rank: int
    merit: str
    counts_addresses: bool = False
    tried: tuple[str, ...] = ()

    @abstractmethod
    def machine(self, board: Board) -> str | None:
        """What it calls the board; None where it has no such machine."""

    @abstractmethod
    def find(self) -> EmulatorProgram:
        """The installed program. ToolError, with how to get it, where there is none."""

    @abstractmethod
    def version(self, program: EmulatorProgram) -> str:
        """What the program says of its version, such as "7.2.22". ToolError where it does not run,
        or does not end in time."""

    @abstractmethod
    def start(self, job: EmulatorJob) -> AbstractContextManager[Emulator]:
        """Runs the firmware until the context ends. The serial line waits at `url` for one client;
        no byte that the firmware sends before that is lost."""

    @abstractmethod
    def trace(self, job: EmulatorJob, marks: WatchedAddresses, seconds: float) -> Trace:
        """Runs the firmware until the marks end it, at most `seconds`, and counts its instructions.
        UsageError where the emulator cannot count, or not by address, and stretches are asked."""


@dataclass(frozen=True)
class EmulatorChoice:
    """Which emulator runs a board, and why, in one sentence."""

    launcher: Launcher
    reason: str


@dataclass(frozen=True)
class Emulator:
    """A firmware at work in an emulator.

    url: for pyserial (`socket://127.0.0.1:PORT`); takes one client. version: the emulator's;
    process: what runs."""

    launcher: Launcher
    url: str
    version: str
    process: ChildProcess


def launchers() -> tuple[Launcher, ...]:
    """Every emulator that there is a module for, the preferred ones first."""
    known = (module for _, module in modules("mcu_deploy.device.emulators"))
    found = [module.EMULATOR for module in known if hasattr(module, "EMULATOR")]
    return tuple(sorted(found, key=lambda launcher: (launcher.rank, launcher.name)))


def launchers_for(board: Board) -> tuple[Launcher, ...]:
    """Those that have the board, the preferred ones first."""
    return tuple(launcher for launcher in launchers() if launcher.machine(board) is not None)


def launcher_named(name: str) -> Launcher:
    """The emulator called `name`. UsageError, with the names there are, for any other name."""
    known = launchers()
    for launcher in known:
        if launcher.name == name:
            return launcher
    names = ", ".join(launcher.name for launcher in known)
    raise UsageError(f"There is no emulator called {name!r}; use one of: {names}.")


def choose_emulator(board: Board, requested: str | None = None) -> EmulatorChoice:
    """Which emulator runs `board`, and why.

    A requested one is taken, or UsageError says that it has no such machine. Otherwise it is the
    best that has the board and is installed; where none is, the best that has it (open_emulator
    then says how to get it). UsageError where no emulator has the board at all.
    """
    able = launchers_for(board)
    if requested is not None:
        launcher = launcher_named(requested)
        if launcher.machine(board) is None:
            others = ", ".join(other.name for other in able)
            remedy = f"Use --emulator {others}" if able else "Connect a board and use --port"
            raise RequestError(f"{launcher.title} has no machine for board {board.name}. {remedy}.")
        return EmulatorChoice(launcher, f"{launcher.title}, as asked for")
    if not able:
        raise RequestError(
            f"No emulator has a machine for board {board.name}. Connect a board and use --port."
        )
    best = able[0]
    machine = best.machine(board)
    if len(able) == 1:
        return EmulatorChoice(best, f"{best.title} ({machine}), the only one that has {board.name}")
    for launcher in able:
        try:
            launcher.find()
        except ToolError:
            continue
        if launcher is best:
            others = " and ".join(other.title for other in able[1:])
            return EmulatorChoice(
                best, f"{best.title} ({machine}) rather than {others}: it {best.merit}"
            )
        return EmulatorChoice(launcher, f"{launcher.title}, because {best.title} is not installed")
    return EmulatorChoice(best, f"{best.title} ({machine}), although it is not installed")


@contextlib.contextmanager
def open_emulator(
    board: Board,
    elf: Path,
    *,
    emulator: str | None = None,
    extra_args: Sequence[str] = (),
) -> Iterator[Emulator]:
    """Runs the firmware `elf` for `board` in an emulator (on the host: as a process).

    emulator: "qemu", "renode", ...; None lets `choose_emulator` decide. extra_args: passed on to
    the emulator's command line. When the context ends, the emulator has ended too.

    Errors: UsageError (no such emulator, not for this board, the firmware is no file), ToolError
    (not installed, does not start, ended by itself while in use).
    """
    launcher = choose_emulator(board, emulator).launcher
    elf = elf.resolve()
    if not elf.is_file():
        raise RequestError(f"{elf} is no file. Build the firmware with `mcu-deploy build` first.")
    program = launcher.find()
    with (
        tempfile.TemporaryDirectory(prefix="mcu-deploy-", ignore_cleanup_errors=True) as folder,
        launcher.start(
            EmulatorJob(board, elf, program, tuple(extra_args), Path(folder))
        ) as running,
    ):
        try:
            yield running
        except DeviceError as error:
            # The device's silence has a better explanation where the emulator is gone.
            running.process.wait(0.05)
            if running.process.is_running:
                raise
            raise ToolError(
                f"{launcher.title} {running.process.failure()} while it ran {elf.name}"
            ) from error
