"""A program that runs beside us and never outlives us: an emulator, or the host's firmware."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mcu_deploy.processes import programs

_POLL_SECONDS = 0.005


class ChildProcess:
    """A started program. A context manager: leaving it kills the program with all its children.

    Its output and errors go to files in memory: no pipe can fill up and stop it, and no full disk
    swallows its last words. It runs in a session of its own (a Ctrl-C is ours, we end it then), and
    on Linux the kernel kills it when the thread that started it dies, however that happens
    (`setpriv --pdeathsig`). Its memory and the files that it writes have the standard limit of
    `programs`; its time is its user's affair.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        keep_stdin: bool = False,
    ) -> None:
        """Starts `command`. `name` is how messages call it; `environment` is added to ours.

        keep_stdin: give it a pipe as standard input that stays open, for programs that end at the
        end of their input. ToolError: the program cannot be started.
        """
        self.name = name
        self.command = tuple(str(part) for part in command)
        self._stdout = self._file("stdout")
        self._stderr = self._file("stderr")
        self._process = programs.start(
            name,
            self.command,
            programs.Limits.standard().memory_bytes,
            cwd=folder,
            stdin=subprocess.PIPE if keep_stdin else subprocess.DEVNULL,
            stdout=self._stdout,
            stderr=self._stderr,
            env={**os.environ, **(environment or {})},
            pass_fds=tuple(pass_fds),
        )

    def _file(self, name: str) -> int:
        """The descriptor of a file in memory, which is closed with us."""
        descriptor = os.memfd_create(name)
        weakref.finalize(self, os.close, descriptor)
        return descriptor

    @property
    def pid(self) -> int:
        """The process id; also that of its process group."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended yet."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative: the number of the signal that ended it."""
        return self._process.poll()

    def stdout(self) -> str:
        """What it has printed so far."""
        return _text(self._stdout)

    def stderr(self) -> str:
        """What it has complained of so far."""
        return _text(self._stderr)

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Waits until `condition` holds or the program ends, at most `seconds`; tells whether the
        condition held."""
        deadline = time.monotonic() + seconds
        while True:
            running = self.is_running  # first: what it prints at its end must still be seen
            if condition():
                return True
            if not running or time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)

    def wait(self, seconds: float) -> bool:
        """Waits at most `seconds` for the program's own end; tells whether it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return not self.is_running

    def failure(self) -> str:
        """The end of a sentence: how the program ended, and what it said."""
        code = self.exit_code
        if code is None:
            end = "is still running"
        elif code < 0:
            end = f"was ended by {programs.signal_name(-code)}"
        else:
            end = f"ended with exit code {code}"
        said = _essence(self.stderr()) or _essence(self.stdout())
        return f"{end} and said: {said}" if said else f"{end} and said nothing"

    def stop(self) -> None:
        """Kills the program and its children. Harmless when it has already ended."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        programs.end_group(self._process)

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()


def _text(descriptor: int) -> str:
    """What is in a file; its offset, which the writer shares with us, stays where it is."""
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="replace")


def _essence(text: str) -> str:
    """The first lines of what a program said, and its last one: the cause comes first, what it
    led to last, and between may stand pages of registers."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and ": info: " not in line]
    if len(lines) > 4:
        lines = [*lines[:2], "...", lines[-1]]
    return " | ".join(lines)[:800]
