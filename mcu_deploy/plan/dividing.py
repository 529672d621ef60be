"""A network in several memories: what of a board the planner knows, and a pool for each memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcu_deploy.errors import FitError, RequestError
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan import traffic
from mcu_deploy.plan.lifetimes import Lifetimes
from mcu_deploy.plan.model import InPool, PoolUse
from mcu_deploy.plan.placement import PlacementProblem
from mcu_deploy.plan.pools import Pool, assign

WORKSPACE = "workspace"
HOT = "hot"


@dataclass(frozen=True)
class Memories:
    """The RAM of a board.

    pools: a memory each; the first is the one of all other data. None: nothing is known, as on the
    host. spread: each tensor goes where it earns the most; otherwise all that is not pinned goes
    to the first. pinned: the memory that an edge's tensor must lie in. hot_bytes: how many bytes
    of constants are copied to the fastest memory.
    """

    pools: tuple[Pool, ...] = ()
    spread: bool = False
    pinned: Mapping[EdgeId, str] = field(default_factory=dict)
    hot_bytes: int = 0

    @property
    def is_divided(self) -> bool:
        """Whether tensors lie in more than the one memory that the linker script chooses."""
        return self.spread or bool(self.pinned)

    def without(self, memory: str, taken: int) -> Memories:
        """The same, where so many bytes of a memory are gone."""
        pools = [
            replace(pool, capacity=pool.capacity - taken)
            if pool.name == memory and pool.capacity is not None
            else pool
            for pool in self.pools
        ]
        return replace(self, pools=tuple(pools))


def hot_memory(memories: Memories, needed: int) -> str:
    """The fastest memory that has room for so many bytes; empty where nothing is known of any."""
    if not memories.pools:
        return ""
    for pool in sorted(memories.pools, key=lambda pool: -pool.speed):
        if pool.capacity is None or pool.capacity >= needed:
            return pool.name
    rooms = ", ".join(f"{pool.name!r} has {pool.capacity}" for pool in memories.pools)
    raise FitError(
        f"There is no memory with room for {needed} bytes of weights: {rooms}. Give less to "
        "--hot-weights."
    )


def divide(
    graph: Graph,
    lives: Lifetimes,
    members: Sequence[int],
    problem: PlacementProblem,
    memories: Memories,
) -> tuple[dict[int, InPool], list[PoolUse]]:
    """The place of each member in the pool of some memory, and the pools, the workspace first.

    problem: of the members, in their order. Of the memories that hold something the workspace is
    in the first, or the fastest one. Raises UsageError or FitError for what cannot be.
    """
    first = memories.pools[0].name
    pinned = _pinned_buffers(graph, lives, memories)
    if not memories.spread:
        pinned = dict.fromkeys(members, first) | pinned
    benefits = traffic.of_buffers(lives)
    found = assign(
        problem,
        [benefits[buffer] for buffer in members],
        memories.pools,
        {index: pinned[b] for index, b in enumerate(members) if b in pinned},
        [lives.buffers[buffer].label for buffer in members],
    )
    used = [number for number, size in enumerate(found.bytes) if size] or [0]
    used.sort(key=lambda number: (number != 0, -memories.pools[number].speed))
    pools = [
        PoolUse(
            WORKSPACE if position == 0 else memories.pools[number].name,
            found.bytes[number],
            memories.pools[number].name,
        )
        for position, number in enumerate(used)
    ]
    places = {
        buffer: InPool(used.index(number), offset)
        for buffer, number, offset in zip(members, found.pools, found.offsets, strict=True)
    }
    return places, pools


def _pinned_buffers(graph: Graph, lives: Lifetimes, memories: Memories) -> dict[int, str]:
    """The memory of each buffer that holds a pinned tensor."""
    found: dict[int, str] = {}
    by: dict[int, str] = {}
    for edge, memory in memories.pinned.items():
        name, tensor = graph.edge_name(edge), lives.tensors.get(edge)
        if tensor is None:
            raise RequestError(
                f"--pool {name}={memory}: {name!r} is no tensor that a run computes. Name one that "
                "is."
            )
        if tensor.buffer in lives.slots:
            raise RequestError(
                f"--pool {name}={memory}: {name!r} lies in a buffer of the caller (--io caller), "
                "who chooses the memory. Leave one of the two options out."
            )
        if found.setdefault(tensor.buffer, memory) != memory:
            other = by[tensor.buffer]
            raise RequestError(
                f"--pool puts {other!r} into {found[tensor.buffer]} and {name!r} into {memory}, "
                "but one is computed in the place of the other. Name one memory for both, or "
                "one of them only."
            )
        by.setdefault(tensor.buffer, name)
    return found
