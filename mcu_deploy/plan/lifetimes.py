"""From the choices to buffers: how long each lives, who conflicts with whom, who may overlap whom.

Two buffers conflict where both hold something at one position of one way of running the network:
the whole, or a partition alone. Kept tensors, states and partitions only add conflicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.backends.interface import Region, RegionCall, RegionKind
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan import groups as sharing
from mcu_deploy.plan.concurrency import Mark, clash, marks_of
from mcu_deploy.plan.exposure import Exposure, State
from mcu_deploy.plan.groups import Group, Groups, Run, Sharing
from mcu_deploy.plan.model import Buffer, Copy, Item, Parallel, Part, Program, Step, Tensor, aligned
from mcu_deploy.plan.parts import find_parts, runs_of
from mcu_deploy.select import Choice

Life = tuple[int, int]  # the first and the last position, both included
Pair = tuple[int, int]


@dataclass(frozen=True)
class Options:
    """What may share memory with what.

    reuse: False keeps every tensor for the whole run and lets nothing overlap, so that each can be
    read afterwards. io: inputs and outputs lie in the "arena" or at the "caller". pointer_bytes:
    of the target.
    """

    reuse: bool = True
    io: str = "arena"
    pointer_bytes: int = 4


@dataclass(frozen=True)
class Lifetimes:
    """What is to be placed.

    slots: of buffers that lie at the caller's, the entry of the table of pointers; `table` is the
    buffer that holds it. conflicts: pairs of buffers (the smaller number first) that hold
    something at one time. overlaps: of these, (output, input) pairs that may share bytes all the
    same, where the output starts at least so many bytes before the input. lower_bound: see Plan.
    """

    program: Program
    buffers: tuple[Buffer, ...]
    tensors: dict[EdgeId, Tensor]
    slots: dict[int, int]
    conflicts: frozenset[Pair]
    overlaps: dict[Pair, int]
    lower_bound: int
    private: int | None
    private_offsets: dict[Region, int]
    table: int | None
    parts: tuple[Part, ...]


def analyse(
    graph: Graph,
    choices: Sequence[Choice],
    calls: Sequence[RegionCall] = (),
    exposure: Exposure | None = None,
    options: Options | None = None,
    parallel: Sequence[Parallel] = (),
) -> Lifetimes:
    """Program and buffers of a network in the order of `choices`.

    calls: what is called beside the layers, with private regions. parallel: stretches of the
    program that run on several cores at once; not with partitions.
    """
    shown, chosen = exposure or Exposure(), options or Options()
    called = [choice for choice in choices if not choice.workload.is_view]
    copies = [Copy(state.output, state.input) for state in shown.states]
    parts = find_parts(graph, choices, shown)
    groups = sharing.of_views(graph, choices, shown)
    slots = sharing.give_to_caller(graph, shown, groups) if chosen.io == "caller" else 0
    analysis = _Analysis(
        groups,
        [*called, *copies],
        runs_of(graph, shown, parts, len(called) + len(copies)),
        chosen.reuse,
        marks_of(parallel),
    )
    bound = analysis.lower_bound()
    if chosen.reuse:
        for state in shown.states:
            analysis.join_state(state)
        analysis.share_in_place()
    made = _Buffers(graph, analysis)
    program: list[Item] = [made.step(index, choice) for index, choice in enumerate(called)]
    program += copies
    offsets = _private_offsets(choices, calls)
    private = made.private(max((o + r.bytes for r, o in offsets.items()), default=0))
    table = made.table(slots * chosen.pointer_bytes)
    bound += sum(aligned(made.buffers[b].bytes) for b in (private, table) if b is not None)
    return Lifetimes(
        tuple(program), tuple(made.buffers), made.tensors, made.slots,
        frozenset(made.conflicts()), made.overlaps(), bound, private, offsets, table, parts,
    )  # fmt: skip


class _Analysis:
    """Groups, and their lives in each run."""

    def __init__(
        self,
        groups: Groups,
        happenings: Sequence[Choice | Copy],
        runs: Sequence[Run],
        reuse: bool,
        marks: Mapping[int, Mark],
    ) -> None:
        self.groups = groups
        self.happenings = happenings
        self.runs = runs
        self.reuse = reuse
        self.position_marks = marks
        self.edge_marks: dict[EdgeId, set[Mark]] = {}
        for position, mark in marks.items():
            for edge in touched(happenings[position]):
                self.edge_marks.setdefault(edge, set()).add(mark)
        self.end = len(happenings)
        self.sharings = [
            found
            for position, what in enumerate(happenings)
            if reuse and isinstance(what, Choice)
            for found in sharing.sharings(what.layer, what, position, groups)
        ]

    def lives(self, run: Run) -> dict[int, Life]:
        """By group: from where to where it holds something in a run."""
        lives: dict[int, Life] = {}

        def use(edge: EdgeId, position: int) -> None:
            group = id(self.groups.of[edge])
            first, last = lives.get(group, (position, position))
            lives[group] = (min(first, position), max(last, position))

        for edge in run.begin:
            use(edge, -1)
        for position in sorted(run.positions):
            for edge in touched(self.happenings[position]):
                use(edge, position)
        for edge in run.end:
            use(edge, self.end)
        for group in self.groups.all:
            if group.persistent or (not self.reuse and id(group) in lives):
                lives[id(group)] = (-1, self.end)
        return lives

    def marks(self, group: Group) -> set[Mark]:
        """In which lanes a group is used."""
        return set().union(*(self.edge_marks.get(edge, set()) for edge in group.edges))

    def clash(self, first: Group, second: Group) -> bool:
        """Whether two cores may use the groups at one time."""
        return bool(self.edge_marks) and clash(self.marks(first), self.marks(second))

    def lower_bound(self) -> int:
        """The largest sum of aligned groups and scratch that live at one position."""
        sizes = {
            id(group): aligned(max(group.bytes, 1)) if group.slot is None else 0
            for group in self.groups.all
        }
        most = 0
        for run in self.runs:
            changes = [0] * (self.end + 3)
            for group, (first, last) in self.lives(run).items():
                changes[first + 1] += sizes[group]
                changes[last + 2] -= sizes[group]
            live = 0
            for position in range(-1, self.end + 1):
                live += changes[position + 1]
                scratch = 0
                if position in run.positions:
                    scratch = sum(aligned(s) for s, _ in scratches(self.happenings[position]))
                most = max(most, live + scratch)
        return most

    def join_state(self, state: State) -> None:
        """Lets a state's next value be written over it, where nothing reads it any more."""
        here, there = self.groups.of[state.input], self.groups.of[state.output]
        if here is there or not there.is_free or not sharing.same_room(here, there):
            return
        if self.clash(here, there):
            return
        over = {
            s.position
            for s in self.sharings
            if s.distance <= 0
            and self.groups.of[s.source] is here
            and self.groups.of[s.target] is there
        }
        written, read = self._span(there), self._span(here)
        if written is None or written[0] < 0:
            return  # an input of the model
        if read is None or read[1] < written[0] or (read[1] == written[0] and read[1] in over):
            self.groups.join(state.input, state.output)

    def _span(self, group: Group) -> Life | None:
        """The first and the last layer that touch a group; -1 where an input of a run is in it."""
        edges = set(group.edges)
        found = [
            position
            for position, what in enumerate(self.happenings)
            if isinstance(what, Choice) and edges & set(touched(what))
        ]
        if not group.persistent and any(edges & run.begin for run in self.runs):
            found.append(-1)
        return (min(found), max(found)) if found else None

    def share_in_place(self) -> None:
        """Lets outputs that need equally many bytes take over the memory of inputs."""
        lives = [self.lives(run) for run in self.runs]
        taken: set[EdgeId] = set()
        for found in self.sharings:
            source, target = self.groups.of[found.source], self.groups.of[found.target]
            if (
                found.distance > 0
                or found.target in taken
                or source is target
                or not (source.is_free and target.is_free)
                or not sharing.same_room(source, target)
                or self.groups.is_overwritten(found)
                or self.clash(source, target)
                or not all(_meet_at(life, source, target, found.position) for life in lives)
            ):
                continue
            taken.add(found.target)
            kept, gone = id(source), id(target)
            self.groups.join(found.source, found.target)
            for life in lives:
                spans = [life.pop(group) for group in (kept, gone) if group in life]
                if spans:
                    life[kept] = (min(s[0] for s in spans), max(s[1] for s in spans))


