"""How long a kernel waits for the memory that its code and constants lie in.

A read of the flash takes wait states; the caches in front of it keep what was used last. Which
words of a loop are kept follows from how many bytes it has; how long one that is not kept is waited
for, from what the core executes meanwhile. This is a price, known without running anything:
`profile` follows each fetch (device/emulators/plugin), and tests hold the one to the other.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from mcu_deploy.memory_timing import Cache, MemoryTiming

# So many bytes a core of three stages asks for before it executes them.
QUEUE_BYTES = 12
_WORD = 4
_FIRST = attrgetter("start")


@dataclass(frozen=True)
class Executed:
    """An instruction where it lies in its function: its address and size in bytes, how often it
    runs, and the cycles that it takes each time."""

    address: int
    bytes: int
    times: float
    cycles: float


@dataclass(frozen=True)
class Loop:
    """Instructions from the first to the last one, both by their number, which are entered so often
    and then run so often each time."""

    first: int
    last: int
    entries: float
    times: float


@dataclass(frozen=True)
class Reads:
    """Constants of so many bytes, which are read in their order so often from the first to the last
    one, `each` of them by an instruction; and then as many others, for so many streams."""

    bytes: int
    passes: float
    each: int
    streams: int = 1


def waiting(
    code: Sequence[Executed], loops: Sequence[Loop], reads: Sequence[Reads], memory: MemoryTiming
) -> float:
    """The cycles that a kernel waits in one run, for its code and for its constants."""
    if not memory.wait_states:
        return 0.0
    return _for_code(code, loops, memory) + sum(_for_reads(part, memory) for part in reads)


def _for_reads(reads: Reads, memory: MemoryTiming) -> float:
    kept = _bytes(memory.data_cache)
    passes = reads.passes if reads.bytes > kept else min(reads.passes, 1)
    width = memory.read_bytes if kept else min(memory.read_bytes, _WORD)
    # A read begins a cycle after the one before it, where an instruction asks for both.
    behind = max(0.0, 1 - width / reads.each)
    return reads.streams * reads.bytes / width * passes * (memory.wait_states + behind)


def _for_code(code: Sequence[Executed], loops: Sequence[Loop], memory: MemoryTiming) -> float:
    width = memory.read_bytes
    words = _parts(code, width)
    cache = memory.instruction_cache
    lines = _parts(code, cache.line_bytes if cache else width)
    kept = _bytes(cache)
    times = [one.times for one in code]
    often = [max(times[word.start : word.stop]) for word in words]
    missed = list(often)
    # From the innermost loops outwards: what a loop that is kept as a whole holds is fetched once
    # each time that it is entered, and once more when something else took its place.
    for loop in sorted(loops, key=lambda loop: loop.last - loop.first):
        fetched = _fetched(times, lines, loop, cache.lines if cache else 0)
        for n in _of_loop(words, loop):
            missed[n] = min(missed[n], fetched)
    if width * sum(map(bool, often)) <= kept:
        missed = [min(one, 1.0) for one in missed]
    begins = {loop.first for loop in loops}
    total = 0.0
    for n, word in enumerate(words):
        if missed[n]:
            total += missed[n] * _wait(code, words, n, memory, not begins.isdisjoint(word))
    return total


def _parts(code: Sequence[Executed], size: int) -> list[range]:
    """The instructions by the words or lines of such a size that they end in."""
    ends = [(one.address + one.bytes - 1) // size for one in code]
    begins = [n for n, end in enumerate(ends) if n == 0 or end != ends[n - 1]]
    return [range(*pair) for pair in itertools.pairwise([*begins, len(code)])]


def _of_loop(parts: Sequence[range], loop: Loop) -> range:
    """The words or lines that have a part of a loop, by their numbers."""
    first = bisect.bisect_right(parts, loop.first, key=_FIRST)
    return range(first - 1, bisect.bisect_right(parts, loop.last, key=_FIRST))


def _fetched(times: Sequence[float], lines: Sequence[range], loop: Loop, kept: int) -> float:
    """How often what a loop goes round is fetched by a cache that keeps so many lines.

    times: of each instruction. A loop that has but a little of a line has it all. What runs in less
    than half of the rounds takes the place of others if there is no room for both: the line that
    was not used for longest is the one that comes next, so that all of the loop is fetched anew.
    """
    run = loop.entries * loop.times
    if not run:
        return float("inf")
    inside = [
        max(times[max(lines[n].start, loop.first) : min(lines[n].stop, loop.last + 1)])
        for n in _of_loop(lines, loop)
    ]
    often = [one for one in inside if one]
    always = sum(2 * one >= run for one in often)
    if always > kept:
        return float("inf")
    if len(often) <= kept:
        return loop.entries
    # What is rare begins as often as the first of its lines runs.
    pieces = itertools.groupby(often, lambda one: 2 * one < run)
    return loop.entries + sum(next(piece) for is_rare, piece in pieces if is_rare)


def _wait(
    code: Sequence[Executed],
    words: Sequence[range],
    n: int,
    memory: MemoryTiming,
    is_jumped_to: bool,
) -> float:
    """For one word that is not kept: less what was executed since it could be asked for."""
    if is_jumped_to or n == 0:
        return memory.wait_states
    often = max(code[k].times for k in words[n])
    if memory.prefetch or memory.read_bytes <= QUEUE_BYTES:
        # It is read behind the word before.
        wait, ahead = memory.wait_states + 1, list(words[n - 1])
    else:
        wait, at = memory.wait_states, code[words[n][0]].address
        ahead = [k for k in words[n - 1] if code[k].address >= at - QUEUE_BYTES]
    covered: float = sum(code[k].cycles * min(1.0, code[k].times / often) for k in ahead)
    return max(0.0, wait - covered)


def _bytes(cache: Cache | None) -> int:
    return cache.bytes if cache else 0
