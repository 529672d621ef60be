"""In which order the steps run, so that few bytes live at a time.

Only the partial order matters here; where buffers lie comes later (`placement`), and needs at least
the peak of the order that was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcu_deploy.plan.order_model import Memory, Shares, Task
from mcu_deploy.plan.order_search import beam, exact
from mcu_deploy.plan.placement.model import OutOfWork, Work

__all__ = ["EFFORT", "Shares", "Task", "best_order", "peak"]

EFFORT = 100_000  # how many times a task may be tried after a set of tasks

_NO_SHARES: Mapping[tuple[int, int, int], int] = {}


def peak(
    tasks: Sequence[Task], sizes: Sequence[int], inputs: frozenset[int], kept: frozenset[int],
    order: Sequence[int], shares: Shares = _NO_SHARES,
) -> int:  # fmt: skip
    """The most bytes that live at a time when the tasks run in this order.

    The arguments are those of `best_order`; `order` has every task once, each after those that it
    needs.
    """
    memory = Memory(tasks, sizes, inputs, kept, shares)
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
    memory = Memory(tasks, sizes, inputs, kept, shares)
    order, floor = tuple(range(len(tasks))), memory.floor()
    limit = _peak(memory, order)
    if limit <= floor or memory.is_chain():
        return order
    work = Work(effort)
    try:
        for width in (1, 8):
            order, limit = _better(memory, order, limit, beam(memory, width, limit, floor, work))
        share = Work(work.left // 2)
        work.spend(share.left)
        try:
            return exact(memory, limit, floor, share) or order
        except OutOfWork:
            width = 32
        while limit > floor:
            order, limit = _better(memory, order, limit, beam(memory, width, limit, floor, work))
            width *= 4
    except OutOfWork:
        pass
    return order


def _better(
    memory: Memory, order: tuple[int, ...], limit: int, found: tuple[int, ...] | None
) -> tuple[tuple[int, ...], int]:
    """The order that was found, and its peak, if there is one: searches give only lower ones."""
    return (order, limit) if found is None else (found, _peak(memory, found))


def _peak(memory: Memory, order: Sequence[int]) -> int:
    done, live, most = 0, memory.start_live, memory.start_peak
    for task in order:
        during, live = memory.run(done, live, task)
        most = max(most, during)
        done |= 1 << task
    return most
