"""The session's end of the nursery: starts it, asks for workers, learns how they ended."""

from __future__ import annotations

import array
import contextlib
import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The package's folder stands at the end of sys.path, so that only `dynamic` is found there.
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from dynamic.nursery import main; main(int(sys.argv[2]))"
)
_PACKET = 1 << 17


class NurseryGone(Exception):
    """The nursery was killed or stopped, and its workers with it."""


@dataclass(frozen=True)
class End:
    """How a worker ended: its wait status, whether it had to be killed, what it said last."""

    status: int
    killed: bool
    said: str


class WorkerProcess:
    """A running worker: its process id, our end of its socket, a pidfd where there are such."""

    def __init__(self, pid: int, end: socket.socket, pidfd: int | None) -> None:
        self.pid = pid
        self.end = end
        self.pidfd = pidfd

    @property
    def has_ended(self) -> bool:
        """Whether the process is known to have ended."""
        if self.pidfd is None:
            return False
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Closes what we hold of it. The process itself is the nursery's."""
        self.end.close()
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None


class NurseryClient:
    """A started nursery. seconds: how long it may take to answer; memory_bytes: of each worker."""

    def __init__(self, seconds: float, memory_bytes: int) -> None:
        """Raises OSError where no process can be started."""
        self._memory = memory_bytes
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(seconds)
        home = Path(__file__).resolve().parent.parent
        command = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(home), str(theirs.fileno())]
        try:
            with theirs:
                self._process = subprocess.Popen(
                    command,
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
        except OSError:
            self._control.close()
            raise

    @property
    def pid(self) -> int:
        """The process id of the nursery."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the nursery has not ended."""
        return self._process.poll() is None

    def start(self, program: Sequence[str] | None) -> WorkerProcess:
        """A new worker; `program`: a command in place of the loader of shared objects.

        Raises NurseryGone, and OSError where no process can be started.
        """
        command = None if program is None else list(program)
        answer, descriptors = self._ask({"start": command, "memory": self._memory})
        if "error" in answer:
            raise OSError(answer["error"])
        if not descriptors:  # it was started, but we cannot take its socket
            self.reap(answer["pid"])
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        end = socket.socket(fileno=descriptors[0])
        return WorkerProcess(answer["pid"], end, next(iter(descriptors[1:]), None))

    def reap(self, pid: int, grace: float = 0.0) -> End:
        """Ends a worker that does not end by itself within `grace` seconds. Raises NurseryGone."""
        answer, _ = self._ask({"reap": pid, "grace": grace})
        return End(answer["status"], answer["killed"], answer["said"])

    def close(self) -> None:
        """Ends the nursery and all workers."""
        self._control.close()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def kill(self) -> None:
        """Ends a nursery that does not answer; the kernel ends its workers."""
        self._process.kill()
        self.close()

    def _ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        try:
            self._control.sendall(json.dumps(request).encode())
            packet, descriptors = self._receive()
        except OSError as error:
            raise NurseryGone from error
        try:
            answer = json.loads(packet)
        except ValueError as error:  # an empty packet: the end
            raise NurseryGone from error
        return answer, descriptors

    def _receive(self) -> tuple[bytes, list[int]]:
        """A packet and the file descriptors in it, which children of ours do not inherit."""
        found = array.array("i")
        room = socket.CMSG_SPACE(2 * found.itemsize)
        packet, ancillary, _, _ = self._control.recvmsg(_PACKET, room, socket.MSG_CMSG_CLOEXEC)
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                found.frombytes(data[: len(data) - len(data) % found.itemsize])
        return packet, found.tolist()
