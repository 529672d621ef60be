"""How long kernels wait for constants, by their prices."""

from __future__ import annotations

import pytest

from mcu_deploy.backends.isa.waiting import Reads, waiting
from mcu_deploy.memory_timing import Cache, MemoryTiming

_KEPT = Cache(8, 32, 8, "lru")  # 256 bytes


@pytest.mark.parametrize(
    ("read_bytes", "cache", "reads", "waits"),
    [
        # An instruction that loads 16 bytes asks twice for 8, the second time a cycle later.
        (8, _KEPT, Reads(64, 1, each=16), 4 * (5 + 6)),
        (8, _KEPT, Reads(64, 1, each=8), 8 * 5),
        (32, _KEPT, Reads(64, 1, each=16), 2 * 5),
        (16, None, Reads(64, 1, each=4), 16 * 5),
        # Again and again: from the cache, if it holds them.
        (16, _KEPT, Reads(256, 10, each=16), 16 * 5),
        (16, _KEPT, Reads(272, 10, each=16), 10 * 17 * 5),
        (16, _KEPT, Reads(256, 10, each=16, streams=3), 3 * 16 * 5),
    ],
)
def test_constants_are_waited_for_read_by_read(
    read_bytes: int, cache: Cache | None, reads: Reads, waits: float
) -> None:
    memory = MemoryTiming(5, read_bytes, data_cache=cache)
    assert waiting((), (), [reads], memory) == waits
