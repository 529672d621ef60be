"""`flash`: a program into a board, with one of the runners."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.api.programs import AnyProgram, BoardProgram, program_of
from mcu_deploy.device.line.ports import ports_of
from mcu_deploy.errors import RequestError
from mcu_deploy.options.means import Flasher
from mcu_deploy.runners import running
from mcu_deploy.runners.choosing import Chosen, choose
from mcu_deploy.runners.interface import FlashJob

_ANY = Flasher()


@dataclass(frozen=True)
class Flashing:
    """What was run, or would be: the runner and why it, its version, its command lines."""

    runner: str
    reason: str
    version: str
    lines: tuple[tuple[str, ...], ...]

    def as_json(self) -> dict[str, object]:
        return {
            "runner": self.runner,
            "reason": self.reason,
            "version": self.version,
            "commands": [list(line) for line in self.lines],
        }


def flash(program: AnyProgram, flasher: Flasher = _ANY) -> Flashing:
    """Puts a program, or the firmware of a build folder, into the board it is for, and starts it.

    Errors: see `choose` and `run` of the runners.
    """
    opened = program_of(program)
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as scratch:
        chosen = _choose(opened, flasher, only_installed=True)
        if flasher.probe is None and chosen.runner.first_probe:
            _require_one_board(opened, chosen)
        lines = _lines(opened, chosen, Path(scratch), flasher)
        running.run(chosen, lines)
        return Flashing(chosen.runner.name, chosen.reason, running.version(chosen), lines)


def plan_flash(program: AnyProgram, scratch: Path, flasher: Flasher) -> Flashing:
    """What `flash` would run, whether or not the tool is installed; the files that the tool reads
    are written to `scratch`, and stay there."""
    opened = program_of(program)
    chosen = _choose(opened, flasher, only_installed=False)
    return Flashing(chosen.runner.name, chosen.reason, "", _lines(opened, chosen, scratch, flasher))


def _choose(program: BoardProgram, flasher: Flasher, *, only_installed: bool) -> Chosen:
    board = program.board
    return choose(board.name, board.runners, flasher.runner, only_installed=only_installed)


def _lines(
    program: BoardProgram, chosen: Chosen, scratch: Path, flasher: Flasher
) -> tuple[tuple[str, ...], ...]:
    job = FlashJob(program.elf, program.vectors, chosen.settings, scratch, flasher.probe)
    return chosen.runner.commands(job, chosen.program)


def _require_one_board(program: BoardProgram, chosen: Chosen) -> None:
    """Of two boards the tool would silently take one."""
    found = ports_of(program.board.usb)
    if len({port.serial_number for port in found}) > 1:
        raise RequestError(
            f"Several boards like {program.board.name} are connected: "
            f"{', '.join(map(str, found))}; {chosen.runner.title} would take one of them and not "
            f"say which. Say which with --probe, {chosen.runner.probe}."
        )
