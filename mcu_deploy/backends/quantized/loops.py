"""How long a kernel's loops may be for the memory that they are run from."""

from __future__ import annotations

from mcu_deploy.backends.layer import Target

# A cache that is smaller holds no loop worth the name: it is a buffer of what was read last, and a
# loop that is kept short for it gains nothing.
_LEAST_CACHE = 256
# A loop that is made to fit takes longer wherever memory answers at once, as RAM does, and where it
# is not what the layer waits for. So much of the time on the board may be left at most.
WORTH_IT = 0.98
# What fits may take so much of the time of what does not, which waits the longer the less the rest
# of a network leaves of it in the cache.
HARDLY_LONGER = 1.01
# A cache of data that is larger keeps most of a layer's weights.
_LEAST_OF_DATA = 1024


def loop_bytes(target: Target) -> int | None:
    """The bytes that a hot loop may have, with everything around it that runs as it does; None is
    no limit.

    A loop that is longer than a cache of instructions that forgets what was used longest ago misses
    at every line, so it leaves an eighth of the cache for the lines that it begins and ends in and
    for what it calls. Where the memory answers at once there is nothing to fit, and a cache of a
    few words (an STM32G0's has 16 bytes) fits none.
    """
    memory = target.memory
    if memory is None or memory.answers_at_once or memory.instruction_cache is None:
        return None
    cache = memory.instruction_cache.bytes
    return cache * 7 // 8 if cache >= _LEAST_CACHE else None


def kept_bytes(target: Target) -> int:
    """How many bytes of constants that are read over and over a cache of data keeps, wherever in a
    line they begin."""
    memory = target.memory
    if memory is None or memory.data_cache is None:
        return 0
    return max(0, memory.data_cache.bytes - memory.data_cache.line_bytes)


def waits_for_weights(target: Target) -> bool:
    """Whether each pass over a layer's weights waits for the memory that they lie in."""
    memory = target.memory
    if memory is None or memory.answers_at_once:
        return False
    return memory.data_cache is None or memory.data_cache.bytes < _LEAST_OF_DATA
