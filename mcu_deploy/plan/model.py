"""The words of a plan: what happens in which order, buffers with lifetimes, and their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mcu_deploy.arrange.exposure import Exposure
from mcu_deploy.backends.interface import Region
from mcu_deploy.ir import EdgeId, NodeId
from mcu_deploy.plan import control
from mcu_deploy.plan.alignment import ALIGNMENT
from mcu_deploy.plan.compaction import Move
from mcu_deploy.plan.control import ControlItem
from mcu_deploy.plan.runtime import Managed
from mcu_deploy.selection import Choice


class PlanError(AssertionError):
    """A plan that would corrupt a tensor: a bug in planner or backend, never the user's fault."""


# ---- Places ----


@dataclass(frozen=True)
class InPool:
    """At a fixed offset, in bytes, of a pool of the instance."""

    pool: int
    offset: int


@dataclass(frozen=True)
class InSlot:
    """Where an entry of the instance's table of pointers says.

    caller: in the buffer that the caller passes to a run; else where the run-time memory manager
    put it.
    """

    slot: int
    caller: bool = False


Place = InPool | InSlot


@dataclass(frozen=True)
class Hot:
    """A constant that each instance copies to RAM: the constant-th of the workload of a layer."""

    step: int
    constant: int
    place: InPool
    bytes: int


@dataclass(frozen=True)
class PoolUse:
    """A pool and how many bytes of it the network needs. Pool 0 is the workspace.

    memory: of the board, by the name in board.toml; empty where the linker script decides.
    """

    name: str
    bytes: int
    memory: str = ""


# ---- Buffers ----


@dataclass(frozen=True)
class PlacedTensor:
    """An edge that has memory: which buffer it lies in, and how far behind its begin."""

    edge: EdgeId
    buffer: int
    bytes: int
    offset: int = 0


@dataclass(frozen=True)
class Buffer:
    """A stretch of memory that is needed from position `first` to position `last`, both included.

    Several edges share a buffer where one is a view or a piece of the other, or is computed in its
    place.
    Position -1 is before the first step (inputs), the number of positions after the last
    (outputs). persistent: it holds its content between runs, and nothing else ever lies there.
    """

    id: int
    bytes: int
    first: int
    last: int
    label: str
    persistent: bool = False


# ---- What happens ----


@dataclass(frozen=True)
class Step:
    """A layer that is called: its choice, its scratch buffer, and those of its scratch regions."""

    index: int
    choice: Choice
    scratch: int | None
    regions: Mapping[Region, int] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """The layer's short name; of a graph made by hand, which has none, by its index."""
        return self.choice.layer.node.short or f"layer{self.index}"


@dataclass(frozen=True)
class Copy:
    """The bytes of one edge are copied to the place of another of the same size."""

    source: EdgeId
    target: EdgeId

    @property
    def edges(self) -> tuple[EdgeId, ...]:
        return (self.source, self.target)


Item = Step | Copy | ControlItem
Program = tuple[Item, ...]


def steps_of(program: Program) -> Iterator[Step]:
    """The layers of a program, in the order of their indices."""
    for item in program:
        if isinstance(item, Step):
            yield item


