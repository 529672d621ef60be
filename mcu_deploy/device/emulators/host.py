"""The host board: firmware.elf is a program of this machine that serves a loopback TCP port."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from mcu_deploy.boards import Board
from mcu_deploy.device.emulators.interface import Emulator, EmulatorJob, EmulatorProgram, Launcher
from mcu_deploy.device.emulators.trace import Trace, WatchedAddresses
from mcu_deploy.errors import RequestError, ToolError
from mcu_deploy.processes.background import ChildProcess
from mcu_deploy.version import VERSION

_START_SECONDS = 10.0
_PORT_LINE = re.compile(r"^port (\d+)$", re.MULTILINE)


class HostProcess(Launcher):
    """A process of this machine as a `Launcher`. The firmware is started with `--port 0` and
    prints `port N` when it listens."""

    def machine(self, board: Board) -> str | None:
        """Only the host board runs so."""
        return "native" if board.is_host else None

    def find(self) -> EmulatorProgram:
        """There is nothing to be found: the firmware itself is the program."""
        return EmulatorProgram(Path(), "built in")

    def version(self, program: EmulatorProgram) -> str:
        """It is this package's own."""
        return VERSION

    @contextlib.contextmanager
    def start(self, job: EmulatorJob) -> Iterator[Emulator]:
        """Starts the firmware and waits for the line with its port."""
        with ChildProcess(
            "the host firmware", [job.elf, "--port", "0", *job.extra_args], folder=job.folder
        ) as process:
            if not process.wait_until(
                lambda: _PORT_LINE.search(process.stdout()) is not None, _START_SECONDS
            ):
                raise ToolError(
                    f"the host firmware {job.elf} names no port: it {process.failure()}"
                )
            match = _PORT_LINE.search(process.stdout())
            assert match is not None
            yield Emulator(self, f"socket://127.0.0.1:{match.group(1)}", "", process)

    def trace(self, job: EmulatorJob, marks: WatchedAddresses, seconds: float) -> Trace:
        """The machine's own instructions say nothing of a microcontroller: UsageError."""
        raise RequestError(
            "Instructions are counted for microcontrollers only. "
            "Choose an emulated board, such as --board mps2-an386, instead of host."
        )


EMULATOR = HostProcess("host", "a process of this machine", 0, "needs no emulator")
