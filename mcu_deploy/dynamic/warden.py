"""The warden of a worker: a process that forks it, watches it, and ends what it leaves behind.

It exists because a session may have threads, which must not fork, and because only its parent
learns how a process ended, and finds what it has started. It keeps the last bytes that the worker
prints. When the worker has ended, or the session asks for its end by any packet on the control
socket, all that it started is killed, and one packet tells the session how it ended: {"status":
wait status, "killed": whether it was asked for, "said": the last output}.

When the session closes the control socket, however that happens, the worker ends too. Runs as a
program of its own: the standard library only, and of that what is quick to import (no pathlib).
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

from .worker import serve_shared_object

KEPT_OUTPUT = 500
WORKER_SOCKET = 3
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None)


def main(end: int, control: int, memory: int, *program: str) -> None:
    """Forks the worker whose socket is `end`, and watches it.

    memory: what it may take, and of what size a file that it writes. program: what it executes,
    with the number of its socket as the last argument; none: the loader of shared objects.
    """
    # whatever the worker leaves behind becomes a child of ours, and is found at its end
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    session, warden = os.getppid(), os.getpid()
    pipe, output = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become_worker(warden, end, output, list(program), memory)
    os.close(output)
    os.close(end)
    os.set_blocking(pipe, False)
    said, killed = _watch(pid, pipe, control, session)
    status = _end(pid)
    said = _drained(pipe, said)[0]
    report = {"status": status, "killed": killed, "said": said.decode("utf-8", "replace")}
    with contextlib.suppress(OSError):
        socket.socket(fileno=control).send(json.dumps(report).encode())
    os._exit(0)  # the session waits: nothing is here to be tidied up


def _watch(pid: int, pipe: int, control: int, session: int) -> tuple[bytes, bool]:
    """What the worker said last, and whether its end was asked for."""
    said, poll = b"", select.poll()
    for descriptor in (pipe, control):
        poll.register(descriptor, select.POLLIN)
    waits = 100
    with contextlib.suppress(OSError):  # no pidfd: its end is seen a little later
        poll.register(os.pidfd_open(pid), select.POLLIN)
        waits = 2000
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        ready = [descriptor for descriptor, _ in poll.poll(waits)]
        if pipe in ready:
            said, is_open = _drained(pipe, said)
            if not is_open:
                poll.unregister(pipe)
        # a forked copy of the session may hold its socket open, unlike the parent
        if control in ready or os.getppid() != session:
            with contextlib.suppress(OSError):
                os.read(control, 16)  # what is left unread would take our answer with it
            return said, True
    return said, False


def _drained(pipe: int, said: bytes) -> tuple[bytes, bool]:
    """The end of what was said so far, with what is in the pipe; False: nothing more can come."""
    while True:
        try:
            text = os.read(pipe, 1 << 16)
        except BlockingIOError:
            return said, True
        said = (said + text)[-KEPT_OUTPUT:]
        if len(text) < 1 << 16:
            return said, bool(text)


def _end(pid: int) -> int:
    """Kills the worker and what it has started; its wait status."""
    for kill in (os.killpg, os.kill):
        # not reaped yet, so the number is still that of its group
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    for _ in range(100):  # what left its process group; it may still be forking
        orphans = _own_children()
        for orphan in orphans:
            with contextlib.suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)
        if not orphans:
            break
    return status


def _become_worker(warden: int, end: int, output: int, program: list[str], memory: int) -> None:
    """Runs in the forked process, and never returns."""
    try:
        os.setsid()
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != warden:
            os._exit(0)
        _no_core_files()
        _limit(resource.RLIMIT_DATA, memory)
        _limit(resource.RLIMIT_FSIZE, memory)
        _first_to_go()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, number in ((nothing, 0), (output, 1), (output, 2), (end, WORKER_SOCKET)):
            os.dup2(descriptor, number)
        os.set_inheritable(WORKER_SOCKET, bool(program))
        os.closerange(WORKER_SOCKET + 1, os.sysconf("SC_OPEN_MAX"))
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if program:
            os.execv(program[0], [*program, str(WORKER_SOCKET)])
        gc.disable()  # what came from the warden is never garbage here
        serve_shared_object(socket.socket(fileno=WORKER_SOCKET))
        os._exit(0)
    except BaseException as error:
        with contextlib.suppress(BaseException):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(70)


def _own_children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123
            return [int(number) for number in file.read().split()]
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
    path = "/proc/self/oom_score_adj"
    with contextlib.suppress(OSError), open(path, "w") as file:  # noqa: PTH123
        file.write("1000")
