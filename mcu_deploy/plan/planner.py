"""The offline planner: every buffer at a fixed offset, the best of several placements.

Buffers conflict when they live at the same step. Each placement takes the buffers in one order
and puts each at the lowest gap between its conflicts that is large enough ("first fit in order";
Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020, section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.backends.interface import RegionCall
from mcu_deploy.ir import Graph
from mcu_deploy.plan.check import check
from mcu_deploy.plan.lifetimes import analyse
from mcu_deploy.plan.model import Buffer, Plan, aligned
from mcu_deploy.select import Choice


@dataclass(frozen=True)
class Options:
    """reuse: whether buffers may share memory with others that live at another time."""

    reuse: bool = True


def conflicts(buffers: Sequence[Buffer]) -> Mapping[int, frozenset[int]]:
    """The conflict relation: who lives at the same step as whom."""
    return {
        a.id: frozenset(
            b.id for b in buffers if b.id != a.id and a.first <= b.last and b.first <= a.last
        )
        for a in buffers
    }


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """The largest sum of aligned buffers that live at one step, in bytes."""
    steps = {b.first for b in buffers}
    return max(
        (sum(aligned(b.bytes) for b in buffers if b.first <= s <= b.last) for s in steps),
        default=0,
    )


def place(
    order: Sequence[Buffer], relation: Mapping[int, frozenset[int]]
) -> tuple[dict[int, int], int]:
    """First fit in this order: the offset of each buffer, and the bytes that all need."""
    offsets: dict[int, int] = {}
    sizes = {b.id: aligned(b.bytes) for b in order}
    peak = 0
    for buffer in order:
        occupied = sorted((offsets[o], sizes[o]) for o in relation[buffer.id] if o in offsets)
        at = 0
        for start, size in occupied:
            if at + sizes[buffer.id] <= start:
                break
            at = max(at, start + size)
        offsets[buffer.id] = at
        peak = max(peak, at + sizes[buffer.id])
    return offsets, peak


def orders(buffers: Sequence[Buffer], relation: Mapping[int, frozenset[int]]) -> list[list[Buffer]]:
    """The orders that are tried; every key ends in the id, so that none depends on a hash."""
    sizes = {b.id: aligned(b.bytes) for b in buffers}
    weight = {b.id: sum(sizes[o] for o in relation[b.id]) for b in buffers}
    keys: list[Callable[[Buffer], tuple[int, ...]]] = [
        lambda b: (-b.bytes, b.first, b.id),
        lambda b: (b.first, -b.bytes, b.id),
        lambda b: (-(b.last - b.first), -b.bytes, b.id),
        lambda b: (-len(relation[b.id]), -b.bytes, b.id),
        lambda b: (-weight[b.id], -b.bytes, b.id),
        lambda b: (-(b.last - b.first + 1) * b.bytes, b.id),
    ]
    return [sorted(buffers, key=key) for key in keys]


def make(
    graph: Graph,
    choices: Sequence[Choice],
    options: Options | None = None,
    calls: Sequence[RegionCall] = (),
) -> Plan:
    """Plans the memory of a network, and has the plan checked from the definition.

    calls: what is called beside the layers, with private regions (Selection.acquire, .release).
    """
    chosen = options or Options()
    lives = analyse(graph, choices, calls, chosen.reuse)
    relation = conflicts(lives.buffers)
    bound = lower_bound(lives.buffers)
    offsets, size = min(
        (place(order, relation) for order in orders(lives.buffers, relation)),
        key=lambda placed: placed[1],
    )
    plan = Plan(
        lives.steps, lives.buffers, lives.tensors, offsets, size, bound,
        private=lives.private, private_offsets=lives.private_offsets,
    )  # fmt: skip
    check(graph, choices, plan, calls)
    return plan
