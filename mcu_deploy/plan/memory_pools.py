"""Which memories of a board hold a network's tensors and weights: from options to the planner's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcu_deploy.boards import Board, Processor
from mcu_deploy.errors import RequestError, UsageError, shorten
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.options import Options, PoolRequests
from mcu_deploy.passes.marks import find_stored
from mcu_deploy.plan import OFFLINE, Exposure, Memories, Plan
from mcu_deploy.plan.pools import Pool

# What a firmware needs in its data memory beside tensors and stacks (.data, .bss, .noinit): less
# than this. The link says exactly what fits.
RESERVE = 12 * 1024


def _divided(board: Processor) -> Board | None:
    """The board with the parts of its memories, if it is one and has any."""
    return board.divided() if isinstance(board, Board) and not board.is_host else None


def require_possible(board: Processor, options: Options) -> None:
    """Raises UsageError for memories that the board does not have, and for what cannot go with
    several ones."""
    asked, divided = options.pools, _divided(board)
    if not asked.spread and not asked.pinned:
        return
    option = "--pools auto" if asked.spread else "--pool"
    if divided is None:
        raise RequestError(
            f"{option} needs a board with memories, and {board.called} has none. Leave it out, or "
            "choose a microcontroller board."
        )
    for tensor, memory in asked.pinned.items():
        _require_memory(divided, tensor, memory)
    for other, value, usual in (
        ("--memory", options.memory, OFFLINE),
        ("--arena", options.arena, "separate"),
    ):
        if value != usual:
            raise UsageError(
                f"{option} and {other} {value} do not go together: that is for one workspace in "
                f"one memory. Leave one of them out."
            )


def _require_memory(board: Board, tensor: str, memory: str) -> None:
    names = [m.name for m in board.memories if m.is_for_tensors]
    if memory not in names:
        raise RequestError(
            f"--pool {shorten(tensor)}={shorten(memory)}: the board {board.name} has no RAM of "
            f"this name; it has {', '.join(names)}."
        )


def memories(board: Processor, asked: PoolRequests, pinned: Mapping[EdgeId, str]) -> Memories:
    """What the planner is told. pinned: the edges of asked.pinned."""
    divided = _divided(board)
    if divided is None:
        return Memories(hot_bytes=asked.hot_weights)
    data, stack = divided.roles.data, divided.roles.stack
    ram = [memory for memory in divided.memories if memory.is_for_tensors]
    pools = []
    for memory in sorted(ram, key=lambda memory: memory.name != data):
        capacity = memory.size - asked.taken.get(memory.name, 0)
        if memory.name == stack:
            capacity -= _stacks(divided)
        if memory.name == data:
            capacity -= RESERVE
        pools.append(Pool(memory.name, max(capacity, 0), memory.speed))
    return Memories(tuple(pools), asked.spread, pinned, asked.hot_weights)


def _stacks(board: Board) -> int:
    own = board.stack_bytes + board.handler_stack_bytes
    core = board.second_core
    return own + (core.stack_bytes + core.handler_stack_bytes if core is not None else 0)


def linked_board(board: Board, plans: Sequence[Plan]) -> Board:
    """The board as its linker script must see it: divided, where a network names a memory."""
    named = any(pool.memory for plan in plans for pool in plan.pools)
    return board.divided() if named else board


def with_taken(asked: PoolRequests, board: Processor, plans: Sequence[Plan]) -> PoolRequests:
    """What is asked of the next network of a firmware, behind those of these plans."""
    divided = _divided(board)
    if divided is None or asked == PoolRequests():
        return asked
    taken: dict[str, int] = {}
    for plan in plans:
        for pool in plan.pools:
            memory = pool.memory or divided.roles.data
            taken[memory] = taken.get(memory, 0) + pool.bytes
    return replace(asked, taken=dict(sorted(taken.items())))


# ---- Tensors ----


def find(graph: Graph, asked: PoolRequests) -> dict[str, EdgeId]:
    """The edges of a model as it was read that hold the pinned tensors, by their names.

    Raises UsageError for names that the model does not have, and for constants.
    """
    found = {}
    for name in asked.pinned:
        what = f"--pool {shorten(name)}={asked.pinned[name]}"
        edge = find_stored(graph, name, what)
        if graph.constant(edge) is not None:
            raise RequestError(
                f"{what} names a constant of the model, which lies in flash. Name a tensor that a "
                "run computes, or let --hot-weights copy constants to fast RAM."
            )
        found[name] = edge
    return found


def settle(
    graph: Graph, exposure: Exposure, found: Mapping[str, EdgeId], asked: PoolRequests
) -> dict[EdgeId, str]:
    """The memory of each pinned edge in the graph that is compiled.

    Raises UsageError for a tensor that optimisation has removed.
    """
    kept = {kept.name: kept.edge for kept in exposure.kept}
    pinned: dict[EdgeId, str] = {}
    for name, edge in found.items():
        if name in kept:
            edge = kept[name]
        if edge not in graph.topology.edges:
            raise RequestError(
                f"--pool {shorten(name)}={asked.pinned[name]}: this tensor is not there any more "
                "after optimisation, as a layer computes past it. Keep it with --keep "
                f"{shorten(name)}, or name another one."
            )
        if pinned.setdefault(edge, asked.pinned[name]) != asked.pinned[name]:
            raise RequestError(
                f"--pool names {shorten(name)!r} and another name of the same tensor, with two "
                "memories; name it once."
            )
    return pinned
