"""What an emulator says of a run: when which marked address was executed, and after how many
instructions. `counting` gives the addresses their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Marks:
    """Addresses to watch (of instructions, without the Thumb bit).

    mark: note each execution; once: the same, and the run ends at the second one; stop: the same,
    and the run ends at the first. histogram: also count how often each address is executed from
    the (last) execution of the first address to that of the second."""

    mark: tuple[int, ...]
    once: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()
    histogram: tuple[int, int] | None = None


@dataclass(frozen=True)
class Event:
    """A marked instruction is about to be executed. count: the instructions executed before it
    since the start, leaving out those at marked addresses."""

    address: int
    count: int


@dataclass(frozen=True)
class Trace:
    """The events of a run in their order; finished: whether it ended at a mark, and not because
    its time was up; version: of the emulator; histogram: executions by address, if asked for."""

    events: tuple[Event, ...]
    finished: bool
    version: str
    histogram: Mapping[int, int] | None = None


def read_pairs(path: Path) -> tuple[tuple[int, int], ...]:
    """Reads lines of "<hexadecimal> <decimal>"; none where the file is missing. A last line that
    is not yet whole is left out."""
    if not path.is_file():
        return ()
    lines = path.read_text(errors="replace").split("\n")[:-1]
    pairs = (line.split() for line in lines)
    return tuple((int(pair[0], 16), int(pair[1])) for pair in pairs if len(pair) == 2)


def ends(events: tuple[Event, ...], marks: Marks) -> bool:
    """Whether a run with these events is at its end."""
    seen = [event.address for event in events]
    return any(address in seen for address in marks.stop) or any(
        seen.count(address) > 1 for address in marks.once
    )
