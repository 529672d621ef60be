"""The memories of a board.toml: where they are, what they consist of, how they answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcu_deploy.boards.form import MemoryForm, MicrocontrollerForm
from mcu_deploy.boards.model import Memory
from mcu_deploy.boards.timing_form import TimingForm
from mcu_deploy.memory_timing import MemoryTiming
from mcu_deploy.schema import Misfit, did_you_mean, made

_PART_ALIGNMENT = 32  # of the start of a memory
_POOL_NAMES = ("workspace", "state", "hot")  # those that lie in some memory, and are not called so


def read_memories(form: MicrocontrollerForm) -> tuple[Memory, ...]:
    """The memories of a board file, in its order. Where the start-up follows [rated], that says of
    memories what differs then.

    Misfit for what no board can have."""
    rated = form.rated.timing or {} if form.rated else {}
    if unknown := [name for name in rated if name not in form.memories]:
        raise Misfit(
            "rated.timing",
            f"there is no memory called {unknown[0]!r}; {did_you_mean(unknown[0], form.memories)}",
        )
    is_rated = form.clock == "rated"
    memories: list[Memory] = []
    for name, entry in form.memories.items():
        _require_memory_name("memories", name)
        timing, rated_timing = _timings(entry.timing, rated.get(name), name)
        memory = Memory(
            name, entry.origin, entry.size, entry.kind, entry.speed or 1, _parts(name, entry),
            rated_timing if is_rated else timing, rated_timing, entry.holds or "all",
        )  # fmt: skip
        for other in memories:
            if memory.origin < other.end and other.origin < memory.end:
                raise Misfit("memories", f"the memories {other.name} and {memory.name} overlap")
        memories.append(memory)
    if not memories:
        raise Misfit(
            "memories", "a board needs at least one memory of kind flash and one of kind ram"
        )
    names = [name for m in memories for name in (m.name, *(part.name for part in m.parts))]
    if twice := [name for name in names if names.count(name) > 1]:
        raise Misfit(
            "memories", f"the name {twice[0]!r} is given twice, to memories or their parts"
        )
    return tuple(memories)


def _timings(
    form: TimingForm | None, rated: Mapping[str, Any] | None, name: str
) -> tuple[MemoryTiming | None, MemoryTiming | None]:
    """How a memory answers after the reset, and at the rated clock."""
    timing = None if form is None else form.timing()
    if rated is None:
        return timing, timing
    below = {} if form is None else vars(form)
    above: TimingForm = made(TimingForm, {**below, **rated}, f"rated.timing.{name}")
    return timing, above.timing()


def _parts(name: str, entry: MemoryForm) -> tuple[Memory, ...]:
    """What [memories.<name>.parts.<part>] divides a memory into, in the order of addresses."""
    if entry.parts is None:
        return ()
    place, parts, at = f"memories.{name}.parts", list[Memory](), entry.origin
    for part_name, part in entry.parts.items():
        _require_memory_name(place, part_name)
        if part.size % _PART_ALIGNMENT:
            raise Misfit(
                f"{place}.{part_name}",
                f"size = {part.size} must be a multiple of {_PART_ALIGNMENT}",
            )
        timing = None if part.timing is None else part.timing.timing()
        parts.append(
            Memory(part_name, at, part.size, "ram", part.speed, (), timing, timing, part.holds)
        )
        at += part.size
    if at != entry.origin + entry.size:
        total = at - entry.origin
        raise Misfit(place, f"the parts have {total} bytes together, the memory {entry.size}")
    return tuple(parts)


def _require_memory_name(place: str, name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name, re.ASCII):
        raise Misfit(place, f"the memory's name {name!r} must be a-z, 0-9 and '_', a letter first")
    if name in _POOL_NAMES:
        raise Misfit(place, f"the memory's name {name!r} means a pool of a network; choose another")
