"""How long what lies in one place holds something: from which position of the program to which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcu_deploy.arrange.exposure import State
from mcu_deploy.backends.interface import Region, RegionKind
from mcu_deploy.ir import EdgeId
from mcu_deploy.plan import storage as sharing
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.concurrency import Mark, clash
from mcu_deploy.plan.control import loops
from mcu_deploy.plan.lowering import Happening
from mcu_deploy.plan.model import Copy
from mcu_deploy.plan.storage import Run, Sharing, Storage, Storages
from mcu_deploy.selection import Choice

Life = tuple[int, int]  # the first and the last position, both included


class Analysis:
    """Storages, and their lives in each run."""

    def __init__(
        self,
        storages: Storages,
        happenings: Sequence[Happening],
        runs: Sequence[Run],
        reuse: bool,
        marks: Mapping[int, Mark],
    ) -> None:
        self.storages = storages
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
            return sharing.sharings(what.layer, what, position, self.storages)
        if isinstance(what, Copy) and what.source in self.storages.of:
            return [Sharing(position, what.source, what.target, 0, frozenset(), exactly=True)]
        return []

    def lives(self, run: Run) -> dict[int, Life]:
        """By storage: from where to where it holds something in a run."""
        lives: dict[int, Life] = {}

        def use(edge: EdgeId, position: int) -> None:
            if edge not in self.storages.of:
                return  # a constant
            storage = id(self.storages.of[edge])
            first, last = lives.get(storage, (position, position))
            lives[storage] = (min(first, position), max(last, position))

        for edge in run.begin:
            use(edge, -1)
        for position in sorted(run.positions):
            for edge in touched(self.happenings[position]):
                use(edge, position)
        for edge in run.end:
            use(edge, self.end)
        lives = {storage: self.through_loops(life) for storage, life in lives.items()}
        for storage in self.storages.all:
            if storage.persistent or (not self.reuse and id(storage) in lives):
                lives[id(storage)] = (-1, self.end)
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

    def marks(self, storage: Storage) -> set[Mark]:
        """In which lanes a storage is used."""
        return set().union(*(self.edge_marks.get(edge, set()) for edge in storage.edges))

    def clash(self, first: Storage, second: Storage) -> bool:
        """Whether two cores may use the storages at one time."""
        return bool(self.edge_marks) and clash(self.marks(first), self.marks(second))

    def lower_bound(self) -> int:
        """The largest sum of aligned storages and scratch that live at one position."""
        sizes = {
            id(storage): aligned(max(storage.bytes, 1)) if storage.slot is None else 0
            for storage in self.storages.all
        }
        most = 0
        for run in self.runs:
            changes = [0] * (self.end + 3)
            for storage, (first, last) in self.lives(run).items():
                changes[first + 1] += sizes[storage]
                changes[last + 2] -= sizes[storage]
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
        if self.may_follow(state.input, state.output, positions):
            self.storages.join(state.input, state.output)

    def may_follow(self, now: EdgeId, after: EdgeId, positions: range) -> bool:
        """Whether what is next may be written over what is now, of equal size: nothing reads that
        any more at these positions, and nothing is in its place before.
        """
        here, there = self.storages.of[now], self.storages.of[after]
        if here is there or not there.is_free or not self.storages.same_room(now, after):
            return False
        if self.clash(here, there):
            return False
        over = {
            s.position
            for s in self.sharings
            if s.target is not None
            and self.storages.of[s.source] is here
            and self.storages.of[s.target] is there
            and (ahead := self.storages.ahead(s)) is not None
            and ahead <= 0
        }
        written, read = self._span(there, positions), self._span(here, positions)
        if written is None or self.is_given(there):
            return False
        return read is None or read[1] < written[0] or (read[1] == written[0] and read[1] in over)

    def is_given(self, storage: Storage) -> bool:
        """Whether an input of a run is in a storage that does not hold it all the time."""
        return not storage.persistent and any({*storage.edges} & run.begin for run in self.runs)

    def touches(self, storage: Storage, positions: range) -> list[int]:
        """Those of some positions that touch a storage."""
        edges = set(storage.edges)
        return [p for p in positions if edges & set(touched(self.happenings[p]))]

    def _span(self, storage: Storage, positions: range) -> Life | None:
        """The first and the last of some positions that touch a storage, through whole loops."""
        found = self.touches(storage, positions)
        if not found:
            return None
        return self.through_loops((found[0], found[-1]), positions)

    def may_overlap(self, found: Sharing, lives: Sequence[Mapping[int, Life]]) -> bool:
        """Whether an output, or scratch, may lie on its input, of another storage: in each of the
        runs that one position is all that they have in common, if it is as much.
        """
        source = self.storages.of[found.source]
        if not source.is_free or self.storages.is_overwritten(found):
            return False
        if found.target is None:
            mark = self.position_marks.get(found.position)
            return not clash(self.marks(source), () if mark is None else (mark,)) and all(
                life[id(source)][1] == found.position
                for life, run in zip(lives, self.runs, strict=True)
                if found.position in run.positions
            )
        target = self.storages.of[found.target]
        if source is target or not target.is_free or self.clash(source, target):
            return False
        spans = ((life.get(id(source)), life.get(id(target))) for life in lives)
        return all(
            here is None or there is None or here[1] < there[0]
            or here[1] == found.position == there[0]
            for here, there in spans
        )  # fmt: skip

    def share_in_place(self) -> None:
        """Lets outputs that need equally many bytes take over the memory of inputs.

        Where one may lie exactly there or apart, placement decides: what reads it may want it
        farther ahead of its own output.
        """
        lives = [self.lives(run) for run in self.runs]
        for found in self.sharings:
            if found.target is None:
                continue  # scratch has a size of its own
            source, target = self.storages.of[found.source], self.storages.of[found.target]
            ahead = self.storages.ahead(found)
            if (
                ahead is None
                or ahead > 0
                or (found.exactly and isinstance(self.happenings[found.position], Choice))
                or not self.storages.same_room(found.source, found.target)
                or not self.may_overlap(found, lives)
            ):
                continue
            kept, gone = id(source), id(target)
            self.storages.join(found.source, found.target)
            for life in lives:
                spans = [life.pop(storage) for storage in (kept, gone) if storage in life]
                if spans:
                    life[kept] = (min(s[0] for s in spans), max(s[1] for s in spans))


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
