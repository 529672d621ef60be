"""From the choices to buffers: how long each lives, who conflicts with whom, who may overlap whom.

Two buffers conflict where both hold something at one position of one way of running the network:
the whole, or a partition alone. Kept tensors, states and partitions only add conflicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcu_deploy.arrange.exposure import Exposure
from mcu_deploy.backends.interface import Region, RegionCall, RegionKind
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.ir.nested import flat
from mcu_deploy.plan import joining
from mcu_deploy.plan import storage as sharing
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.analysis import Analysis, Life, scratches
from mcu_deploy.plan.concurrency import Mark, clash, marks_of
from mcu_deploy.plan.lowering import Happening, lower
from mcu_deploy.plan.model import (
    Buffer,
    Copy,
    Item,
    Parallel,
    PlacedTensor,
    PlannedPart,
    Program,
    Step,
)
from mcu_deploy.plan.parts import find_parts, runs_of
from mcu_deploy.plan.storage import Sharing
from mcu_deploy.selection import Choice, Chosen, choices_within

Pair = tuple[int, int]


@dataclass(frozen=True)
class Lifetimes:
    """What is to be placed.

    slots: of buffers that lie at the caller's, the entry of the table of pointers; `table` is the
    buffer that holds it. conflicts: pairs of buffers (the smaller number first) that hold
    something at one time. overlaps: of these, (output or scratch, input) pairs that may share bytes
    all the same, and how. lower_bound: see Plan.
    """

    program: Program
    buffers: tuple[Buffer, ...]
    tensors: dict[EdgeId, PlacedTensor]
    slots: dict[int, int]
    conflicts: frozenset[Pair]
    overlaps: dict[Pair, Sharing]
    lower_bound: int
    private: int | None
    private_offsets: dict[Region, int]
    table: int | None
    parts: tuple[PlannedPart, ...]


def analyse(
    graph: Graph,
    choices: Sequence[Chosen],
    calls: Sequence[RegionCall] = (),
    exposure: Exposure | None = None,
    parallel: Sequence[Parallel] = (),
    *,
    reuse: bool = True,
    io: str = "arena",
    pointer_bytes: int = 4,
) -> Lifetimes:
    """Program and buffers of a network in the order of `choices`.

    calls: what is called beside the layers, with private regions. parallel: stretches of the
    program that run on several cores at once; not with partitions. reuse: False keeps every tensor
    for the whole run and lets nothing overlap, so that each can be read afterwards. io: inputs and
    outputs lie in the "arena" or at the "caller". pointer_bytes: of the target.
    """
    shown = exposure or Exposure()
    graph = flat(graph)
    lowered = lower(graph, choices)
    happenings = [*lowered.happenings, *(Copy(s.output, s.input) for s in shown.states)]
    parts = find_parts(graph, choices, lowered.extents, shown)
    storages = sharing.of_views(graph, choices, shown)
    slots = sharing.give_to_caller(graph, shown, storages) if io == "caller" else 0
    analysis = Analysis(
        storages,
        happenings,
        runs_of(graph, shown, parts, len(happenings)),
        reuse,
        marks_of(parallel),
    )
    bound = analysis.lower_bound()
    if reuse:
        for state in shown.states:
            analysis.join_state(state, range(len(lowered.happenings)))
        joining.join(graph, analysis, lowered)
        analysis.share_in_place()
    made = _Buffers(graph, analysis)
    program = made.program(happenings)
    offsets = _private_offsets(choices, calls)
    size = max((offset + region.bytes for region, offset in offsets.items()), default=0)
    private = made.persistent(size, "private memory of backends")
    table = made.persistent(slots * pointer_bytes, "pointers to the caller's tensors")
    bound += sum(aligned(made.buffers[b].bytes) for b in (private, table) if b is not None)
    return Lifetimes(
        tuple(program), tuple(made.buffers), made.tensors, made.slots,
        frozenset(made.conflicts()), made.overlaps(), bound, private, offsets, table, parts,
    )  # fmt: skip


class _Buffers:
    """The buffers: a storage each, then scratch by step, then the backends' private memory."""

    def __init__(self, graph: Graph, analysis: Analysis) -> None:
        self.buffers: list[Buffer] = []
        self.tensors: dict[EdgeId, PlacedTensor] = {}
        self.slots: dict[int, int] = {}
        self._analysis = analysis
        self._numbers: dict[int, int] = {}
        self._lives: list[dict[int, Life]] = []
        self._marks: dict[int, set[Mark]] = {}
        self._scratch: dict[int, int] = {}  # by position
        whole = analysis.lives(analysis.runs[0])
        for storage in analysis.storages.all:
            number = self._numbers[id(storage)] = len(self.buffers)
            first, last = whole.get(id(storage), (-1, analysis.end))
            label = graph.edge_name(storage.edges[0])
            self.buffers.append(
                Buffer(number, max(storage.bytes, 1), first, last, label, storage.persistent)
            )
            self._marks[number] = analysis.marks(storage)
            if storage.slot is not None:
                self.slots[number] = storage.slot
            for edge, at in storage.at.items():
                self.tensors[edge] = PlacedTensor(edge, number, graph.type(edge).bytes, at)
        for run in analysis.runs:
            lives = analysis.lives(run)
            self._lives.append({self._numbers[storage]: life for storage, life in lives.items()})

    def program(self, happenings: Sequence[Happening]) -> list[Item]:
        """The items, with the layers numbered in their order."""
        made: list[Item] = []
        steps = 0
        for position, what in enumerate(happenings):
            if isinstance(what, Choice):
                made.append(self._step(steps, position, what))
                steps += 1
            else:
                made.append(what)
        return made

    def _step(self, index: int, position: int, choice: Choice) -> Step:
        """A layer that is called; its scratch is added to the buffers."""
        buffers: dict[Region | None, int] = {}
        mark = self._analysis.position_marks.get(position)
        for size, region in scratches(choice):
            what = "scratch" if region is None else region.name
            number = buffers[region] = len(self.buffers)
            label = f"{what} of {choice.layer.short}"
            self.buffers.append(Buffer(number, size, position, position, label))
            self._marks[number] = set() if mark is None else {mark}
            for lives, run in zip(self._lives, self._analysis.runs, strict=True):
                if position in run.positions:
                    lives[number] = (position, position)
            if region is None:
                self._scratch[position] = number
        regions = {region: number for region, number in buffers.items() if region is not None}
        return Step(index, choice, buffers.get(None), regions)

    def persistent(self, size: int, label: str) -> int | None:
        """A buffer which nothing else ever shares; None where no byte is needed."""
        if not size:
            return None
        number, end = len(self.buffers), self._analysis.end
        self.buffers.append(Buffer(number, size, -1, end, label, persistent=True))
        for lives in self._lives:
            lives[number] = (-1, end)
        return number

    def conflicts(self) -> set[Pair]:
        """The pairs that hold something at one position of one run."""
        found: set[Pair] = set()
        for lives in self._lives:
            active: list[tuple[int, int]] = []
            for number, (first, last) in sorted(lives.items(), key=lambda item: item[1][0]):
                active = [(other, until) for other, until in active if until >= first]
                found.update((min(number, other), max(number, other)) for other, _ in active)
                active.append((number, last))
        for buffer in self.buffers:
            if buffer.persistent:
                others = (other.id for other in self.buffers if other.id != buffer.id)
                found.update((min(buffer.id, o), max(buffer.id, o)) for o in others)
        marked = [number for number, marks in self._marks.items() if marks]
        for index, first in enumerate(marked):
            found.update(
                (min(first, other), max(first, other))
                for other in marked[:index]
                if clash(self._marks[first], self._marks[other])
            )
        return {pair for pair in found if not self.slots.keys() & set(pair)}

    def overlaps(self) -> dict[Pair, Sharing]:
        """(output or scratch, input) and how, where they have no more than one step in common."""
        analysis = self._analysis
        lives = [analysis.lives(run) for run in analysis.runs]
        return {
            (
                self._scratch[s.position] if s.target is None else self.tensors[s.target].buffer,
                self.tensors[s.source].buffer,
            ): replace(s, distance=ahead)
            for s in analysis.sharings
            if analysis.may_overlap(s, lives) and (ahead := analysis.storages.ahead(s)) is not None
        }


def _private_offsets(choices: Sequence[Chosen], calls: Sequence[RegionCall]) -> dict[Region, int]:
    """Where each private region that anyone uses lies among them, in the order of asking."""
    workloads = [c.workload for c in choices_within(choices) if not c.workload.is_view]
    used = {region for workload in workloads for region in workload.regions}
    used |= {r for call in calls for r in call.regions}
    private = [r for r in used if r.kind is RegionKind.PRIVATE]
    offsets: dict[Region, int] = {}
    size = 0
    for region in sorted(private, key=lambda r: (r.backend, r.number)):
        offsets[region] = size
        size += aligned(region.bytes)
    return offsets
