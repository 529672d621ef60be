"""The memories of a board.toml: where they are, what they consist of, how they answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

from mcu_deploy.boards.memory_timing import read_timing
from mcu_deploy.boards.model import Content, Memory, MemoryKind
from mcu_deploy.boards.reader import BoardTable, did_you_mean

_PART_ALIGNMENT = 32  # of the start of a memory
_POOL_NAMES = ("workspace", "state", "hot")  # those that lie in some memory, and are not called so


def read_memories(top: BoardTable, is_rated: bool) -> tuple[Memory, ...]:
    """The memories of a board file, in its order. is_rated: whether the start-up follows [rated],
    which says of memories what differs then.

    BoardError for what no board can have."""
    memories = _memories(top)
    rated = top.table("rated", required=False).table("timing", required=False)
    names = [memory.name for memory in memories]
    if unknown := [name for name in rated.names() if name not in names]:
        rated.fail(f"there is no memory called {unknown[0]!r}; {did_you_mean(unknown[0], names)}")
    return tuple(_timed(m, top.table("memories").table(m.name), rated, is_rated) for m in memories)


def _memories(top: BoardTable) -> tuple[Memory, ...]:
    table = top.table("memories")
    memories: list[Memory] = []
    for name in table.names():
        _require_memory_name(table, name)
        entry = table.table(name)
        kind: MemoryKind = "ram"
        if entry.choice("kind", get_args(MemoryKind)) == "flash":
            kind = "flash"
        memory = Memory(
            name, entry.address("origin", 16), entry.size("size"), kind, _speed(entry, kind),
            holds=_holds(entry, kind),
        )  # fmt: skip
        if entry.has("parts"):
            memory = replace(memory, parts=_parts(entry, memory))
        if memory.end > 1 << 32:
            entry.fail(f"origin + size = {memory.end:#x} goes beyond 4 GiB")
        for other in memories:
            if memory.origin < other.end and other.origin < memory.end:
                table.fail(f"the memories {other.name} and {memory.name} overlap")
        memories.append(memory)
    if not memories:
        table.fail("a board needs at least one memory of kind flash and one of kind ram")
    names = [name for m in memories for name in (m.name, *(part.name for part in m.parts))]
    if twice := [name for name in names if names.count(name) > 1]:
        table.fail(f"the name {twice[0]!r} is given twice, to memories or their parts")
    return tuple(memories)


def _parts(entry: BoardTable, memory: Memory) -> tuple[Memory, ...]:
    """What [memories.<name>.parts.<part>] divides a memory into, in the order of addresses."""
    table = entry.table("parts")
    if memory.kind != "ram":
        table.fail("only a memory of kind ram has parts; leave them out")
    parts: list[Memory] = []
    at = memory.origin
    for name in table.names():
        _require_memory_name(table, name)
        part = table.table(name)
        size = part.size("size")
        if size % _PART_ALIGNMENT:
            part.fail(f"size = {size} must be a multiple of {_PART_ALIGNMENT}")
        timing = read_timing(part.table("timing")) if part.has("timing") else None
        speed = _speed(part, memory.kind)
        holds = _holds(part, memory.kind)
        parts.append(Memory(name, at, size, memory.kind, speed, (), timing, timing, holds))
        at += size
    if at != memory.end:
        table.fail(f"the parts have {at - memory.origin} bytes together, the memory {memory.size}")
    return tuple(parts)


def _speed(entry: BoardTable, kind: MemoryKind) -> int:
    if kind != "ram" and entry.has("speed"):
        entry.fail("speed is for memories of kind ram, which tensors can lie in; leave it out")
    return entry.integer("speed", 1, 1_000_000, 1)


def _holds(entry: BoardTable, kind: MemoryKind) -> Content:
    if kind != "ram" and entry.has("holds"):
        entry.fail("holds is for memories of kind ram; leave it out")
    choices: tuple[Content, ...] = get_args(Content)
    named = entry.choice("holds", choices, "all")
    return next(content for content in choices if content == named)


def _require_memory_name(table: BoardTable, name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name, re.ASCII):
        table.fail(f"the memory's name {name!r} must be a-z, 0-9 and '_', a letter first")
    if name in _POOL_NAMES:
        table.fail(f"the memory's name {name!r} means a pool of a network; choose another")


def _timed(memory: Memory, entry: BoardTable, rated: BoardTable, is_rated: bool) -> Memory:
    """The memory with how it answers, after the reset and at the rated clock."""
    table = entry.table("timing") if entry.has("timing") else None
    at_reset = at_rated = read_timing(table) if table else None
    if rated.has(memory.name):
        above = rated.table(memory.name)
        at_rated = read_timing(above.over(table) if table else above)
    return replace(memory, timing=at_rated if is_rated else at_reset, rated_timing=at_rated)
