"""Renode: the STM32 boards.

Found as `renode` on the PATH, as the program (or its folder) that $MCU_DEPLOY_RENODE names, or
where renode-run has put it. Renode runs without a window, with its configuration, its history and
its temporary files in a folder of ours, and it downloads nothing: the SVD file that most of its
platforms ask for is left out, so that a machine is the same with and without a network.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.boards import Board
from mcu_deploy.device.emulators.interface import Emulator, EmulatorJob, EmulatorProgram, Launcher
from mcu_deploy.device.emulators.renode_machine import (
    ORIGIN,
    note_marks,
    noted_marks,
    write_machine,
)
from mcu_deploy.device.emulators.trace import Trace, WatchedAddresses, ends
from mcu_deploy.device.line.codes import Provoke
from mcu_deploy.errors import RequestError, ToolError
from mcu_deploy.processes.background import ChildProcess
from mcu_deploy.processes.versions import asked_version

TRIED = ("1.16.1", "its state of 7 May 2026 (2685173e)")
"""The versions with which the tests ran: a release, and a nightly's source."""

RELEASE = TRIED[0]
"""What `make renode` and the pipelines install. A nightly is another one each day."""

PACKAGE = (
    f"https://github.com/renode/renode/releases/download/v{RELEASE}/"
    f"renode-{RELEASE}.linux-portable-dotnet.tar.gz"
)
"""What renode-run installs then, as its README has it."""

_NOT_RAISED = {
    Provoke.BAD_READ: "it reads 0",
    Provoke.BAD_WRITE: "nothing is written",
    Provoke.BAD_JUMP: "Renode itself hangs",
    Provoke.UNALIGNED: "the access is made",
    Provoke.DIVIDE_BY_ZERO: "the quotient is 0",
}

_VARIABLE = "MCU_DEPLOY_RENODE"
_START_SECONDS = 90.0  # 3 s on an idle machine, 7 s on a busy one
_PORT_ATTEMPTS = 5
_READY = "mcu-deploy: the machine is ready"
_ERROR = "There was an error executing command"
# A little virtual time first, for the start-up: bytes that come before the firmware has switched
# its receiver on are lost, as on a chip.
_SERVE = f'emulation RunFor "0.02"\necho "{_READY}"\nstart\n'
_ARGUMENTS = ("--disable-gui", "--plain", "--console", "--hide-log")


class Renode(Launcher):
    """Renode as a `Launcher`."""

    def machine(self, board: Board) -> str | None:
        """The platform description of the board, or None."""
        return board.renode.platform if board.renode is not None else None

    def find(self) -> EmulatorProgram:
        """See `find_renode`."""
        return find_renode()

    def version(self, program: EmulatorProgram) -> str:
        """What `renode --version` says; it writes its settings into a folder of ours."""
        with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as folder:
            ours = {"XDG_CONFIG_HOME": folder, "TMPDIR": folder}
            return asked_version(program.path, _START_SECONDS, {**os.environ, **ours})

    @contextlib.contextmanager
    def start(self, job: EmulatorJob) -> Iterator[Emulator]:
        """Starts Renode with the board. What the firmware sends before there is a client is kept.

        Renode opens the port itself, so it is chosen here and may be taken by somebody else
        before Renode has it; another one is tried then.
        """
        for attempt in range(_PORT_ATTEMPTS):
            port = _free_port()
            _write(job, _SERVE, port)
            with _process(job) as process:
                problem = _wait_until_ready(process)
                if problem is not None:
                    if "in use" in problem and attempt + 1 < _PORT_ATTEMPTS:
                        continue
                    raise ToolError(
                        f"Renode did not start {job.elf.name} for {job.board.name}: {problem}"
                    )
                version = _version(process.stdout())
                yield Emulator(self, f"socket://127.0.0.1:{port}", version, process)
                return

    def trace(self, job: EmulatorJob, marks: WatchedAddresses, seconds: float) -> Trace:
        """Counts with hooks at the marked addresses that note the processor's own counter of
        executed instructions (exact: it does not hold the instruction that is about to run)."""
        if marks.stretches:
            raise RequestError("Renode counts no single addresses. Use QEMU for a histogram.")
        log = job.folder / "events.txt"
        hooks = note_marks(marks, log)
        # Nothing here waits for real time: virtual time may run ahead of it.
        hooks += f'emulation SetAdvanceImmediately true\necho "{_READY}"\nstart\n'
        _write(job, hooks)
        with _process(job) as process:
            problem = _wait_until_ready(process)
            if problem is not None:
                raise ToolError(
                    f"Renode cannot count {job.elf.name} for {job.board.name}: {problem}"
                )
            deadline = time.monotonic() + seconds
            while True:
                events = noted_marks(log)
                if ends(events, marks) or time.monotonic() > deadline:
                    break
                if not process.is_running:
                    raise ToolError(
                        f"Renode stopped counting {job.elf.name}: it {process.failure()}"
                    )
                time.sleep(0.02)
        return Trace(events, ends(events, marks), _version(process.stdout()))


