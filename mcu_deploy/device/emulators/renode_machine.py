"""A board in Renode's own words: the script that makes its machine, and hooks that count.

The same for a Renode that mcu-deploy starts and for one in which a test of the user's runs.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.boards import Board
from mcu_deploy.device.emulators.trace import Event, WatchedAddresses, read_events

ORIGIN = "$ORIGIN/"
"""How a script names the folder that it lies in."""


def write_machine(
    folder: Path, board: Board, elf: Path, *, rest: str = "", port: int | None = None
) -> Path:
    """Writes machine.resc and the files that it names into a folder, and returns it.

    rest: more commands at the end; port: of the serial line, if it is to be a TCP port. Names in
    the script are relative to it, so that no path has to be quoted for Renode.
    """
    assert board.renode is not None
    shipped = resources.root() / "renode"
    (folder / "platform.repl").write_text(platform_text(board))
    shutil.copyfile(elf, folder / "firmware.elf")
    for shared in ("board.resc", "firmware.resc"):
        shutil.copyfile(shipped / shared, folder / shared)
    own = [f"$elf={ORIGIN}firmware.elf", f"$vectors={board.memory_for('vectors').origin:#x}"]
    line = [] if port is None else [f'$uart="{uart_name(board)}"', f"$port={port}"]
    lines = [
        "mach clear",  # a name that is set now is set for all machines
        f'$name="{machine_name(board)}"',
        f"$platform={ORIGIN}platform.repl",
        *own,
        *line,
        f"include {ORIGIN}{'board' if port is None else 'firmware'}.resc",
        _added(board),
        *own,  # for this machine alone: its reset reads them, when others may have been made
    ]
    script = folder / "machine.resc"
    script.write_text("\n".join(lines) + f"\n{rest}")
    return script


def _added(board: Board) -> str:
    """What a board's machine gets only where Renode's platform lacks it, which a platform
    description cannot ask for."""
    script = resources.root() / "renode" / f"{board.name}.added.resc"
    return script.read_text() if _adapted(board) and script.is_file() else ""


def machine_name(board: Board) -> str:
    """What the board's machine is called in Renode."""
    return re.sub(r"[^A-Za-z0-9_]", "_", board.name)


def uart_name(board: Board) -> str:
    """The serial port of the firmware, as Renode's commands name it."""
    assert board.renode is not None
    return f"sysbus.{board.renode.uart}"


def platform_text(board: Board) -> str:
    """The platform description of a board that Renode has; it reaches for nothing but Renode's own
    files, and the user's."""
    assert board.renode is not None
    own = Path(board.renode.platform)
    if own.is_absolute():  # a board of the user's, with its description beside it
        return f'using "{own}"\n'
    if (adapted := _adapted(board)) is not None:
        return adapted
    # Setting "init" anew leaves out the platform's own, which would download an SVD file.
    return (
        f'using "{board.renode.platform}"\n\n'
        'sysbus:\n    init:\n        Tag <0xE0001000, 0xE0001FFF> "DWT"\n'
    )


def _adapted(board: Board) -> str | None:
    """The platform of Renode's as this board has it, or None where it is taken as it is."""
    assert board.renode is not None
    file = resources.root() / "renode" / f"{board.name}.repl"
    text = file.read_text() if file.is_file() else ""
    return text if f'using "{board.renode.platform}"' in text else None


def note_marks(marks: WatchedAddresses, log: Path) -> str:
    """Commands that make a machine write to `log` when a marked instruction is about to run, with
    the processor's own counter of executed instructions (exact: it does not hold this one)."""
    note = (
        f"f = open({str(log)!r}, 'a'); "
        "f.write('%x %d\\n' % (pc, self.ExecutedInstructions)); f.close()"
    )
    return "".join(
        f'cpu AddHook {address:#x} "{note}"\n'
        for address in (*marks.mark, *marks.once, *marks.stop)
    )


def noted_marks(log: Path) -> tuple[Event, ...]:
    """What was written. Renode's counter holds the marked instructions too; here they are left
    out."""
    events = enumerate(read_events(log))
    return tuple(Event(event.address, event.count - earlier) for earlier, event in events)
