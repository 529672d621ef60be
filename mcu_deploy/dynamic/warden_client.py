"""A worker's process as the session has it: started, and ended, through its warden."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# The package's folder stands at the end of sys.path, so that only `dynamic` is found there.
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from dynamic.warden import main; main(*map(int, sys.argv[2:5]), *sys.argv[5:])"
)
_PACKET = 1 << 17


@dataclass(frozen=True)
class WorkerEnd:
    """How a worker ended: its wait status, whether it had to be killed, what it said last."""

    status: int
    killed: bool
    said: str


class WorkerProcess:
    """A worker with its warden.

    end: our end of its socket. control: becomes readable when the worker, or the warden, has ended.
    """

    def __init__(self, program: Sequence[str], memory_bytes: int, seconds: float) -> None:
        """program: a command in place of the loader of shared objects. seconds: how long the warden
        may take to answer. Raises OSError where no process can be started."""
        self._seconds = seconds
        self.end, theirs = socket.socketpair()
        try:
            pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            self.end.close()
            theirs.close()
            raise
        self.control, other = pair
        numbers = theirs.fileno(), other.fileno()
        home = Path(__file__).resolve().parent.parent
        words = [str(home), *map(str, numbers), str(memory_bytes), *program]
        try:
            with theirs, other:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _PROGRAM, *words],
                    pass_fds=numbers,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
        except OSError:
            self.end.close()
            self.control.close()
            raise

    @property
    def pid(self) -> int:
        """The process id of the warden, whose child the worker is."""
        return self._process.pid

    def finish(self, grace: float = 0.0) -> WorkerEnd | None:
        """Ends a worker that does not end by itself within `grace` seconds, and its warden.

        None: the warden was killed or stopped, and the worker with it.
        """
        report = self._report(grace) if grace > 0 else None
        if report is None:
            with contextlib.suppress(OSError):  # it has ended, and has said how
                self.control.send(b"end")
            report = self._report(self._seconds)
        self.end.close()
        self.control.close()
        if report is None:
            self._process.kill()
        self._process.wait()
        if not report:
            return None
        found = json.loads(report)
        return WorkerEnd(found["status"], found["killed"], found["said"])

    def _report(self, seconds: float) -> bytes | None:
        """What the warden says, b"" where it is gone, None where it says nothing in time."""
        self.control.settimeout(seconds)
        try:
            return self.control.recv(_PACKET)
        except TimeoutError:
            return None
        except OSError:
            return b""
