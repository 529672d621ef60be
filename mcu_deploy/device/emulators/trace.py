"""What an emulator says of a run: when which marked address was executed, and after how many
instructions. `counting` gives the addresses their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class WatchedAddresses:
    """Addresses to watch (of instructions, without the Thumb bit).

    mark: note each execution; once: the same, and the run ends at the second one; stop: the same,
    and the run ends at the first. skip: stretches (first address, address after the last) whose
    instructions are not counted, which is where a core idles. stretches: marks (from, to) between
    which it is also counted how often each address is executed, each time: from the last execution
    of a `from` to the first one of a `to` behind it. memories: how the memories answer, for the
    emulator's model of waiting (plugin/memories.h has its lines); "" to have none."""

    mark: tuple[int, ...]
    once: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()
    skip: tuple[tuple[int, int], ...] = ()
    stretches: tuple[tuple[int, int], ...] = ()
    memories: str = ""


@dataclass(frozen=True)
class Event:
    """A marked instruction is about to be executed, by `core`. count: the instructions that this
    core has executed before it since the start, leaving out those at marked addresses and in
    skipped stretches; others: the same of all cores, where more than one has worked. waited: how
    long the core has waited since the start for code, and for data, in thousandths of a cycle."""

    address: int
    count: int
    core: int = 0
    others: tuple[int, ...] = ()
    waited: tuple[int, int] = (0, 0)

    @property
    def cores(self) -> tuple[int, ...]:
        """The instructions of each core, by its number."""
        return self.others or (self.count,)


@dataclass(frozen=True)
class Trace:
    """The events of a run in their order; finished: whether it ended at a mark, and not because
    its time was up; version: of the emulator; histograms: of each stretch that was run through, in
    their order, the executions by address."""

    events: tuple[Event, ...]
    finished: bool
    version: str
    histograms: tuple[Mapping[int, int], ...] = ()


_END = "end"


def read_rows(path: Path) -> tuple[tuple[int, ...], ...]:
    """Reads lines of a hexadecimal and at least one decimal number; none where the file is missing.
    A last line that is not yet whole is left out, and so is one that says that it is the end."""
    if not path.is_file():
        return ()
    lines = path.read_text(errors="replace").split("\n")[:-1]
    rows = (line.split() for line in lines)
    return tuple(
        (int(row[0], 16), *map(int, row[1:])) for row in rows if len(row) > 1 and row[0] != _END
    )


def is_whole(path: Path) -> bool:
    """Whether a file that QEMU's plugin wrote ends in "end <lines before it>"."""
    if not path.is_file():
        return False
    *lines, end, rest = ["", *path.read_text(errors="replace").split("\n")]
    return not rest and end == f"{_END} {len(lines) - 1}"


def read_events(path: Path) -> tuple[Event, ...]:
    """Reads lines of "<address> <count>" and "<address> <count> <core> <count of core 0> ..."."""
    return tuple(
        Event(row[0], row[1], row[2] if len(row) > 2 else 0, row[3:]) for row in read_rows(path)
    )


def read_waits(path: Path, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The events with what lines of "<address> <for code> <for data>", one for each, say of them.
    Those behind the last line are left out."""
    return tuple(
        replace(event, waited=(code, data))
        for event, (_, code, data) in zip(events, read_rows(path), strict=False)
    )


def read_histograms(path: Path) -> tuple[Mapping[int, int], ...]:
    """Reads lines of "<address> <count>"; a count of 0 ends a histogram."""
    histograms: list[dict[int, int]] = [{}]
    for address, count in read_rows(path):
        if count:
            histograms[-1][address] = count
        else:
            histograms.append({})
    return tuple(histograms[:-1])


def ends(events: tuple[Event, ...], marks: WatchedAddresses) -> bool:
    """Whether a run with these events is at its end."""
    seen = [event.address for event in events]
    return any(address in seen for address in marks.stop) or any(
        seen.count(address) > 1 for address in marks.once
    )
