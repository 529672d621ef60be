"""Orders of tasks with a low peak: exactly where the graph is small, by a beam beyond.

Both walk through the sets of tasks that can be done together (down-sets of the partial order), as
do Liberis and Lane (Neural networks on microcontrollers: saving memory at inference via operator
reordering, 2019) and Ahn and others (Ordering chaos: memory-aware scheduling of irregularly wired
neural networks for edge devices, SERENITY, 2020): whatever order led to a set, the same bytes live
after it, so only the lowest peak on the way to it counts. Which peak is possible is found by
bisection, as by SERENITY's memory budget.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from mcu_deploy.plan.order_model import TaskMemory
from mcu_deploy.plan.placement.model import Work


@dataclass(frozen=True)
class _State:
    """A way to a set of done tasks: its peak (at least the floor), what lives and may run next."""

    peak: int
    done: int
    live: int
    ready: tuple[int, ...]
    task: int = -1
    parent: _State | None = None

    def order(self) -> tuple[int, ...]:
        tasks = []
        state: _State | None = self
        while state is not None and state.parent is not None:
            tasks.append(state.task)
            state = state.parent
        return tuple(reversed(tasks))


def within(memory: TaskMemory, most: int, work: Work) -> tuple[int, ...] | None:
    """An order that never needs more than `most` bytes; None where there is none.

    The sets that have come furthest go on first, among these those after which least lives; each is
    looked at once. Raises OutOfWork when the budget is spent before it is known.
    """
    start = _start(memory, most)
    queue = [(0, start.live, 0, start)]
    seen = {0}
    while queue:
        *_, state = heapq.heappop(queue)
        if not state.ready:
            return state.order()
        for following in _following(memory, state, work):
            if following.peak <= most and following.done not in seen:
                seen.add(following.done)
                key = (-following.done.bit_count(), following.live, len(seen))
                heapq.heappush(queue, (*key, following))
    return None


def beam(
    memory: TaskMemory, width: int, limit: int, floor: int, work: Work
) -> tuple[int, ...] | None:
    """An order below the limit, found with the `width` best sets of each number of done tasks.

    None where that finds none. Raises OutOfWork when the budget is spent before.
    """
    states = [_start(memory, floor)]
    for _ in range(memory.count):
        best: dict[int, _State] = {}
        for state in states:
            for following in _following(memory, state, work):
                known = best.get(following.done)
                if following.peak < (limit if known is None else known.peak):
                    best[following.done] = following
        states = sorted(best.values(), key=lambda s: (s.peak, s.live, s.done))[:width]
    return states[0].order() if states else None


def _start(memory: TaskMemory, floor: int) -> _State:
    ready = memory.ready(0, range(memory.count))
    return _State(max(memory.start_peak, floor), 0, memory.start_live, tuple(ready))


def _following(memory: TaskMemory, state: _State, work: Work) -> Iterator[_State]:
    """The states after one more task; one is enough where it raises neither peak nor what lives.

    Such a task does no harm now: wherever a better order has it, moved to the front it only lowers
    what lives during those that it overtakes.
    """
    work.spend(len(state.ready))
    tried = [(memory.run(state.done, state.live, task), task) for task in state.ready]
    for (during, live), task in tried:
        if during <= state.peak and live <= state.live:
            tried = [((during, live), task)]
            break
    for (during, live), task in tried:
        done = state.done | 1 << task
        ready = memory.next_ready(state.ready, done, task)
        yield _State(max(state.peak, during), done, live, ready, task, state)
