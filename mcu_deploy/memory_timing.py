"""How a memory answers: what a read of it costs the core at a board's clock.

This is what prices and models of time are made of. It is stated per memory in board.toml, as the
start-up of the board leaves it; where no source was found there is none, and nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WORD = 4
"""Bytes."""

# Bytes; caches of less are of a line or two, and have no loop of C but the very shortest.
_SHORT_LOOP = 32


@dataclass(frozen=True)
class Cache:
    """A cache in front of a memory, the core's own or the chip's.

    ways: lines in which one address may lie; as many as there are lines where it is fully
    associative. policy: which line of a full set makes room."""

    lines: int
    line_bytes: int
    ways: int
    policy: str

    @property
    def bytes(self) -> int:
        """Of all lines."""
        return self.lines * self.line_bytes


@dataclass(frozen=True)
class MemoryTiming:
    """wait_states: cycles of the core beyond the first that a read of the memory itself takes at
    the board's clock; read_bytes: what one such read brings, a word where nothing waits.
    instruction_cache and data_cache: what is asked first, by fetches and by reads of data; they are
    equal and `unified` where one cache serves both. prefetch: whether the memory reads on by itself
    while the core fetches. source: of these numbers."""

    wait_states: int
    read_bytes: int
    instruction_cache: Cache | None = None
    data_cache: Cache | None = None
    prefetch: bool = False
    unified: bool = False
    source: str = field(default="", compare=False)

    @property
    def answers_at_once(self) -> bool:
        """Whether no access ever waits: RAM at the core's clock, or tightly coupled memory."""
        return self.wait_states == 0

    @property
    def waits_in_loops(self) -> bool:
        """Whether loops wait in each of their rounds, as no cache of instructions holds them."""
        cache = self.instruction_cache
        return not self.answers_at_once and (cache is None or cache.bytes < _SHORT_LOOP)


AT_ONCE = MemoryTiming(0, WORD, source="RAM at the core's clock")

# What objects for a core alone are made for, as nobody says what they will be linked into: ST's
# accelerator of the STM32F4 with the wait states of its fastest clock (boards/chips/stm32f40x.toml
# has the sources).
USUAL_FLASH = MemoryTiming(
    wait_states=5,
    read_bytes=16,
    instruction_cache=Cache(64, 16, 64, "lru"),
    data_cache=Cache(8, 16, 8, "lru"),
    prefetch=True,
    source="assumed, as no board is named",
)


def slower(one: MemoryTiming | None, other: MemoryTiming | None) -> MemoryTiming | None:
    """Of the memories that code and constants lie in the one that counts; None where one of them
    is not known."""
    if one is None or other is None:
        return None
    return max(one, other, key=lambda timing: timing.wait_states)
