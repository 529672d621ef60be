"""Calls that may crash, never end, or fill the memory, in a forked copy of this process.

The libraries that read other people's files (onnx, onnxruntime, LiteRT) end the process by an
assertion where a file says something that they did not think of. Their calls run in a child: what
goes wrong there is one exception here. It is a net, no prison: the child has our rights.

The fork costs some milliseconds, where a new interpreter that imports onnx takes 300. It is sound
where this process has threads too, as long as `function` stays with Python code, numpy and
libraries that hold Python's lock: nobody else is inside of those at the fork, and the C library
brings its own locks over it. OpenBLAS stops its threads at a fork, and waits for ever for those
that are at work: whoever gives them work, as the interpreter does, holds `no_fork`. Programs that
are run to their end: `programs.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import resource
import select
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TypeVar

from mcu_deploy.errors import ToolError
from mcu_deploy.processes.programs import Limits, at_most

T = TypeVar("T")

no_fork = threading.RLock()

_REAL_SECONDS = 3600  # for a child that waits for ever, which takes no processor time
_PR_SET_PDEATHSIG = 1
_MEMORY_ERROR = 71
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class DidNotReturn(Exception):
    """A call that did not return: a clause, such as "crashed (SIGABRT)"."""


def call(
    function: Callable[..., T],
    *arguments: Any,
    memory_bytes: int = 1 << 30,
    cpu_seconds: int = 120,
) -> T:
    """What `function` returns or raises, which must be something that pickle takes.

    memory_bytes: what it may take beyond what this process has. cpu_seconds: of processor time,
    so that a busy machine does not matter. Raises DidNotReturn.
    """
    limits = Limits(cpu_seconds, memory_bytes)
    reader, writer = os.pipe()
    parent, child, status = os.getpid(), 0, 0
    answer, in_time = b"", False
    try:
        try:
            with _signals_held_back():
                child = _fork()
                if child == 0:
                    _become_child(parent, writer, limits, function, arguments)
        finally:
            os.close(writer)
        answer, in_time = _read(reader, time.monotonic() + _REAL_SECONDS)
    finally:
        os.close(reader)
        if child and not in_time:  # or we are interrupted
            _kill(child)
        if child:
            status = _reap(child, bool(answer))
    if status != 0:
        raise DidNotReturn(_obituary(status, in_time, limits))
    value, error = pickle.loads(answer)
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]


@contextlib.contextmanager
def _signals_held_back() -> Iterator[None]:
    """Handlers of Ctrl-C and of requests to end run when this is left: what they raise in a hook
    that Python calls around a fork it prints and forgets."""
    came: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    if threading.current_thread() is threading.main_thread():  # where handlers run
        for number in _ENDING:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, lambda *call: came.append(call))
    try:
        yield
    finally:
        for held, handler in handlers.items():
            signal.signal(held, handler)
    for signaled, frame in came[:1]:
        handlers[signaled](signaled, frame)


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads
        try:
            with no_fork:  # of the child it is the one thread that there is
                return os.fork()
        except OSError as error:
            raise ToolError(
                f"A model is read in a process of its own, which cannot be started "
                f"({error.strerror}). End other programs, or raise the limit (ulimit -u)."
            ) from error


def _become_child(
    parent: int,
    writer: int,
    limits: Limits,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> NoReturn:
    """Runs in the forked process, and never returns into what the parent was doing."""
    code = 70
    try:
        os.setsid()
        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(code)
        gc.freeze()  # what came from the parent is never garbage here
        _limit(limits)
        _keep_only(writer)
        answer = _answer(function, arguments)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(answer)
        code = 0
    except MemoryError:
        code = _MEMORY_ERROR
    finally:
        os._exit(code)


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """The value and the exception, of which one is None."""
    try:
        return pickle.dumps((function(*arguments), None), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        raise
    except Exception as error:
        return _pickled(error)


def _pickled(error: Exception) -> bytes:
    """An exception without its traceback; not all of C++ or with arguments of their own fit."""
    try:
        made = pickle.dumps((None, error.with_traceback(None)))
        pickle.loads(made)
    except Exception:
        made = pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
    return made


def _limit(limits: Limits) -> None:
    """Limits of this process: memory beyond what it has, processor time, and no core files."""
    taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    for kind, value in (
        (resource.RLIMIT_DATA, taken + limits.memory_bytes),
        (resource.RLIMIT_CPU, int(limits.seconds)),
        (resource.RLIMIT_CORE, 1),  # not 0: only that keeps a core *program* from running
    ):
        # The hard limit stays: at that of processor time the signal would not tell which it was.
        resource.setrlimit(kind, (at_most(kind, value), resource.getrlimit(kind)[1]))
    with contextlib.suppress(OSError):  # where memory runs out, the kernel ends us, not the user
        Path("/proc/self/oom_score_adj").write_text("1000")


def _keep_only(writer: int) -> None:
    """Closes all files but this one; what is printed goes nowhere."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.closerange(3, writer)
    os.closerange(writer + 1, os.sysconf("SC_OPEN_MAX"))


def _read(reader: int, deadline: float) -> tuple[bytes, bool]:
    """What comes until the child closes the pipe, and whether that was in time."""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    parts: list[bytes] = []
    while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        part = os.read(reader, 1 << 20)
        if not part:
            return b"".join(parts), True
        parts.append(part)
    return b"", False


def _reap(child: int, has_answered: bool) -> int:
    try:
        return os.waitpid(child, 0)[1]
    except ChildProcessError:  # a program around us ignores SIGCHLD, or waits for all children
        return 0 if has_answered else signal.SIGKILL


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # the group is there once the child has made it
        with contextlib.suppress(OSError):
            kill(child, signal.SIGKILL)


def _obituary(status: int, in_time: bool, limits: Limits) -> str:
    code = os.waitstatus_to_exitcode(status)
    if not in_time or code == -signal.SIGXCPU:
        return f"took longer than {limits.seconds:g} seconds"
    if code in (_MEMORY_ERROR, -signal.SIGKILL):
        return f"needed more than {limits.memory_bytes >> 20:,} MB of memory"
    return f"crashed ({signal.Signals(-code).name})" if code < 0 else "crashed"
