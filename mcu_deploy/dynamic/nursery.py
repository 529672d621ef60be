"""The nursery: a small process that forks the workers of one session, watches and reaps them.

It exists because a fork of it takes a millisecond, where a new interpreter takes thirty, and
because a session may have threads, which must not fork. The session asks over a socket of packets:

- {"start": null, "memory": bytes}: fork a worker for a shared object, which may take so much
  memory, and write files of that size; {"start": [program, argument...], ...}: fork and execute a
  program, with the number of its socket as the last argument. The answer {"pid": ...} carries the
  session's end of the worker's socket, and a pidfd where there are such.
- {"reap": pid, "grace": seconds}: wait so long for the worker's own end, then kill it and all that
  it started. The answer {"status", "killed", "said"} has its wait status, whether it had to be
  killed, and the last bytes that it wrote to its output and errors.

It ends when the session closes the socket, however that happens, and the workers end with it. Runs
as a program of its own: the standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from .worker import serve_shared_object

KEPT_OUTPUT = 500
WORKER_SOCKET = 3
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PACKET = 1 << 17


@dataclass
class _Child:
    """A worker: its process, and the pipe that its output and errors go into."""

    pid: int
    pipe: int
    said: bytes = b""

    def drain(self) -> bool:
        """Takes what is in the pipe and keeps the end of it. False: the pipe is at its end."""
        while True:
            try:
                text = os.read(self.pipe, 1 << 16)
            except BlockingIOError:
                return True
            if not text:
                return False
            self.said = (self.said + text)[-KEPT_OUTPUT:]
            if len(text) < 1 << 16:
                return True


class Nursery:
    """The loop that serves a session."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._libc = ctypes.CDLL(None)
        self._children: dict[int, _Child] = {}
        self._chatty: dict[int, _Child] = {}
        # whatever a worker leaves behind becomes the nursery's child, and is found at its end
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def run(self) -> None:
        """Serves until the session is gone, then ends all workers."""
        parent = os.getppid()
        # the time-out: a forked copy of the session may hold its socket open, unlike the parent
        while os.getppid() == parent:
            control = self._control.fileno()
            ready, _, _ = select.select([control, *self._chatty], [], [], 2.0)
            for descriptor in ready:
                if descriptor != control and not self._chatty[descriptor].drain():
                    del self._chatty[descriptor]
            if control in ready and not self._serve():
                break
        for pid in list(self._children):
            self._reap(pid, 0.0)

    def _serve(self) -> bool:
        try:
            packet = self._control.recv(_PACKET)
        except ConnectionError:
            return False
        if not packet:
            return False
        request = json.loads(packet)
        try:
            if "reap" in request:
                self._answer(self._reap(request["reap"], request["grace"]), [])
            else:
                self._start(request["start"], request["memory"])
        except ConnectionError:
            return False
        except OSError as error:
            self._answer({"error": error.strerror}, [])
        return True

    def _answer(self, answer: dict[str, object], descriptors: list[int]) -> None:
        socket.send_fds(self._control, [json.dumps(answer).encode()], descriptors)

    def _start(self, program: list[str] | None, memory: int) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            pipe, output = os.pipe()
            nursery = os.getpid()
            try:
                pid = os.fork()
                if pid == 0:
                    self._become_worker(nursery, theirs, output, program, memory)
            except OSError:
                os.close(pipe)
                raise
            finally:
                os.close(output)
            os.set_blocking(pipe, False)
            child = self._children[pid] = self._chatty[pipe] = _Child(pid, pipe)
            descriptors = [ours.fileno()]
            with contextlib.suppress(OSError):  # no pidfd: its end shows in the socket only
                descriptors.append(os.pidfd_open(child.pid))
            try:
                self._answer({"pid": pid}, descriptors)
            finally:
                for descriptor in descriptors[1:]:
                    os.close(descriptor)

    def _become_worker(
        self,
        nursery: int,
        end: socket.socket,
        output: int,
        program: list[str] | None,
        memory: int,
    ) -> None:
        """Runs in the forked process, and never returns."""
        try:
            os.setsid()
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != nursery:
                os._exit(0)
            _no_core_files()
            _limit(resource.RLIMIT_DATA, memory)
            _limit(resource.RLIMIT_FSIZE, memory)
            _first_to_go()
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.dup2(end.detach(), WORKER_SOCKET, inheritable=program is not None)
            os.closerange(WORKER_SOCKET + 1, os.sysconf("SC_OPEN_MAX"))
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if program is not None:
                os.execv(program[0], [*program, str(WORKER_SOCKET)])
            gc.disable()  # what came from the nursery is never garbage here
            serve_shared_object(socket.socket(fileno=WORKER_SOCKET))
            os._exit(0)
        except BaseException as error:
            with contextlib.suppress(BaseException):
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(70)

    def _reap(self, pid: int, grace: float) -> dict[str, object]:
        child = self._children.pop(pid)
        killed = not _ends_by_itself(child, grace)
        for kill in (os.killpg, os.kill):
            # not reaped yet, so the number is still that of its group
            with contextlib.suppress(OSError):
                kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        self._end_orphans()
        child.drain()
        self._chatty.pop(child.pipe, None)
        os.close(child.pipe)
        return {"status": status, "killed": killed, "said": child.said.decode("utf-8", "replace")}

    def _end_orphans(self) -> None:
        """Kills what ended workers have left behind outside their process group."""
        for _ in range(100):
            orphans = [pid for pid in _own_children() if pid not in self._children]
            if not orphans:
                return
            for pid in orphans:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _ends_by_itself(child: _Child, grace: float) -> bool:
    """Whether a worker ends within `grace` seconds. Leaves it to be reaped."""
    deadline = time.monotonic() + grace
    at_end = False
    while True:
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return True
        if time.monotonic() >= deadline:
            return False
        # it may be that it cannot end before somebody reads what it writes
        select.select([] if at_end else [child.pipe], [], [], 0.001)
        at_end = at_end or not child.drain()


def _own_children() -> list[int]:
    try:
        return [int(p) for p in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


def _no_core_files() -> None:
    """A crash leaves no core file. 1 byte, not 0: only that keeps a core *program* from running."""
    _limit(resource.RLIMIT_CORE, 1)


def _limit(kind: int, size: int) -> None:
    """Sets a limit, or keeps a lower one that holds already."""
    _, hard = resource.getrlimit(kind)
    size = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(kind, (size, size))


def _first_to_go() -> None:
    """Where memory runs out, the kernel ends the worker and not the user's session."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def main(descriptor: int) -> None:
    """The program: serves the session at the other end of this socket."""
    Nursery(socket.socket(fileno=descriptor)).run()
