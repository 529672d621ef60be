"""Buffers at run time: which are taken before which position, and given back after which.

What lives only between the layers of a run is taken from a memory manager of crt/ (`managers`),
into an entry of the table of pointers. Inputs, outputs, kept tensors, states and what passes a
border of a partition keep fixed places: a caller reaches them between runs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

from mcu_deploy.ir import EdgeId
from mcu_deploy.plan import managers
from mcu_deploy.plan.lifetimes import Lifetimes
from mcu_deploy.plan.model import Buffer, Item, Step
from mcu_deploy.plan.runtime import Managed, Take, requests_of
from mcu_deploy.plan.storage import Run


def arrange(
    lives: Lifetimes, runs: Sequence[Run], strategy: str, word: int, reuse: bool = True
) -> tuple[Lifetimes, Managed]:
    """The manager's part of a plan, and the lifetimes with the table of pointers that it needs.

    word: bytes of a pointer and of size_t. reuse=False gives nothing back before a run ends.
    Raises UsageError for a strategy that there is not.
    """
    takes, gives = _takes_and_gives(lives, exposed(lives, runs), reuse)
    sequences = [requests_of(takes, gives, sorted(run.positions)) for run in runs]
    fitted = managers.fit(strategy, sequences, word)
    slots = {take.slot for taken in takes.values() for take in taken}
    made = Managed(
        strategy, fitted.configuration, fitted.bytes, fitted.peak, takes, gives, word
    )  # fmt: skip
    return _with_table(lives, 1 + max(slots), word) if slots else lives, made


def exposed(lives: Lifetimes, runs: Sequence[Run]) -> set[int]:
    """The buffers that hold something before or after a run, which somebody reaches then."""
    edges = {edge for run in runs for edge in (*run.begin, *run.end)}
    found = {lives.tensors[edge].buffer for edge in edges}
    return found | set(lives.slots) | {b.id for b in lives.buffers if b.persistent}


def buffers_of(lives: Lifetimes, item: Item) -> list[int]:
    """The buffers that an item of the program touches, each once."""
    if not isinstance(item, Step):
        edges: list[EdgeId] = list(item.edges)
        scratch: list[int] = []
    else:
        layer = item.choice.layer
        edges = [o.edge for o in layer.inputs if o is not None and o.constant is None]
        edges += [o.edge for o in layer.outputs]
        scratch = [] if item.scratch is None else [item.scratch]
        scratch += item.regions.values()
    return sorted({*(lives.tensors[edge].buffer for edge in edges), *scratch})


def _takes_and_gives(
    lives: Lifetimes, fixed: set[int], reuse: bool
) -> tuple[dict[int, tuple[Take, ...]], dict[int, tuple[Take, ...]]]:
    """From the first item that touches a buffer to the last one, in the entry that is free then.

    A partition that leaves out the last one keeps the buffer to its end, where all is forgotten.
    """
    touched = [[b for b in buffers_of(lives, item) if b not in fixed] for item in lives.program]
    last = {b: position for position, buffers in enumerate(touched) for b in buffers}
    free = list(range(len(lives.slots), len(lives.slots) + len(last)))
    taken: dict[int, Take] = {}
    takes: dict[int, tuple[Take, ...]] = {}
    gives: dict[int, tuple[Take, ...]] = {}
    for position, buffers in enumerate(touched):
        for b in buffers:
            if b not in taken:
                taken[b] = Take(b, heapq.heappop(free), lives.buffers[b].bytes)
                takes[position] = (*takes.get(position, ()), taken[b])
        for b in buffers:
            if last[b] == position and reuse:
                gives[position] = (*gives.get(position, ()), taken[b])
                heapq.heappush(free, taken[b].slot)
    return takes, gives


def _with_table(lives: Lifetimes, slots: int, word: int) -> Lifetimes:
    """The lifetimes with a table of so many pointers, which nothing else ever shares."""
    if lives.table is not None:
        table = replace(lives.buffers[lives.table], bytes=slots * word)
        return replace(
            lives, buffers=tuple(table if b.id == table.id else b for b in lives.buffers)
        )
    number, end = len(lives.buffers), len(lives.program)
    table = Buffer(number, slots * word, -1, end, "pointers to buffers", persistent=True)
    return replace(
        lives,
        buffers=(*lives.buffers, table),
        conflicts=lives.conflicts | {(b.id, number) for b in lives.buffers},
        table=number,
    )
