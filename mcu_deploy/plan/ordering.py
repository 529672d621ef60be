"""In which order the steps run, so that few bytes live at a time.

Only the partial order matters here; where buffers lie comes later (`placement`), and needs at least
the peak of the order that was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from mcu_deploy.plan.order_model import Shares, Task, TaskMemory
from mcu_deploy.plan.order_search import beam, within
from mcu_deploy.plan.placement.model import OutOfWork, Work

__all__ = ["EFFORT", "Shares", "Task", "best_order", "peak"]

EFFORT = 300_000  # how many times a task may be tried after a set of tasks
BEAMS = (1, 8, 32)  # widths of the beams that give the exact search its first limit
FIRST_SHARE = 64  # the exact search first gives each peak that it asks for 1 / 64 of the effort

_NO_SHARES: Mapping[tuple[int, int, int], int] = {}


def peak(
    tasks: Sequence[Task], sizes: Sequence[int], inputs: frozenset[int], kept: frozenset[int],
    order: Sequence[int], shares: Shares = _NO_SHARES,
) -> int:  # fmt: skip
    """The most bytes that live at a time when the tasks run in this order.

    The arguments are those of `best_order`; `order` has every task once, each after those that it
    needs.
    """
    memory = TaskMemory(tasks, sizes, inputs, kept, shares)
    return _peak(memory, order)


def best_order(
    tasks: Sequence[Task], sizes: Sequence[int], inputs: frozenset[int], kept: frozenset[int],
    *, shares: Shares = _NO_SHARES, effort: int = EFFORT,
) -> tuple[int, ...]:  # fmt: skip
    """The order of tasks with the lowest peak that is found; the given one unless one is better.

    tasks: in an order that is valid: what comes later may depend on what comes before, never the
    other way. sizes: bytes of each buffer. inputs: buffers that are filled before the first task
    and live to their last user. kept: buffers that live to the end. Other buffers live from their
    first writer to their last user. shares: for (task, input, output) how far behind the input is
    read, in bytes, where the output may overwrite it; this counts where nobody reads it later.
    effort: bounds the search, in tries of a task. The result does not depend on anything else.
    """
    memory = TaskMemory(tasks, sizes, inputs, kept, shares)
    order, floor = tuple(range(len(tasks))), memory.floor()
    limit = _peak(memory, order)
    if limit <= floor or memory.is_chain():
        return order
    work = Work(effort)
    with suppress(OutOfWork):
        for width in BEAMS:
            order = beam(memory, width, limit, floor, work) or order
            limit = _peak(memory, order)
    tries = effort // FIRST_SHARE + 1
    while floor < limit and work.left > 0:
        order, floor = _bisect(memory, order, floor, tries, work)
        limit = _peak(memory, order)
        tries *= 4
    return order


def _bisect(
    memory: TaskMemory, order: tuple[int, ...], floor: int, tries: int, work: Work
) -> tuple[tuple[int, ...], int]:
    """The best order found when each peak that is asked for gets so many tries; the proven floor.

    A peak that is not decided in time counts as impossible for now.
    """
    low, limit = floor, _peak(memory, order)
    while low < limit and work.left > 0:
        middle = (low + limit - 1) // 2
        share = Work(min(tries, work.left))
        work.left -= share.left
        try:
            found = within(memory, middle, share)
            if found is None:
                floor = middle + 1
        except OutOfWork:
            found = None
        work.left += max(share.left, 0)
        if found is None:
            low = middle + 1
        else:
            order, limit = found, _peak(memory, found)
    return order, floor


def _peak(memory: TaskMemory, order: Sequence[int]) -> int:
    done, live, most = 0, memory.start_live, memory.start_peak
    for task in order:
        during, live = memory.run(done, live, task)
        most = max(most, during)
        done |= 1 << task
    return most
