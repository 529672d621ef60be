"""The tables of a board file that say how a memory answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from mcu_deploy.memory_timing import WORD, Cache, MemoryTiming
from mcu_deploy.schema import Clause, Text, Whole, kept, power_of_two

_PowerOfTwo = Annotated[int, Whole(1, 257), power_of_two]


@dataclass(frozen=True)
class CacheForm:
    """A table of a cache in a board file."""

    lines: Annotated[int, Whole(1, (1 << 16) + 1)]
    line_bytes: _PowerOfTwo
    policy: Literal["lru", "pseudo-lru", "round-robin", "random", "unknown"]
    ways: int | None = None

    def __post_init__(self) -> None:
        ways = kept(Whole(1, self.lines + 1), "ways", self.cache.ways)
        if self.lines % ways:
            raise Clause(
                f"lines = {self.lines} must be a multiple of ways = {ways}: sets are of one size"
            )

    @property
    def cache(self) -> Cache:
        ways = self.lines if self.ways is None else self.ways
        return Cache(self.lines, self.line_bytes, ways, self.policy)


@dataclass(frozen=True)
class TimingForm:
    """A table `timing` of a board file. cache: one for fetches and for data."""

    wait_states: Annotated[int, Whole(0, 1025)]
    source: Text
    read_bytes: _PowerOfTwo | None = None
    prefetch: bool = False
    cache: CacheForm | None = None
    instruction_cache: CacheForm | None = None
    data_cache: CacheForm | None = None

    def __post_init__(self) -> None:
        if self.cache is not None and (self.instruction_cache or self.data_cache):
            raise Clause("cache is one for both; leave out instruction_cache and data_cache, or it")
        if self.wait_states and self.read_bytes is None:
            raise Clause("read_bytes is missing: what one read brings, where wait_states is not 0")

    def timing(self) -> MemoryTiming:
        """What it says. Where nothing waits it does not matter what else a read brings."""
        return MemoryTiming(
            wait_states=self.wait_states,
            read_bytes=self.read_bytes or WORD,
            instruction_cache=_cache(self.cache or self.instruction_cache),
            data_cache=_cache(self.cache or self.data_cache),
            prefetch=self.prefetch,
            unified=self.cache is not None,
            source=self.source,
        )


def _cache(form: CacheForm | None) -> Cache | None:
    return None if form is None else form.cache
