"""How a memory answers: what a read of it costs the core at a board's clock.

This is what prices and models of time are made of. It is stated per memory in board.toml, as the
start-up of the board leaves it; where no source was found there is none, and nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mcu_deploy.boards.reader import BoardTable

POLICIES = ("lru", "pseudo-lru", "round-robin", "random", "unknown")
_MOST_WAITS = 1024
_WIDEST_READ = 256
_WORD = 4
_MOST_LINES = 1 << 16


@dataclass(frozen=True)
class Cache:
    """A cache in front of a memory, the core's own or the chip's.

    ways: lines in which one address may lie; as many as there are lines where it is fully
    associative. policy: which line of a full set makes room, one of POLICIES."""

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


AT_ONCE = MemoryTiming(0, _WORD, source="RAM at the core's clock")

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


def read_timing(table: BoardTable) -> MemoryTiming:
    """A table `timing` of a board file. BoardError for what no memory can be."""
    cache = _cache(table, "cache")
    split = _cache(table, "instruction_cache"), _cache(table, "data_cache")
    if cache is not None and split != (None, None):
        table.fail("cache is one for both; leave out instruction_cache and data_cache, or it")
    instruction_cache, data_cache = (cache, cache) if cache is not None else split
    wait_states = table.integer("wait_states", 0, _MOST_WAITS + 1)
    return MemoryTiming(
        wait_states=wait_states,
        # Where nothing waits it does not matter what else a read brings.
        read_bytes=_power_of_two(table, "read_bytes", _WIDEST_READ, None if wait_states else _WORD),
        instruction_cache=instruction_cache,
        data_cache=data_cache,
        prefetch=table.boolean("prefetch", False),
        unified=cache is not None,
        source=table.string("source"),
    )


def _cache(table: BoardTable, key: str) -> Cache | None:
    if not table.has(key):
        return None
    entry = table.table(key)
    lines = entry.integer("lines", 1, _MOST_LINES + 1)
    ways = entry.integer("ways", 1, lines + 1, lines)
    if lines % ways:
        entry.fail(f"lines = {lines} must be a multiple of ways = {ways}: sets are of one size")
    line_bytes = _power_of_two(entry, "line_bytes", _WIDEST_READ)
    return Cache(lines, line_bytes, ways, entry.choice("policy", POLICIES))


def _power_of_two(table: BoardTable, key: str, most: int, default: int | None = None) -> int:
    value = table.integer(key, 1, most + 1, default)
    if value & (value - 1):
        table.fail(f"{key} = {value} must be a power of two")
    return value