def _meet_at(life: Mapping[int, Life], source: Group, target: Group, position: int) -> bool:
    """Whether in a run the source's last use is the target's first, or one of them has none."""
    first, second = life.get(id(source)), life.get(id(target))
    if first is None or second is None:
        return True
    return first[1] < second[0] or (first[1] == position == second[0])


def touched(what: Choice | Copy) -> tuple[EdgeId, ...]:
    """The edges that are read or written."""
    if isinstance(what, Copy):
        return (what.source, what.target)
    layer = what.layer
    return (*sharing.reads_of(layer), *(operand.edge for operand in layer.outputs))


def scratches(what: Choice | Copy) -> list[tuple[int, Region | None]]:
    """Bytes of the scratch buffer and of the scratch regions, which carry themselves."""
    if isinstance(what, Copy):
        return []
    workload = what.workload
    found: list[tuple[int, Region | None]] = []
    if workload.scratch_bytes:
        found.append((workload.scratch_bytes, None))
    return found + [
        (region.bytes, region)
        for region in dict.fromkeys(workload.regions)
        if region.kind is RegionKind.SCRATCH
    ]


class _Buffers:
    """The buffers: a group each, then scratch by step, then the backends' private memory."""

    def __init__(self, graph: Graph, analysis: _Analysis) -> None:
        self.buffers: list[Buffer] = []
        self.tensors: dict[EdgeId, Tensor] = {}
        self.slots: dict[int, int] = {}
        self._analysis = analysis
        self._numbers: dict[int, int] = {}
        self._lives: list[dict[int, Life]] = []
        self._marks: dict[int, set[Mark]] = {}
        whole = analysis.lives(analysis.runs[0])
        for group in analysis.groups.all:
            number = self._numbers[id(group)] = len(self.buffers)
            first, last = whole.get(id(group), (-1, analysis.end))
            label = graph.edge_name(group.edges[0])
            self.buffers.append(
                Buffer(number, max(group.bytes, 1), first, last, label, group.persistent)
            )
            self._marks[number] = analysis.marks(group)
            if group.slot is not None:
                self.slots[number] = group.slot
            for edge in group.edges:
                self.tensors[edge] = Tensor(edge, number, graph.type(edge).bytes)
        for run in analysis.runs:
            lives = analysis.lives(run)
            self._lives.append({self._numbers[group]: life for group, life in lives.items()})

    def step(self, index: int, choice: Choice) -> Step:
        """A layer that is called; its scratch is added to the buffers."""
        scratch, regions = None, {}
        for size, region in scratches(choice):
            what = "scratch" if region is None else region.name
            number = self._add(
                size, index, [index in run.positions for run in self._analysis.runs],
                f"{what} of {choice.layer.name}",
            )  # fmt: skip
            if region is None:
                scratch = number
            else:
                regions[region] = number
        return Step(index, choice, scratch, regions)

    def _add(self, size: int, position: int, present: Sequence[bool], label: str) -> int:
        number = len(self.buffers)
        self.buffers.append(Buffer(number, size, position, position, label))
        mark = self._analysis.position_marks.get(position)
        self._marks[number] = set() if mark is None else {mark}
        for lives, there in zip(self._lives, present, strict=True):
            if there:
                lives[number] = (position, position)
        return number

    def private(self, size: int) -> int | None:
        """The buffer of the private regions, which nothing else ever shares; None without any."""
        return self._persistent(size, "private memory of backends") if size else None

    def table(self, size: int) -> int | None:
        """The buffer of the table of pointers; None where no entry is needed."""
        return self._persistent(size, "pointers to the caller's tensors") if size else None

    def _persistent(self, size: int, label: str) -> int:
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

    def overlaps(self) -> dict[Pair, int]:
        """(output, input) and the distance, where that one step is all that they have in common."""
        groups = self._analysis.groups.of
        found: dict[Pair, int] = {}
        for sharing_ in self._analysis.sharings:
            source, target = groups[sharing_.source], groups[sharing_.target]
            pair = (self._numbers[id(target)], self._numbers[id(source)])
            if source is target or not (source.is_free and target.is_free):
                continue
            if self._analysis.clash(source, target):
                continue
            if self._analysis.groups.is_overwritten(sharing_):
                continue
            if all(self._only_at(lives, pair, sharing_) for lives in self._lives):
                found[pair] = sharing_.distance
        return found

    def _only_at(self, lives: Mapping[int, Life], pair: Pair, found: Sharing) -> bool:
        output, input_ = (lives.get(number) for number in pair)
        if output is None or input_ is None:
            return True
        return input_[1] < output[0] or input_[1] == found.position == output[0]


def _private_offsets(choices: Sequence[Choice], calls: Sequence[RegionCall]) -> dict[Region, int]:
    """Where each private region that anyone uses lies among them, in the order of asking."""
    used = {r for c in choices if not c.workload.is_view for r in c.workload.regions}
    used |= {r for call in calls for r in call.regions}
    private = [r for r in used if r.kind is RegionKind.PRIVATE]
    offsets: dict[Region, int] = {}
    size = 0
    for region in sorted(private, key=lambda r: (r.backend, r.number)):
        offsets[region] = size
        size += aligned(region.bytes)
    return offsets
