"""How long a core waits for the memories of its board: what the emulator's plugin is told of them.

docs/costs.md says what the model has in it. Its code is emulators/plugin/memories.c.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.boards import Board, Memory
from mcu_deploy.device.modelling import program_of
from mcu_deploy.elf.reader import Elf, load_elf
from mcu_deploy.memory_timing import Cache, MemoryTiming

_UNIT = 1000  # the plugin's times are in thousandths of a cycle
# Which line of a full set makes room, by the plugin's numbers. Where no manual says it, and where a
# tree of bits stands for the order, it is taken to be the line that was not used for longest.
_POLICIES = {"lru": 0, "pseudo-lru": 0, "unknown": 0, "round-robin": 1, "random": 2}


def used_memories(board: Board, elf: Elf) -> tuple[Memory, ...]:
    """The memories of a board that an image has anything in, but for what only the chip's own boot
    code reads; of one that consists of parts, the parts, which answer each in its own way."""
    sections = [s for s in elf.sections if s.allocated and s.size and not _is_for_boot(s.name)]
    spans = [(s.address, s.address + s.size) for s in sections]
    return tuple(
        memory
        for memory in board.divided().memories
        if any(first < memory.end and memory.origin < end for first, end in spans)
    )


def no_time(board: Board, elf: Elf) -> str:
    """A clause that says why nothing is known of how long code and constants of an image take; ""
    where that is known."""
    unknown = [
        memory.name
        for memory in used_memories(board, elf)
        if memory.rated_timing is None and memory.kind == "flash"
    ]
    if not unknown:
        return ""
    names = " and ".join(unknown)
    answer = "answers" if len(unknown) == 1 else "answer"
    return f"the file of board {board.name} does not say how its {names} {answer} (`timing`)"


def assumed(board: Board, elf: Elf) -> tuple[str, ...]:
    """The names of the RAMs that an image has anything in and of which nothing is known: they are
    taken to answer at once, as RAM on a microcontroller does at the core's clock."""
    return tuple(
        memory.name
        for memory in used_memories(board, elf)
        if memory.rated_timing is None and memory.kind == "ram"
    )


def memory_lines(board: Board, bench_elf: Path) -> str:
    """What the plugin's file says (plugin/memories.h) of a bench.elf and the memories in which it
    lies, as they answer at the rated clock; "" where each of them does at once, so that nothing
    waits. The cycles are those of `model_cycles`, for whose cores there is something to say."""
    elf = load_elf(bench_elf.resolve())
    waiting = tuple(
        (memory, memory.rated_timing)
        for memory in used_memories(board, elf)
        if memory.rated_timing is not None and not memory.rated_timing.answers_at_once
    )
    if not waiting or board.core not in MODELS:
        return ""
    program = program_of(board.core, elf)
    costs = (
        f"cost {address:x} {round(stays * _UNIT)} {round(more * _UNIT)}"
        for address, stays, more in program.costs()
    )
    return "\n".join([*_lines(waiting), *costs, ""])


def _is_for_boot(section: str) -> bool:
    return section.startswith(".boot_")  # boards/common/link.ld.j2


def _lines(memories: Iterable[tuple[Memory, MemoryTiming]]) -> Iterator[str]:
    """The lines of the memories, each behind those of its caches: one that several memories state
    alike is one, as the caches of a core are."""
    numbers: dict[tuple[str, Cache], int] = {}
    for memory, timing in memories:
        own = []
        for kind, cache in (("code", timing.instruction_cache), ("data", timing.data_cache)):
            if cache is None:
                own.append(-1)
                continue
            key = ("both" if timing.unified else kind, cache)
            if key not in numbers:
                numbers[key] = len(numbers)
                sets, policy = cache.lines // cache.ways, _POLICIES[cache.policy]
                yield f"cache {sets} {cache.ways} {cache.line_bytes} {policy}"
            own.append(numbers[key])
        yield (
            f"memory {memory.origin:x} {memory.end:x} {timing.wait_states * _UNIT} "
            f"{timing.read_bytes} {int(timing.prefetch)} {own[0]} {own[1]}"
        )