EMULATOR = Renode("renode", "Renode", 20, "knows the chip's peripherals", tried=TRIED)


def not_raised(what: Provoke, board: Board) -> str:
    """What Renode does in the place of a fault with which a chip stops; empty where it has it."""
    if what is Provoke.STACK_OVERFLOW and not board.stack_guard_bytes:
        return "it compares no stack pointer with its limit (PSPLIM), and writes on"
    return _NOT_RAISED.get(what, "")


def find_renode() -> EmulatorProgram:
    """The installed Renode: `renode` on the PATH, $MCU_DEPLOY_RENODE, renode-run's download.

    ToolError, with how to get it, where there is none."""
    if path := shutil.which("renode"):
        return EmulatorProgram(Path(path), "on the PATH")
    if named := os.environ.get(_VARIABLE):
        for candidate in (Path(named), Path(named) / "renode"):
            if _is_program(candidate):
                return EmulatorProgram(candidate.resolve(), f"through ${_VARIABLE}")
        raise ToolError(f"{_VARIABLE} names {named}, which is no program. Let it name renode.")
    for folder in _renode_run_folders(Path.home() / ".config" / "renode"):
        if _is_program(folder / "renode"):
            return EmulatorProgram(folder / "renode", "through renode-run")
    raise ToolError(
        f"Renode is not installed: no renode is on the PATH, {_VARIABLE} is not set, and "
        "renode-run has downloaded none; run `make renode` in the repository, or "
        "`pip install git+https://github.com/antmicro/renode-run` and "
        f"`renode-run install {PACKAGE} --version-override {RELEASE}`"
    )


def _renode_run_folders(settings: Path) -> list[Path]:
    """Where renode-run says that it has put Renode, the default installation first.

    From its source (renode_run/defaults.py, utils.py): since its configuration format 2.0 a file
    renode-run.json with "default" (variant to folder) and "installations" (folder to facts);
    before, a file renode-run.path that holds the folder."""
    found: list[str] = []
    with contextlib.suppress(OSError, ValueError):
        config = json.loads((settings / "renode-run.json").read_text())
        if isinstance(config, dict):
            default, others = config.get("default"), config.get("installations")
            found += [str(v) for v in default.values()] if isinstance(default, dict) else []
            found += [str(k) for k in others] if isinstance(others, dict) else []
    with contextlib.suppress(OSError, ValueError):
        found.append((settings / "renode-run.path").read_text().strip())
    return [Path(folder) for folder in found if folder]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _write(job: EmulatorJob, rest: str, port: int | None = None) -> None:
    """Writes machine.resc, and what it needs, for a Renode that is started in the folder."""
    script = write_machine(job.folder, job.board, job.elf, rest=rest, port=port)
    if job.board.mve:
        shutil.copy(resources.root() / "renode" / "helium.resc", job.folder)
        script.write_text(f"include {ORIGIN}helium.resc\n{script.read_text()}")


def _process(job: EmulatorJob) -> ChildProcess:
    """Renode at work on machine.resc. Its standard input stays open: it ends when that ends."""
    return ChildProcess(
        "Renode",
        [job.program.path, *_ARGUMENTS, *job.extra_args, "machine.resc"],
        folder=job.folder,
        environment={"XDG_CONFIG_HOME": str(job.folder), "TMPDIR": str(job.folder)},
        keep_stdin=True,
    )


def _wait_until_ready(process: ChildProcess) -> str | None:
    """None when the machine runs; else what went wrong."""
    process.wait_until(lambda: _READY in process.stdout() or _error(process), _START_SECONDS)
    if _error(process):
        said = process.stdout().split(_ERROR, 1)[1]
        command, *lines = [line.strip() for line in said.splitlines() if line.strip()]
        if not command.startswith("'python "):  # its text has all that is to be said
            lines.insert(0, command)
        return " ".join(line for line in lines if not line.startswith("("))[:600]
    if _READY not in process.stdout():
        return f"it {process.failure()} ({_START_SECONDS:.0f} s were waited for it)"
    return None


def _error(process: ChildProcess) -> bool:
    """Whether a command of the script failed, and its last line is there."""
    _, found, rest = process.stdout().partition(_ERROR)
    return bool(found) and rest.count("\n") >= 2


def _version(text: str) -> str:
    match = re.search(r"version (\d+(?:\.\d+)+)", text)
    return match.group(1) if match is not None else "of unknown version"
