"""The Renode in which renode-test runs a test: its monitor, its time, and a serial line in it.

renode-test starts one Renode for all tests and clears it before each; its keywords reach it over
XML-RPC (src/Renode/RobotFrameworkEngine of github.com/renode/renode), and so does this.
"""

from __future__ import annotations

import http.client
import shutil
import time
import xmlrpc.client
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mcu_deploy.boards import Board
from mcu_deploy.device.counting import Bench, Counts
from mcu_deploy.device.emulators.renode_machine import (
    machine_name,
    note_marks,
    noted_marks,
    uart_name,
    write_machine,
)
from mcu_deploy.device.emulators.trace import Trace, ends
from mcu_deploy.device.line.transport import Line
from mcu_deploy.errors import RequestError, ToolError, one_line

_START_SECONDS = 0.02
"""A little virtual time for the start-up: bytes that come before the firmware has switched its
receiver on are lost, as on a chip."""

_FIRST_STEP = 0.0005
_LONGEST_STEP = 0.02
"""Virtual seconds at a time while an answer is waited for."""

_RECEIVED = "serial.bin"


class _Http(xmlrpc.client.Transport):
    """What carries requests; seconds: how long an answer is waited for."""

    seconds = 0.0

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = super().make_connection(host)
        connection.timeout = self.seconds
        if connection.sock is not None:  # of the request before
            connection.sock.settimeout(self.seconds)
        return connection


