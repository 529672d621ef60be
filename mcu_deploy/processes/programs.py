"""Programs that are run to their end: each with a limit in time and memory, none outlives us.

A compiler can be fed with text that it never ends with, or that fills the machine. Whatever a
program starts is ended with it: it has a process group of its own, which is killed when the limit
is reached or we are interrupted, and the kernel ends the program when we die (`setpriv
--pdeathsig`; a CPU limit bounds what it leaves behind). Programs that run beside us:
`background.py`, with the same limits of memory.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mcu_deploy.errors import ToolError, UsageError

SECONDS_VARIABLE = "MCU_DEPLOY_CHILD_SECONDS"
MEMORY_VARIABLE = "MCU_DEPLOY_CHILD_MEMORY"
_SECONDS = 600
_MEGABYTES = 4096
_MOST_OUTPUT = 256 << 20
_LOOK_SECONDS = 0.2  # between two looks, where nothing tells of a child's end
# What gcc, as, ld, Python and C++ say when an allocation fails, and of a compiler's inner programs
# that were ended by a signal: never quoted from a source, which stands behind "file:line:".
_NO_MEMORY = re.compile(
    r"^(?:[^\s:]+: )?(?:fatal error: |Fatal error: |internal compiler error: )?"
    r"(?:out of memory|virtual memory exhausted|memory exhausted|\S*MemoryError|.*std::bad_alloc"
    r"|(?:can't|cannot|unable to) allocate|Killed signal)",
    re.MULTILINE | re.IGNORECASE,
)
_TOO_LARGE = re.compile(r"^\S+: .*File size limit exceeded", re.MULTILINE)


@dataclass(frozen=True)
class Limits:
    """What a child may take: seconds (a program of real time, a call of processor time), and bytes
    of memory, and of each file that a program writes."""

    seconds: float
    memory_bytes: int

    @classmethod
    def standard(cls) -> Limits:
        """10 minutes and 4,096 MB, or what the environment says. UsageError where that is no
        number."""
        return cls(
            _number(SECONDS_VARIABLE, _SECONDS),
            int(_number(MEMORY_VARIABLE, _MEGABYTES) * (1 << 20)),
        )


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code (negative: a signal's number), and what it printed.

    exhausted: what it ran out of, a clause such as "took longer than 600 seconds ..."; "" for one
    that ended within its limits. Its exit code is never 0 then.
    """

    returncode: int
    output: bytes
    errors: bytes
    exhausted: str = ""

    @property
    def stdout(self) -> str:
        return self.output.decode(errors="replace")

    @property
    def stderr(self) -> str:
        return self.errors.decode(errors="replace")


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
    memory_bytes: int | None = None,
    given: bytes = b"",
) -> Ended:
    """Runs a program to its end, and returns what it printed.

    environment: the whole of it, by default ours. seconds, memory_bytes: in place of the standard
    limits. given: its standard input. Raises ToolError where it cannot be started.
    """
    standard = Limits.standard()
    limits = Limits(
        standard.seconds if seconds is None else seconds,
        standard.memory_bytes if memory_bytes is None else memory_bytes,
    )
    with _source(given) as source:
        process = start(
            str(command[0]), command, limits.memory_bytes, math.ceil(limits.seconds) + 60,
            cwd=cwd, env=environment, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        with process.stdout as out, process.stderr as err:
            try:
                output, errors, in_time = _collect(process, out, err, limits.seconds)
            finally:
                end_group(process)
    exhausted = _exhausted(process.returncode, output, errors, limits, in_time)
    code = process.returncode or (-signal.SIGKILL if exhausted else 0)
    return Ended(code, output, errors, exhausted)


def start(
    called: str,
    command: Sequence[str | Path],
    memory_bytes: int,
    cpu_seconds: int | None = None,
    **options: Any,
) -> subprocess.Popen[bytes]:
    """Starts a program with limits, in a process group of its own, which our thread's end ends.

    called: how a message calls it. cpu_seconds: of each of its processes; None: none. options: of
    Popen. Raises ToolError where it cannot be started.
    """
    if shutil.which(str(command[0])) is None:
        raise ToolError(f"{called} cannot be started: there is no program {command[0]}.")
    line = _limited(command, memory_bytes, cpu_seconds)
    try:
        return subprocess.Popen(line, start_new_session=True, **options)
    except OSError as error:
        raise ToolError(f"{called} cannot be started ({error.strerror}).") from error


def _limited(
    command: Sequence[str | Path], memory_bytes: int, cpu_seconds: int | None
) -> list[str]:
    """The command line that runs `command` with limits; what is limited already stays as it is."""
    limits = [
        ("-d", resource.RLIMIT_DATA, memory_bytes, 1024),
        ("-f", resource.RLIMIT_FSIZE, memory_bytes, 512),
    ]
    if cpu_seconds is not None:
        limits.append(("-t", resource.RLIMIT_CPU, cpu_seconds, 1))
    words = [f"ulimit {o} {at_most(kind, value) // unit}" for o, kind, value, unit in limits]
    setpriv = shutil.which("setpriv")
    wrapper = "" if setpriv is None else f"{setpriv} --pdeathsig KILL -- "
    script = "; ".join([*words, f'exec {wrapper}"$@"'])
    return ["/bin/sh", "-c", script, "sh", *(str(part) for part in command)]


def gcc_wrapper() -> list[str]:
    """The option by which gcc's inner programs (cc1, as) end with gcc itself, where we die."""
    setpriv = shutil.which("setpriv")
    return [] if setpriv is None else ["-wrapper", f"{setpriv},--pdeathsig,KILL,--"]


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a child that leads its process group, with all that is in the group."""
    # Reaped or not: the number is its group's as long as somebody is in it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _source(given: bytes) -> IO[bytes]:
    """A file in memory, which no full disk cuts short."""
    file = os.fdopen(os.memfd_create("given"), "w+b")
    file.write(given)
    file.seek(0)
    return file


def _collect(
    process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes], seconds: float
) -> tuple[bytes, bytes, bool]:
    """What a child prints until it ends, and whether it does so in time and within the limit.

    Through pipes: of a file on a full disk a program may see no error, and its output would be cut
    short. The child's end counts, not the pipes': what it leaves behind may hold these for ever. It
    is not reaped here.
    """
    pieces: dict[int, list[bytes]] = {out.fileno(): [], err.fileno(): []}
    room = dict.fromkeys(pieces, _MOST_OUTPUT + 1)
    for pipe in pieces:
        os.set_blocking(pipe, False)

    def take(pipe: int) -> bool:
        """Whether there was something."""
        with contextlib.suppress(BlockingIOError):
            piece = os.read(pipe, 1 << 20)
            pieces[pipe].append(piece[: room[pipe]])
            room[pipe] -= len(pieces[pipe][-1])
            return bool(piece)
        return False

    deadline = time.monotonic() + seconds
    has_ended = False
    poll = select.poll()
    for pipe in pieces:
        poll.register(pipe, select.POLLIN)
    with _end_of(process, poll) as is_over:
        while not has_ended and all(room.values()) and (left := deadline - time.monotonic()) > 0:
            ready = {descriptor for descriptor, _ in poll.poll(min(left, _LOOK_SECONDS) * 1000)}
            has_ended = is_over(ready)
            for pipe in pieces.keys() & ready:
                if not take(pipe) and not has_ended:
                    poll.unregister(pipe)  # closed
        for pipe in pieces:
            while has_ended and room[pipe] and take(pipe):
                pass
    output, errors = (b"".join(pieces[pipe]) for pipe in (out.fileno(), err.fileno()))
    return output, errors, has_ended or not all(room.values())


@contextlib.contextmanager
def _end_of(
    process: subprocess.Popen[bytes], poll: select.poll
) -> Iterator[Callable[[Container[int]], bool]]:
    """Tells of the descriptors that are ready whether the child has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # a sandbox that knows no pidfd: subprocess looks, and reaps
        yield lambda _: process.poll() is not None
        return
    poll.register(descriptor, select.POLLIN)
    try:
        yield lambda ready: descriptor in ready
    finally:
        os.close(descriptor)


def _exhausted(code: int, output: bytes, errors: bytes, limits: Limits, in_time: bool) -> str:
    if not in_time:
        return (
            f"took longer than {limits.seconds:g} seconds and was ended "
            f"({SECONDS_VARIABLE} sets the limit)"
        )
    if max(len(output), len(errors)) > _MOST_OUTPUT:
        return f"printed more than {_MOST_OUTPUT >> 20} MB"
    if code == 0:
        return ""
    said = errors[-4000:].decode(errors="replace")
    if code == -signal.SIGXFSZ or _TOO_LARGE.search(said):
        what = "wrote a file of"
    elif code == -signal.SIGKILL or _NO_MEMORY.search(said):
        what = "needs"
    else:
        return ""
    size = f"{limits.memory_bytes >> 20:,} MB" + ("" if what.startswith("wrote") else " of memory")
    return f"{what} more than {size}, or than there is ({MEMORY_VARIABLE} sets the limit, in MB)"


def at_most(kind: int, value: int) -> int:
    """A limit that may be set: a lower one that holds for us can only be kept."""
    _, hard = resource.getrlimit(kind)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _number(variable: str, standard: float) -> float:
    text = os.environ.get(variable, "")
    if not text.strip():
        return standard
    with contextlib.suppress(ValueError):
        number = float(text)
        if 0 < number < 1e9:
            return number
    raise UsageError(f"{variable} is {text!r}; give a number above 0, or unset it.")


def signal_name(number: int) -> str:
    """SIGSEGV of 11; "signal 99" of one that has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
