"""QEMU (`qemu-system-arm`): MPS2, MPS3 and netduinoplus2 boards."""

from __future__ import annotations

import contextlib
import functools
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from mcu_deploy.boards import Board
from mcu_deploy.device.emulators.interface import Emulator, EmulatorJob, EmulatorProgram, Launcher
from mcu_deploy.device.emulators.qemu_plugin import plugin
from mcu_deploy.device.emulators.trace import (
    Trace,
    WatchedAddresses,
    is_whole,
    read_events,
    read_histograms,
    read_waits,
)
from mcu_deploy.errors import ToolError
from mcu_deploy.processes.background import ChildProcess
from mcu_deploy.processes.versions import asked_version

TRIED = ("7.2", "8.2")
"""The versions with which the tests ran: those of Debian 12 and Ubuntu 24.04."""

_PROGRAM = "qemu-system-arm"
_START_SECONDS = 20.0
# The plugin says so of a file, which then lacks its end.
_CUT = "cannot write all of it"
# QEMU prints this to stderr when it has read its arguments and waits for the serial line's client.
_WAITING = "waiting for connection on"


class Qemu(Launcher):
    """QEMU as a `Launcher`."""

    def machine(self, board: Board) -> str | None:
        """QEMU's name of the board (`-M`), or None."""
        return board.qemu.machine if board.qemu is not None else None

    def find(self) -> EmulatorProgram:
        """qemu-system-arm on the PATH. ToolError where it is missing."""
        path = shutil.which(_PROGRAM)
        if path is None:
            raise ToolError(
                f"{_PROGRAM} is not on the PATH; install it with `apt-get install qemu-system-arm` "
                "(or `make setup` in the repository)"
            )
        return EmulatorProgram(Path(path), "on the PATH")

    def version(self, program: EmulatorProgram) -> str:
        """See `program_version`."""
        return program_version(program)

    @contextlib.contextmanager
    def start(self, job: EmulatorJob) -> Iterator[Emulator]:
        """Starts QEMU; its machine stands still until the serial line has a client.

        The port is opened here and handed over as a file descriptor: nobody else can take it
        between, and a client may connect at any time from now on.
        """
        assert job.board.qemu is not None
        version = program_version(job.program)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            port = listener.getsockname()[1]
            descriptor = listener.fileno()
            # nodelay: without it small frames wait for each other's acknowledgement. mux: it keeps
            # 32 bytes ahead for a UART that has room for one. Without it QEMU stops watching the
            # socket for each byte, and its threads wake each other to start again.
            chardev = f"socket,id=mcu,fd={descriptor},server=on,wait=on,nodelay=on,mux=on"
            command = [
                *_base_command(job),
                *("-chardev", chardev),
                *(["-serial", "null"] * job.board.qemu.serial),
                *("-serial", "chardev:mcu"),
                *("-echr", "0x100"),  # what a mux takes for a command: no byte
                *job.extra_args,
            ]
            process = ChildProcess("QEMU", command, folder=job.folder, pass_fds=(descriptor,))
        with process:
            # A wrong argument ends QEMU before this point, an unreadable ELF only after it.
            if not process.wait_until(lambda: _WAITING in process.stderr(), _START_SECONDS):
                raise ToolError(
                    f"QEMU did not start {job.elf.name} for {job.board.name}: it {_why(process)}"
                )
            yield Emulator(self, f"socket://127.0.0.1:{port}", version, process)

    def trace(self, job: EmulatorJob, marks: WatchedAddresses, seconds: float) -> Trace:
        """Runs `elf` with the counting plugin, without a serial line, until the marks end it."""
        version = program_version(job.program)
        arguments = [f"file={_escaped(plugin(job.folder))}", "out=events.txt"]
        for name, addresses in (("mark", marks.mark), ("once", marks.once), ("stop", marks.stop)):
            arguments += [f"{name}={address:#x}" for address in addresses]
        arguments += [f"skip={first:#x}-{end:#x}" for first, end in marks.skip]
        if marks.stretches:
            arguments.append("hist=histograms.txt")
        for first, last in marks.stretches:
            arguments += [f"from={first:#x}", f"to={last:#x}"]
        if marks.memories:
            (job.folder / "memories.txt").write_text(marks.memories, encoding="ascii")
            arguments += ["memories=memories.txt", "waits=waits.txt"]
        command = [
            *_base_command(job),
            *("-serial", "none"),
            *("-plugin", ",".join(arguments)),
            *job.extra_args,
        ]
        with ChildProcess("QEMU", command, folder=job.folder) as process:
            finished = process.wait(seconds)
            counting = f"QEMU cannot count {job.elf.name} for {job.board.name}"
            if finished and process.exit_code != 0 and _CUT not in process.stderr():
                raise ToolError(f"{counting}: it {_why(process)}")
        names = ("events.txt", "histograms.txt", "waits.txt")
        asked = (True, bool(marks.stretches), bool(marks.memories))
        files = [job.folder / name for name in names]
        for file, is_asked in zip(files, asked, strict=True):
            if finished and is_asked and not is_whole(file):
                raise ToolError(
                    f"{counting}: {file.name} ends in its middle, as on a full disk. Make room in "
                    f"{job.folder.parent}, or name another folder in TMPDIR."
                )
        events = read_events(files[0])
        if marks.memories:
            events = read_waits(files[2], events)
        return Trace(events, finished, version, read_histograms(files[1]))


EMULATOR = Qemu(
    "qemu",
    "QEMU",
    10,
    "faults where the chip faults, and starts at once",
    counts_addresses=True,
    tried=TRIED,
)


def _base_command(job: EmulatorJob) -> list[str]:
    """QEMU's command line for a board and an ELF, without its serial ports.

    A comma in the name of the ELF would be fine: -kernel takes the rest of the argument as it is.
    """
    assert job.board.qemu is not None
    return [
        str(job.program.path),
        *("-M", job.board.qemu.machine),
        *("-kernel", str(job.elf)),
        *("-display", "none"),
        *("-monitor", "none"),
    ]


def program_version(program: EmulatorProgram) -> str:
    """QEMU's version, such as "7.2.22". ToolError where the program does not run."""
    stat = program.path.stat()
    return _version(program.path, (stat.st_ino, stat.st_size, stat.st_mtime_ns))


@functools.lru_cache(8)
def _version(path: Path, stamp: tuple[int, ...]) -> str:
    """Asked once for each file: the answer takes a twentieth of a second."""
    return asked_version(path, _START_SECONDS)


def _escaped(path: Path) -> str:
    """A path as the value of one of QEMU's comma-separated options."""
    return str(path).replace(",", ",,")


def _why(process: ChildProcess) -> str:
    return process.failure().replace(f"{process.command[0]}: ", "")
