"""The offline planner: an order, the lives of all buffers in it, and a place for each.

The order is one in which few bytes live at once (`ordering`); the places are the best that several
strategies find (`placement`). What comes out is checked from the definition (`check`).

Two other ways share all but the places: buffers that a memory manager gives at run time
(`managed`), and buffers that move between layers (`moving`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcu_deploy.arrange.exposure import Exposure
from mcu_deploy.backends.interface import RegionCall
from mcu_deploy.errors import RequestError, UsageError
from mcu_deploy.ir import Graph
from mcu_deploy.options import memory_strategies
from mcu_deploy.options.checked import require_word
from mcu_deploy.plan import hot, managed, moving, schedules
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.check import check
from mcu_deploy.plan.compaction import Compaction, Move
from mcu_deploy.plan.dividing import HOT, WORKSPACE, Memories, divide, hot_memory
from mcu_deploy.plan.lifetimes import Lifetimes, analyse
from mcu_deploy.plan.lowering import require_plain_memory
from mcu_deploy.plan.model import Hot, InPool, InSlot, Parallel, Place, Plan, PoolUse
from mcu_deploy.plan.parts import runs_of
from mcu_deploy.plan.placement import Placement, PlacementProblem, clique_bound, solve
from mcu_deploy.plan.runtime import Managed
from mcu_deploy.plan.sequence import arrange, schedule
from mcu_deploy.plan.storage import Run, Sharing
from mcu_deploy.selection import Chosen, choices_within

STATE = "state"
MOST_POOLS = 4  # MCU_MAX_POOLS of crt/include/mcu/model.h

OFFLINE = "offline"  # every buffer at a fixed offset
COMPACT = "compact"  # buffers move between layers where this saves memory


@dataclass(frozen=True)
class Planning:
    """How memory is planned.

    reuse, io, pointer_bytes: see `lifetimes.analyse`.
    order: the layers may be put into another order (with partitions they stay in the model's).
    separate_state: what outlives a run (states, backends' private memory, the table of pointers)
    gets a pool of its own, so that networks which take turns can share the workspace.
    memory: one of `memory_strategies`. schedule: one of `schedules.names()`. memories: of the
    board, where tensors and weights may lie.
    """

    reuse: bool = True
    io: str = "arena"
    pointer_bytes: int = 4
    order: bool = True
    separate_state: bool = False
    memory: str = OFFLINE
    schedule: str = schedules.SEQUENTIAL
    memories: Memories = field(default_factory=Memories)


def make(
    graph: Graph,
    choices: Sequence[Chosen],
    planning: Planning | None = None,
    calls: Sequence[RegionCall] = (),
    exposure: Exposure | None = None,
) -> Plan:
    """Plans the memory of a network, and has the plan checked from the definition.

    calls: what is called beside the layers, with private regions (Selection.acquire, .release).
    exposure: what is reached beside inputs and outputs.
    """
    chosen, shown = planning or Planning(), exposure or Exposure()
    require_word("--memory", chosen.memory, memory_strategies())
    require_word("--io", chosen.io, ("arena", "caller"))
    require_plain_memory(choices, chosen.memory, chosen.schedule)
    parallel: tuple[Parallel, ...] = ()
    if chosen.schedule != schedules.SEQUENTIAL:
        _require_plain(chosen, shown)
        choices, parallel = schedule(graph, list(choices_within(choices)), chosen.schedule)
    if not parallel and chosen.order and chosen.reuse and not shown.partitions:
        choices = arrange(graph, choices, shown)
    lives = analyse(
        graph, choices, calls, shown, parallel,
        reuse=chosen.reuse, io=chosen.io, pointer_bytes=chosen.pointer_bytes,
    )  # fmt: skip
    runs = runs_of(graph, shown, lives.parts, len(lives.program))
    use: Managed | None = None
    if chosen.memory not in (OFFLINE, COMPACT):
        lives, use = managed.arrange(lives, runs, chosen.memory, chosen.pointer_bytes, chosen.reuse)
    found = _places(graph, lives, runs, chosen, use)
    plan = Plan(
        lives.program, lives.buffers, lives.tensors, found.places, tuple(found.pools),
        lives.lower_bound + hot.size(found.hot), private=lives.private,
        private_offsets=lives.private_offsets, exposure=shown, parts=lives.parts,
        slots=_slots(found.places), table=lives.table, memory=chosen.memory, managed=use,
        moves=found.moves, moved=found.moved, parallel=parallel, hot=found.hot,
    )  # fmt: skip
    check(graph, choices, plan, calls)
    return plan


def _require_plain(planning: Planning, exposure: Exposure) -> None:
    """Raises UsageError where a schedule of several cores meets what is for one."""
    if exposure.partitions:
        raise UsageError(
            f"--schedule {planning.schedule} and --partition do not go together: a partition runs "
            "on one core. Leave one of them out."
        )
    if planning.memory != OFFLINE:
        raise UsageError(
            f"--schedule {planning.schedule} and --memory {planning.memory} do not go together: "
            "two cores would change one memory at once. Plan the memory with --memory offline."
        )


@dataclass
class _Places:
    """The place of every buffer, the pools that they need, and how some move; see Plan."""

    places: dict[int, Place]
    pools: list[PoolUse] = field(default_factory=list)
    moves: tuple[Move, ...] = ()
    moved: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    hot: tuple[Hot, ...] = ()

    def add(
        self, name: str, members: Sequence[int], found: Placement, begin: int = 0, memory: str = ""
    ) -> None:
        """A pool for these buffers, behind its first `begin` bytes."""
        number = len(self.pools)
        self.places |= {
            buffer: InPool(number, begin + offset)
            for buffer, offset in zip(members, found.offsets, strict=True)
        }
        self.pools.append(PoolUse(name, begin + found.bytes, memory))


def _places(
    graph: Graph, lives: Lifetimes, runs: Sequence[Run], planning: Planning, use: Managed | None
) -> _Places:
    made = _Places({buffer: InSlot(slot, caller=True) for buffer, slot in lives.slots.items()})
    if use is not None:
        made.places |= {buffer: InSlot(slot) for buffer, slot in use.slots.items()}
    placed = [b.id for b in lives.buffers if b.id not in made.places]
    apart = [b for b in placed if planning.separate_state and lives.buffers[b].persistent]
    shared = [b for b in placed if b not in apart]
    constants = hot.choose(lives.program, planning.memories.hot_bytes)
    fast = PoolUse(HOT, hot.size(constants), hot_memory(planning.memories, hot.size(constants)))
    state = solve(problem(lives, apart))
    memories = planning.memories.without(fast.memory, fast.bytes)
    memory = ""
    if memories.is_divided:
        memory = memories.pools[0].name
        memories = memories.without(memory, state.bytes)
        places, made.pools = divide(graph, lives, shared, problem(lives, shared), memories)
        made.places |= places
    else:
        made.add(WORKSPACE, shared, solve(problem(lives, shared)), 0 if use is None else use.end)
    if planning.memory == COMPACT:
        _move(made, shared, moving.arrange(lives, runs, shared))
    if apart:
        made.add(STATE, apart, state, memory=memory)
    if constants:
        number = len(made.pools)
        made.pools.append(fast)
        made.hot = tuple(replace(h, place=InPool(number, h.place.offset)) for h in constants)
    if len(made.pools) > MOST_POOLS:
        raise RequestError(
            f"The network would lie in {len(made.pools)} pools; the runtime takes {MOST_POOLS}. "
            "Leave --hot-weights out, or let --pool put tensors into fewer memories."
        )
    return made


def _move(made: _Places, members: Sequence[int], found: Compaction) -> None:
    """Lets buffers of the workspace move, where it is smaller then."""
    if found.bytes >= made.pools[0].bytes:
        return
    offsets = dict(zip(members, found.offsets, strict=True))
    made.places |= {b: InPool(0, known[0][1]) for b, known in offsets.items()}
    made.pools[0] = replace(made.pools[0], bytes=found.bytes)
    made.moves = tuple(replace(move, buffer=members[move.buffer]) for move in found.moves)
    made.moved = {b: known for b, known in offsets.items() if len(known) > 1}


def _slots(places: Mapping[int, Place]) -> int:
    """How many entries the table of pointers has."""
    return max((1 + p.slot for p in places.values() if isinstance(p, InSlot)), default=0)


def problem(lives: Lifetimes, members: Sequence[int]) -> PlacementProblem:
    """The placement of some of the buffers in one pool."""
    buffers = [lives.buffers[buffer] for buffer in members]
    number = {buffer: index for index, buffer in enumerate(members)}
    sizes = tuple(aligned(buffer.bytes) for buffer in buffers)
    conflicts = []
    for first, second in sorted(lives.conflicts):
        if first in number and second in number:
            i, j = number[first], number[second]
            if (second, first) in lives.overlaps:  # second is the output, or scratch
                banned = _banned(sizes[j], sizes[i], lives.overlaps[second, first])
                banned = [(-high, -low) for low, high in banned]
            else:
                banned = _banned(sizes[i], sizes[j], lives.overlaps.get((first, second)))
            conflicts += [(i, j, low, high) for low, high in banned if low < high]
    made = PlacementProblem(sizes, conflicts)
    together = (
        [i for i, b in enumerate(buffers) if b.first <= position <= b.last]
        for position in {buffer.first for buffer in buffers}
    )
    return replace(made, lower_bound=clique_bound(made, together))


def _banned(output: int, source: int, found: Sharing | None) -> list[tuple[int, int]]:
    """Where an output or scratch, of so many bytes, must not start, counted from its input."""
    if found is None:
        return [(-output, source)]
    if found.exactly:
        return [(-output, 0), (0, source)]
    return [(max(-output, -aligned(found.distance)), source)]