@dataclass(frozen=True)
class Parallel:
    """Items of a program, by position, that run at once: a lane for each core."""

    lanes: tuple[tuple[int, ...], ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """All positions, lane after lane."""
        return tuple(position for lane in self.lanes for position in lane)


@dataclass(frozen=True)
class PlannedPart:
    """A partition that can be run alone: which items of the program it runs, by position.

    writes: the edges that it computes.
    """

    name: str
    inputs: tuple[EdgeId, ...]
    outputs: tuple[EdgeId, ...]
    items: frozenset[int]
    writes: frozenset[EdgeId]


@dataclass(frozen=True)
class Plan:
    """A program, and the place of everything in it.

    tensors: in which buffer each edge that is computed lies; places: of the buffers. A copy whose
    two edges have one place does nothing. slots: entries of the table of pointers, which lies in
    the buffer `table`. lower_bound: the largest sum of tensors and scratch that live at one step,
    aligned, each on its own: what no plan in this order can beat without letting an output
    overwrite its input. parallel: the stretches that run on several cores. hot: constants
    in RAM. private: the buffer
    that holds the backends' private regions, and each region's offset in it. memory: the strategy.
    managed: what is taken from a memory manager at run time. moves: of buffers in the workspace,
    each before a position; moved: of these, pairs of (from this position on, offset), where
    `places` has the first.
    """

    program: Program
    buffers: tuple[Buffer, ...]
    tensors: Mapping[EdgeId, PlacedTensor]
    places: Mapping[int, Place]
    pools: tuple[PoolUse, ...]
    lower_bound: int
    alignment: int = ALIGNMENT
    private: int | None = None
    private_offsets: Mapping[Region, int] = field(default_factory=dict)
    exposure: Exposure = field(default_factory=Exposure)
    parts: tuple[PlannedPart, ...] = ()
    slots: int = 0
    table: int | None = None
    memory: str = "offline"
    managed: Managed | None = None
    moves: tuple[Move, ...] = ()
    moved: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    parallel: tuple[Parallel, ...] = ()
    hot: tuple[Hot, ...] = ()

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The layers that are called, in the order of their indices."""
        return tuple(steps_of(self.program))

    @cached_property
    def times(self) -> tuple[int, ...]:
        """How often each layer runs, as far as it is known; see control.times."""
        numbers = control.times(self.program)
        return tuple(n for n, i in zip(numbers, self.program, strict=True) if isinstance(i, Step))

    @property
    def cycles(self) -> int:
        """Of a run by the prices of its layers; one that states none counts for nothing."""
        costs = (step.choice.workload.costs.cycles for step in self.steps)
        return sum(n * times for n, times in zip(costs, self.times, strict=True) if n is not None)

    @property
    def waits(self) -> int:
        """The part of `cycles` that is waited for code and constants."""
        waits = (step.choice.workload.costs.waits for step in self.steps)
        return sum(n * times for n, times in zip(waits, self.times, strict=True))

    @cached_property
    def holders(self) -> tuple[NodeId | None, ...]:
        """The innermost If, Loop or Scan that each layer is in; None: it runs once."""
        nodes = control.holders(self.program)
        return tuple(n for n, i in zip(nodes, self.program, strict=True) if isinstance(i, Step))

    @property
    def bytes(self) -> int:
        """The size of the workspace, pool 0."""
        return self.pools[0].bytes if self.pools else 0

    @property
    def arena_bytes(self) -> int:
        """The bytes of all pools together."""
        return sum(pool.bytes for pool in self.pools)

    @property
    def ratio(self) -> float | None:
        """All pools over the lower bound; None where nothing needs memory."""
        return round(self.arena_bytes / self.lower_bound, 4) if self.lower_bound else None

    @property
    def peak_bytes(self) -> int:
        """How much is in use at most: the whole arena where all places are fixed, else what the
        memory manager on the device counts, without itself and what has a fixed place.
        """
        return self.arena_bytes if self.managed is None else self.managed.peak

    @property
    def workspace_alignment(self) -> int:
        """The alignment of pool 0."""
        if self.managed is None:
            return self.alignment
        return max(self.alignment, self.managed.configuration.block_alignment)

    def place(self, edge: EdgeId, step: int | None = None) -> Place:
        """Where an edge's tensor lies (while layer `step` runs, where it moves)."""
        tensor = self.tensors[edge]
        place = self.buffer_place(tensor.buffer, step)
        if isinstance(place, InPool) and tensor.offset:
            place = InPool(place.pool, place.offset + tensor.offset)
        return place

    def is_within(self, copy: Copy) -> bool:
        """Whether a copy moves bytes within a buffer, to where some of them may be from."""
        source = self.tensors.get(copy.source)
        return source is not None and source.buffer == self.tensors[copy.target].buffer

    def buffer_place(self, buffer: int, step: int | None = None) -> Place:
        """Where a buffer lies (while layer `step` runs, where it moves)."""
        place = self.places[buffer]
        if step is not None and isinstance(place, InPool):
            for since, offset in self.moved.get(buffer, ()):
                if since <= step:
                    place = InPool(place.pool, offset)
        return place

    def offset(self, edge: EdgeId) -> int:
        """The offset of an edge's tensor in its pool."""
        place = self.place(edge)
        assert isinstance(place, InPool), f"edge {edge} has no fixed offset"
        return place.offset

    @property
    def private_pool_place(self) -> InPool:
        """Where the backends' private regions lie, all together."""
        assert self.private is not None
        place = self.places[self.private]
        assert isinstance(place, InPool)
        return place

    def private_region(self, region: Region) -> InPool:
        """Where a private region lies."""
        start = self.private_pool_place
        return InPool(start.pool, start.offset + self.private_offsets[region])
