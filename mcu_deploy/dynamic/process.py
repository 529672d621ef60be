"""Workers as the session sees them: opened, called, and ended, whatever their backend does.

A worker is a process with one dynamic backend, for the life of the session that loaded it. What
goes wrong in it ends in one exception at the call, and in the end of that process only.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcu_deploy.dynamic import declarations, wire
from mcu_deploy.dynamic.warden_client import WorkerEnd, WorkerProcess
from mcu_deploy.dynamic.wire import Blob, Closed, Declined, Stream, TimedOut, WireError
from mcu_deploy.errors import BackendFault, McuDeployError, one_line
from mcu_deploy.processes.programs import Limits, signal_name

# How long a worker whose socket is at its end may take to end, before it counts as one that lives.
_GRACE = 2.0
# How long a backend may take to free itself.
_FREE_SECONDS = 0.5
_LINES_SAID = 3
_LONGEST = 4000


class LoadError(McuDeployError):
    """A backend that cannot be loaded. reason: a clause that completes "FILE was skipped: ..."."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Broken(Exception):
    """The worker is gone: what it did, without the subject ("crashed in ...")."""


class WorkerPool:
    """The workers of one session."""

    def __init__(self, timeout: float = 10.0, memory_bytes: int | None = None) -> None:
        """timeout: the seconds that a call may take; memory_bytes: that a worker may take, in place
        of the standard limit of children."""
        self.timeout = timeout
        self.memory_bytes = memory_bytes or Limits.standard().memory_bytes
        self.lock = threading.RLock()
        self._workers: list[Worker] = []

    def open(self, path: Path) -> Worker:
        """Loads a shared object in a worker of its own; its factory is not called yet.

        Raises LoadError.
        """
        worker = self.start(path)
        worker.load()
        return worker

    def start(
        self, path: Path, program: Sequence[str] = (), message: Mapping[str, Any] | None = None
    ) -> Worker:
        """Starts a worker, which is to be loaded: several start at the same time.

        program: a command in place of the loader of shared objects. It gets the number of its
        socket as its last argument, and has to answer "load" (with `message`) and what follows like
        `worker.py` does; `path` then says where it comes from. Raises LoadError.
        """
        worker = Worker(self, path, tuple(program), dict(message or {"path": str(path.absolute())}))
        with self.lock:
            worker.start()
            self._workers.append(worker)
        return worker

    def forget(self, worker: Worker) -> None:
        """Takes a worker that was closed off the list."""
        if worker in self._workers:
            self._workers.remove(worker)

    def close(self) -> None:
        """Ends all workers."""
        with self.lock:
            for worker in list(self._workers):
                worker.close()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class Worker:
    """One dynamic backend in its process.

    id, version: what GetBackendId and GetVersion said. methods: the entries of its table that are
    not NULL, known after `create`; description: what `describe` answered, unchecked.
    """

    def __init__(
        self,
        pool: WorkerPool,
        path: Path,
        program: tuple[str, ...],
        message: dict[str, Any],
    ) -> None:
        self.path = path
        self.id = ""
        self.version = (0, 0)
        self.methods: tuple[str, ...] = ()
        self.description: dict[str, Any] = {}
        self._pool = pool
        self._program = program
        self._message = message
        self._process: WorkerProcess | None = None
        self._connection: Stream | None = None
        self._calls = 0
        self._is_created = False
        self._fault: BackendFault | None = None

    @property
    def pid(self) -> int:
        """The process id of its warden, while it is alive."""
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be called: it has not failed, and was not closed."""
        return self._fault is None

    def start(self) -> None:
        """Starts the process, and waits for nothing. Raises LoadError."""
        self._at_load(self._start)

    def load(self) -> None:
        """Loads the backend, and asks for its id and its version. Raises LoadError."""
        with self._pool.lock:
            self._at_load(self._load)
        if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", self.id):
            reason = f"its id {self.id[:80]!r} is not 1 to 64 letters, digits and underscores"
            raise self._not_loaded(reason)

    def create(self) -> None:
        """Makes the backend object by its factory, and asks it to describe itself.

        Raises LoadError.
        """
        with self._pool.lock:
            self._at_load(self._create)
            self._is_created = True

    def call(
        self,
        method: str,
        message: dict[str, Any],
        blobs: Sequence[Blob] = (),
        about: str = "",
    ) -> tuple[dict[str, Any], list[bytearray]]:
        """Calls a method. about: what for, to be told in errors ("the Conv 'conv1'").

        Raises Declined where the method itself says no, and BackendFault where the backend crashes,
        hangs or answers nonsense, and at every call after that.
        """
        with self._pool.lock:
            if self._fault is not None:
                raise self._fault
            what = f"{method} for {about}" if about else method
            try:
                return self._exchange(method, message, blobs, what)
            except _Broken as broken:
                raise self.fault(str(broken)) from None
            except Declined as declined:
                if declined.kind == wire.NONSENSE:
                    raise self.nonsense(what, declined.reason) from None
                raise

    def nonsense(self, what: str, reason: str) -> BackendFault:
        """The exception for an answer that cannot be used; ends the process."""
        return self.fault(f"answered nonsense to {what}: {reason}")

    def fault(self, what: str) -> BackendFault:
        """The exception for a backend that broke its word; ends the process."""
        with self._pool.lock:
            self._end()
            if self._fault is None:
                self._fault = BackendFault.of(self.id, what)
            return self._fault

    def close(self) -> None:
        """Lets the backend free itself, and ends the process."""
        with self._pool.lock:
            if self._process is not None and self._is_created:
                with contextlib.suppress(_Broken, Declined):
                    self._exchange("free", {}, (), "free", min(self._pool.timeout, _FREE_SECONDS))
            self._end()
            self._pool.forget(self)
            if self._fault is None:
                self._fault = BackendFault(self.id, f"The backend {self.id} was unloaded.")

    def _at_load(self, step: Callable[[], None]) -> None:
        try:
            step()
        except _Broken as broken:
            raise self._not_loaded(f"it {broken}") from None
        except Declined as declined:
            raise self._not_loaded(declined.reason) from None

    def _not_loaded(self, reason: str) -> LoadError:
        self.fault(f"was not loaded: {reason}")
        self._pool.forget(self)
        return LoadError(reason)

    def _start(self) -> None:
        seconds = max(1.0, min(self._pool.timeout, 5.0))
        try:
            self._process = WorkerProcess(self._program, self._pool.memory_bytes, seconds)
        except OSError as error:
            raise _Broken(f"got no process of its own: {error.strerror or error}") from error
        self._connection = Stream(self._process.end, self._process.control.fileno())

    def _load(self) -> None:
        if self._program:
            self._exchange("load", self._message, what="its import")
        else:
            self._exchange("load", self._message | declarations.tables(), what="dlopen")
        answer, _ = self._exchange("GetBackendId")
        self.id = str(answer.get("id"))
        answer, _ = self._exchange("GetVersion")
        self.version = _version(answer)

    def _create(self) -> None:
        answer, _ = self._exchange("BackendFactory")
        methods = answer.get("methods")
        if not isinstance(methods, list):
            raise Declined(wire.NONSENSE, "its methods are no list")
        self.methods = tuple(str(name) for name in methods)
        self.description, _ = self._exchange("describe")

    def _exchange(
        self,
        method: str,
        message: dict[str, Any] | None = None,
        blobs: Sequence[Blob] = (),
        what: str = "",
        seconds: float | None = None,
    ) -> tuple[dict[str, Any], list[bytearray]]:
        """One call and its answer. Raises Declined and _Broken."""
        what = what or method
        seconds = self._pool.timeout if seconds is None else seconds
        deadline = time.monotonic() + seconds
        connection = self._connection
        assert connection is not None, "called without a process"
        self._calls += 1
        request = {"method": method, "message": message or {}}
        try:
            connection.send(self._calls, request, blobs, deadline)
            call, reply, out = connection.receive(deadline)
            if call != self._calls:
                raise WireError("the answer is to another call")
            answer = _unpacked(reply)
        except TimedOut:
            self._end()
            raise _Broken(f"did not return from {what} within {seconds:g} seconds") from None
        except WireError as error:
            self._end()
            raise _Broken(f"answered nonsense to {what}: {error}") from None
        except Closed:
            raise _Broken(_obituary(self._end(_GRACE), what)) from None
        handle = answer.pop("handle", None)
        if handle is not None:
            self._exchange("release", {"handle": handle}, what=f"release after {what}")
        return answer, out

    def _end(self, grace: float = 0.0) -> WorkerEnd | None:
        """Ends the process, if there is one. None: nobody can say how it ended."""
        process, self._process, self._connection = self._process, None, None
        return None if process is None else process.finish(grace)


def _unpacked(reply: dict[str, Any]) -> dict[str, Any]:
    """The answer in a reply. Raises Declined for one that was declined."""
    declined, answer = reply.get("declined"), reply.get("answer")
    if isinstance(declined, list) and len(declined) == 2:
        raise Declined(str(declined[0]), one_line(str(declined[1])[:_LONGEST]))
    if not isinstance(answer, dict):
        raise WireError("the answer is empty")
    return answer


def _version(answer: dict[str, Any]) -> tuple[int, int]:
    match answer.get("version"):
        case [int(major), int(minor)]:
            return major, minor
    raise Declined(wire.NONSENSE, "its version is no pair of numbers")


def _obituary(end: WorkerEnd | None, what: str) -> str:
    """How a worker ended by itself: "crashed in describe (SIGSEGV)", and what it said."""
    if end is None:
        return f"ended the process that watches it in {what}"
    if end.killed:
        text = f"closed its connection in {what}"
    elif os.WIFSIGNALED(end.status):
        text = f"crashed in {what} ({signal_name(os.WTERMSIG(end.status))})"
    else:
        text = f"ended its process in {what} with exit({os.waitstatus_to_exitcode(end.status)})"
    said = _essence(end.said)
    return f"{text} and said: {said}" if said else text


def _essence(said: str) -> str:
    """The last lines that a backend printed, on one line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return one_line(" | ".join(lines[-_LINES_SAID:]))
