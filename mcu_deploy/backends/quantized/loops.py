"""How long a kernel's loops may be for the memory that they are run from."""

from __future__ import annotations

from mcu_deploy.backends.layer import Target


def loop_bytes(target: Target) -> int | None:
    """The bytes that a hot loop may have, with everything around it that runs as it does; None is
    no limit.

    A loop that is longer than a cache of instructions that forgets what was used longest ago misses
    at every line, so it leaves an eighth of the cache for the lines that it begins and ends in and
    for what it calls. Where the memory answers at once there is nothing to fit.
    """
    memory = target.memory
    if memory is None or memory.answers_at_once or memory.instruction_cache is None:
        return None
    return memory.instruction_cache.bytes * 7 // 8
