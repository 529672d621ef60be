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
from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.plan.order_model import TaskMemory
from mcu_deploy.plan.placement.model import Work


@dataclass(slots=True)
class _State:
    """A way to a set of done tasks: its peak (at least the floor), and what lives after it.

    ready: who may run next, known as soon as the state is gone on from: most are not.
    """

    peak: int
    done: int
    live: int
    task: int = -1
    parent: _State | None = None
    ready: Sequence[int] = ()

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
    start = _State(max(memory.start_peak, most), 0, memory.start_live)
    queue = [(0, start.live, 0, start)]
    seen = {0}
    while queue:
        left, *_, state = heapq.heappop(queue)
        if -left == memory.count:
            return state.order()
        for task, peak, live in _following(memory, state, work):
            done = state.done | 1 << task
            if peak <= most and done not in seen:
                seen.add(done)
                following = _State(peak, done, live, task, state)
                heapq.heappush(queue, (left - 1, live, len(seen), following))
    return None


def beam(
    memory: TaskMemory, width: int, limit: int, floor: int, work: Work
) -> tuple[int, ...] | None:
    """An order below the limit, found with the `width` best sets of each number of done tasks.

    None where that finds none. Raises OutOfWork when the budget is spent before.
    """
    states = [_State(max(memory.start_peak, floor), 0, memory.start_live)]
    for _ in range(memory.count):
        best: dict[int, _State] = {}
        for state in states:
            for task, peak, live in _following(memory, state, work):
                done = state.done | 1 << task
                known = best.get(done)
                if peak < (limit if known is None else known.peak):
                    best[done] = _State(peak, done, live, task, state)
        states = sorted(best.values(), key=lambda s: (s.peak, s.live, s.done))[:width]
    return states[0].order() if states else None


def _following(memory: TaskMemory, state: _State, work: Work) -> list[tuple[int, int, int]]:
    """Tasks that may run next, with the peak until after each and what lives then; one is enough
    where it raises neither.

    Such a task does no harm now: wherever a better order has it, moved to the front it only lowers
    what lives during those that it overtakes.
    """
    if state.parent is None:
        state.ready = memory.ready(0, range(memory.count))
    else:
        state.ready = memory.next_ready(state.parent.ready, state.done, state.task)
    work.spend(len(state.ready))
    found = []
    for task in state.ready:
        during, live = memory.run(state.done, state.live, task)
        if during <= state.peak and live <= state.live:
            return [(task, state.peak, live)]
        found.append((task, max(state.peak, during), live))
    return found