class RenodeServer:
    """The Renode whose server listens at a port of this machine.

    patience: seconds of real time that a command may take, and that all in one `own_time` may. A
    Renode that does not answer a command by then is ended: where a processor jumps to where there
    is no memory it works for ever, and whoever asks it anything else, as renode-test does after
    each test, waits as long.
    """

    def __init__(self, port: int) -> None:
        self.patience = 300.0
        self._port = port
        self._http = _Http()
        self._server = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{port}/", self._http)
        self._deadline: float | None = None
        self._hung = ""

    def execute(self, command: str, machine: str = "") -> str:
        """Runs a command of Renode's monitor, for the machine of that name if one is given."""
        return self._run("ExecuteCommand", command, *([machine] if machine else []))

    def script(self, path: Path) -> None:
        """Runs a .resc file."""
        self._run("ExecuteScript", str(path))

    def _run(self, keyword: str, *arguments: str) -> str:
        if self._hung:
            raise ToolError(self._hung)
        self._require_time()
        self._http.seconds = self.patience
        try:
            answer: Any = self._server.run_keyword(keyword, list(arguments))
        except TimeoutError:
            _end_server(self._port)
            self._hung = (
                f"Renode has not answered {arguments[0]!r} within {self.patience:g} s of real "
                "time, and was ended: it hangs, as where a processor jumps to where there is no "
                "memory, or this machine is too busy; `Load Model` takes a longer real_timeout."
            )
            raise ToolError(self._hung) from None
        except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
            raise ToolError(
                f"Renode does not answer ({one_line(str(error), 200)}): it has ended, or this is "
                "no test that renode-test runs."
            ) from None
        if answer.get("status") != "PASS":
            said = one_line(str(answer.get("error", "")).strip(), 600)
            raise ToolError(f"Renode refuses {' '.join(arguments)!r}: {said}")
        return str(answer.get("return", ""))

    def _require_time(self) -> None:
        """ToolError where what is done in `own_time` has taken too long."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise ToolError(
                f"What this keyword does in Renode takes longer than {self.patience:g} s of real "
                "time; `Load Model` takes a longer real_timeout."
            )

    def run_for(self, seconds: float) -> None:
        """Lets so much virtual time pass for all machines."""
        self.execute(f'emulation RunFor "{seconds:.6f}"')

    @contextmanager
    def own_time(self) -> Iterator[None]:
        """Inside of it virtual time passes in `run_for` alone, as fast as this machine can; an
        emulation that was started goes on behind it."""
        self._deadline = time.monotonic() + self.patience
        was_started = "True" in self.execute("emulation IsStarted")
        if was_started:
            self.execute("pause")
        self.execute("emulation SetAdvanceImmediately true")
        try:
            yield
        finally:
            self._deadline = None
            with suppress(ToolError):  # what failed inside says more
                self.execute("emulation SetAdvanceImmediately false")
                if was_started:
                    self.execute("start")

    def load(self, board: Board, elf: Path, folder: Path) -> Machine:
        """Makes the board's machine with a firmware in it, and nothing of it runs yet. folder: for
        files that live as long."""
        if board.renode is None:
            raise RequestError(
                f"Renode has no machine for board {board.name}; `mcu-deploy boards` lists those "
                "that it has, and plain `robot` runs the boards of QEMU."
            )
        log = f"{uart_name(board)} CreateFileBackend $ORIGIN/{_RECEIVED} true\n"
        try:
            self.script(write_machine(folder, board, elf, rest=log))
        except ToolError as error:
            if "name is already taken" not in str(error):
                raise
            raise RequestError(
                f"Renode has a machine for {board.name} already: a test loads a board once, or "
                "clears Renode with `Reset Emulation` before it does so again."
            ) from None
        return Machine(self, board, folder)


class Machine:
    """A board's machine in the test's Renode. line: its serial port."""

    def __init__(self, renode: RenodeServer, board: Board, folder: Path) -> None:
        self._renode, self._board, self._folder = renode, board, folder
        self._name = machine_name(board)
        self.line: Line = _SerialLine(renode, self._name, uart_name(board), folder / _RECEIVED)

    def count(self, bench: Bench, seconds: float) -> Counts:
        """Counts the instructions of a bench.elf, for which it takes the firmware's place; then the
        machine is reset, and the firmware starts anew.

        (A machine of its own would have to go again, and Renode 1.16.1 crashes where it saves what
        machines were removed from, as renode-test does after each test that fails.) seconds: of
        virtual time, at most."""
        log = self._folder / "events.txt"
        log.unlink(missing_ok=True)
        shutil.copyfile(bench.elf, self._folder / "bench.elf")
        hooked = (*bench.marks.mark, *bench.marks.once, *bench.marks.stop)
        with self._renode.own_time():
            self._restart("bench.elf", note_marks(bench.marks, log))
            spent = 0.0
            while not ends(noted_marks(log), bench.marks) and spent < seconds:
                self._renode.run_for(_LONGEST_STEP)
                spent += _LONGEST_STEP
            unhook = "".join(f"cpu RemoveHooksAt {address:#x}\n" for address in hooked)
            self._restart("firmware.elf", unhook)
        events = noted_marks(log)
        trace = Trace(events, ends(events, bench.marks), "")
        return bench.counts(trace, self._board, "renode", "RenodeServer", seconds)

    def _restart(self, elf: str, more: str) -> None:
        """Resets the machine, with another program of its folder in it."""
        script = self._folder / "restart.resc"
        script.write_text(f'mach set "{self._name}"\n$elf=$ORIGIN/{elf}\nmachine Reset\n{more}')
        self._renode.script(script)


class _SerialLine(Line):
    """A serial port inside of Renode: bytes go to its model at once, and come by a file.

    Its clock is virtual time, which passes only while an answer is waited for: a run is the same
    each time, however busy this machine is.
    """

    emulator = "RenodeServer"

    def __init__(self, renode: RenodeServer, machine: str, uart: str, received: Path) -> None:
        self.url = f"{uart} of {machine} in Renode"
        self.baud = 115200
        self._renode, self._machine, self._uart = renode, machine, uart
        self._received, self._read = received, 0
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def read(self, timeout: float) -> bytes:
        if not self._now:
            self._pass(_START_SECONDS)
        deadline, step = self._now + timeout, _FIRST_STEP
        while not (data := self._new()) and self._now < deadline:
            self._pass(step)
            step = min(2 * step, _LONGEST_STEP)
        return data

    def _new(self) -> bytes:
        """What has come since it was asked last."""
        with self._received.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        self._read += len(data)
        return data

    def write(self, data: bytes) -> None:
        if not self._now:
            self._pass(_START_SECONDS)
        receive = f"self.Machine['{self._uart}'].WriteChar"
        self._renode.execute(
            f"python \"for byte in bytearray.fromhex('{data.hex()}'): {receive}(byte)\"",
            self._machine,
        )

    def reopen(self, patience: float) -> None:
        """It cannot be closed from the other end."""

    def close(self) -> None:
        """There is nothing to close: after an error the same line goes on."""

    def _pass(self, seconds: float) -> None:
        self._renode.run_for(seconds)
        self._now += seconds


def _end_server(port: int) -> None:
    """Ends the process that listens at a port of this machine, if the system says which it is."""
    import psutil  # renode-test imports it, too

    with suppress(psutil.Error):
        for found in psutil.net_connections("tcp"):
            here = found.laddr and found.laddr.port == port
            if here and found.status == psutil.CONN_LISTEN and found.pid is not None:
                psutil.Process(found.pid).kill()
