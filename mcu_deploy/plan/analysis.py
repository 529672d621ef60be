"""How long what lies in one place holds something: from which position of the program to which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcu_deploy.backends.interface import Region, RegionKind
from mcu_deploy.choose.select import Choice
from mcu_deploy.ir import EdgeId
from mcu_deploy.plan import groups as sharing
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.concurrency import Mark, clash
from mcu_deploy.plan.control import loops
from mcu_deploy.plan.exposure import State
from mcu_deploy.plan.groups import Group, Groups, Run, Sharing
from mcu_deploy.plan.lowering import Happening
from mcu_deploy.plan.model import Copy

Life = tuple[int, int]  # the first and the last position, both included


class Analysis:
    """Groups, and their lives in each run."""

    def __init__(
        self,
        groups: Groups,
        happenings: Sequence[Happening],
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
        self.loops = loops(happenings)
        self.sharings = [
            found
            for position, what in enumerate(happenings if reuse else ())
            for found in self._sharings(position, what)
        ]

    def _sharings(self, position: int, what: Happening) -> list[Sharing]:
        if isinstance(what, Choice):
            return sharing.sharings(what.layer, what, position, self.groups)
        if isinstance(what, Copy) and what.source in self.groups.of:
            return [Sharing(position, what.source, what.target, 0, frozenset(), exact=True)]
        return []

    def lives(self, run: Run) -> dict[int, Life]:
        """By group: from where to where it holds something in a run."""
        lives: dict[int, Life] = {}

        def use(edge: EdgeId, position: int) -> None:
            if edge not in self.groups.of:
                return  # a constant
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
        lives = {group: self.through_loops(life) for group, life in lives.items()}
        for group in self.groups.all:
            if group.persistent or (not self.reuse and id(group) in lives):
                lives[id(group)] = (-1, self.end)
        return lives

    def through_loops(self, life: Life, positions: range | None = None) -> Life:
        """A life as long as each loop that it enters or leaves: the next round needs it again.

        positions: only loops among them count.
        """
        first, last = life
        for loop in self.loops:  # outer ones first: what covers one ends in none inside of it
            if positions is not None and not (loop.begin in positions and loop.end in positions):
                continue
            if first < loop.begin <= last < loop.end:
                last = loop.end
            elif loop.begin < first <= loop.end < last:
                first = loop.begin
        return first, last

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

    def join_state(self, state: State, positions: range) -> None:
        """Lets a state's next value be written over it, where nothing reads it any more.

        positions: without the copies into states.
        """
        here, there = self.groups.of[state.input], self.groups.of[state.output]
        if self.may_follow(here, there, positions):
            self.groups.join(state.input, state.output)

    def may_follow(self, here: Group, there: Group, positions: range) -> bool:
        """Whether what is next may be written over what is now, of equal size: nothing reads that
        any more at these positions, and nothing is in its place before.
        """
        if here is there or not there.is_free or not sharing.same_room(here, there):
            return False
        if self.clash(here, there):
            return False
        over = {
            s.position
            for s in self.sharings
            if s.distance <= 0
            and self.groups.of[s.source] is here
            and self.groups.of[s.target] is there
        }
        written, read = self._span(there, positions), self._span(here, positions)
        if written is None or self.is_given(there):
            return False
        return read is None or read[1] < written[0] or (read[1] == written[0] and read[1] in over)

    def is_given(self, group: Group) -> bool:
        """Whether an input of a run is in a group that does not hold it all the time."""
        return not group.persistent and any({*group.edges} & run.begin for run in self.runs)

    def touches(self, group: Group, positions: range) -> list[int]:
        """Those of some positions that touch a group."""
        edges = set(group.edges)
        return [p for p in positions if edges & set(touched(self.happenings[p]))]

    def _span(self, group: Group, positions: range) -> Life | None:
        """The first and the last of some positions that touch a group, through whole loops."""
        found = self.touches(group, positions)
        if not found:
            return None
        return self.through_loops((found[0], found[-1]), positions)

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


def touched(what: Happening) -> tuple[EdgeId, ...]:
    """The edges that are read or written; constants may be among them."""
    if isinstance(what, Choice):
        layer = what.layer
        return (*sharing.reads_of(layer), *(operand.edge for operand in layer.outputs))
    return what.edges


def scratches(what: Happening) -> list[tuple[int, Region | None]]:
    """Bytes of the scratch buffer and of the scratch regions, which carry themselves."""
    if not isinstance(what, Choice):
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
