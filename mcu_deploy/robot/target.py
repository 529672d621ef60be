"""A build in an emulator while a test uses it: its device, its last run, its last fault."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.api.folder import BuildFolder
from mcu_deploy.api.running import explain_fault, explained
from mcu_deploy.compiled import Network
from mcu_deploy.device import Device, DeviceFault, connect
from mcu_deploy.device.counting import count_instructions, read_bench
from mcu_deploy.device.emulators import launcher_named, open_emulator
from mcu_deploy.device.line.transport import Line
from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import Samples
from mcu_deploy.robot.renode import Machine, RenodeServer

_BENCH_SECONDS = 60.0


@dataclass(frozen=True)
class Ran:
    """The samples that a network ran last, and their outputs, [sample][output]."""

    network: Network
    samples: Samples
    outputs: list[list[Array]]


class RobotTarget:
    """A build's firmware in the test's Renode, or in an emulator of its own.

    run_timeout: seconds, in Renode virtual ones, without a sign of life from a run. emulator: the
    name of what runs it. Errors as of `open_emulator` and `Renode.load`.
    """

    def __init__(
        self, folder: BuildFolder, renode: RenodeServer | None, run_timeout: float
    ) -> None:
        self.folder = folder
        self.renode = renode
        self.fault: DeviceFault | None = None
        """What nobody has asked for yet."""
        self.ran: Ran | None = None
        self.emulator = "renode"
        self._run_timeout = run_timeout
        self._line: str | Line
        self._machine: Machine | None = None
        self._device: Device | None = None
        self._restarts = False
        self._instructions: int | None = None
        with ExitStack() as opened:
            if renode is None:
                emulator = opened.enter_context(open_emulator(folder.board, folder.firmware))
                self._line, self.emulator = emulator.url, emulator.launcher.name
            else:
                files = Path(opened.enter_context(temporary_folder()))
                self._machine = renode.load(folder.board, folder.firmware, files)
                self._line = self._machine.line
                opened.callback(self._line.close)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Ends the emulator, unless it is the test's own."""
        with self._opened:
            if self._device is not None:
                self._device.close()

    @contextmanager
    def device(self) -> Iterator[Device]:
        """The device, greeted and ready. A fault ends the block, and is kept; DeviceError where it
        faults before it is ready."""
        with nullcontext() if self.renode is None else self.renode.own_time():
            with explained(self.folder):
                device = self._ready()
            try:
                yield device
            except DeviceFault as fault:
                self.fault, self._restarts = fault, True
                print(self.told(fault))

    def _ready(self) -> Device:
        if self._device is None:
            self._device = connect(
                self._line,
                expect=self.folder.expected(),
                run_timeout=self._run_timeout,
                emulator=launcher_named(self.emulator).title,
            )
        elif self._restarts:
            self._device.await_restart()
        self._restarts = False
        return self._device

    def instructions(self) -> int:
        """Of one inference, counted on bench.elf as `mcu-deploy profile` does."""
        board, path = self.folder.board, self.folder.bench
        if board.is_host:
            raise RequestError(
                "Nothing counts instructions on the host; build for a board of QEMU or Renode."
            )
        if self._instructions is None:
            if self._machine is None:
                self._instructions = count_instructions(board, path).total
            else:
                self._restarts = True
                self._instructions = self._machine.count(read_bench(path), _BENCH_SECONDS).total
        return self._instructions

    def told(self, fault: DeviceFault) -> str:
        """A fault in words: its cause, the function, the layer."""
        return explain_fault(self.folder, fault)

    def require_no_fault(self) -> None:
        """AssertionError where there was a fault that nobody has asked for."""
        if self.fault is not None:
            raise AssertionError(self.told(self.fault))


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A context that removes the folder at its end."""
    return tempfile.TemporaryDirectory(prefix="mcu-deploy-robot-", ignore_cleanup_errors=True)
