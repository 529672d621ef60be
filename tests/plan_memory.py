"""A memory that remembers who wrote each byte: what a plan does to it, run by run.

Nothing here knows of lifetimes or conflicts. Layers are the worst that their facts allow: a layer
writes its output byte by byte, and reads each byte of an input as late as the fact says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from plan_cases import Problem

from mcu_deploy.backends.interface import InPlace
from mcu_deploy.ir import EdgeId
from mcu_deploy.plan import Copy, InPool, InSlot, Plan, Step
from mcu_deploy.plan.alignment import ALIGNMENT

Address = tuple[str, int, int]  # pool or slot, its number, the byte
INFINITE = 1 << 30


class Corrupt(Exception):
    """A value is gone, or an access goes outside."""


def worst_orders(fact: InPlace | None, read: int, written: int) -> list[list[tuple[bool, int]]]:
    """Accesses to so many bytes of an input and an output or scratch: whether it is a write, and
    which byte.

    With a distance byte w of the output is written once all bytes up to w - distance of the input
    are read; without a fact all are written first. What may lie exactly on its input goes through
    both byte by byte, from either end; what only the output has is written before, and what only
    the input has is read behind.
    """
    if fact is not None and fact.exactly:
        both = range(min(read, written))
        before = [(True, byte) for byte in range(read, written)]
        behind = [(False, byte) for byte in range(written, read)]
        return [
            [*before, *((writes, byte) for byte in order for writes in (False, True)), *behind]
            for order in (both, both[::-1])
        ]
    distance = INFINITE if fact is None else fact.distance
    found = []
    unread = 0
    for byte in range(written):
        until = max(unread, min(read, byte - distance + 1))
        found += [*((False, early) for early in range(unread, until)), (True, byte)]
        unread = until
    return [[*found, *((False, late) for late in range(unread, read))]]


@dataclass
class Memory:
    """Bytes, each with what it is a part of; and stretches that only some edges may write to."""

    problem: Problem
    plan: Plan
    bytes: dict[Address, object] = field(default_factory=dict)
    owners: dict[Address, frozenset[EdgeId]] = field(default_factory=dict)
    _contents: dict[EdgeId, list[tuple[EdgeId, int]]] = field(default_factory=dict)

    # ---- Where ----

    def stretch(self, buffer: int, size: int, start: int = 0) -> list[Address]:
        place = self.plan.places[buffer]
        if isinstance(place, InSlot):
            if not 0 <= place.slot < self.plan.slots:
                raise Corrupt("no such pointer")
            return [("slot", place.slot, at) for at in range(size)]
        assert isinstance(place, InPool)
        first = place.offset + start
        if not 0 <= place.pool < len(self.plan.pools):
            raise Corrupt("no such pool")
        if place.offset % ALIGNMENT or first % ALIGNMENT:
            raise Corrupt("not aligned")
        if first < 0 or first + size > self.plan.pools[place.pool].bytes:
            raise Corrupt("outside")
        return [("pool", place.pool, at) for at in range(first, first + size)]

    def place(self, edge: EdgeId) -> list[Address]:
        tensor = self.plan.tensors[edge]
        return self.stretch(tensor.buffer, self.problem.size(edge), tensor.offset)

    def root(self, edge: EdgeId) -> EdgeId:
        """The edge whose bytes a view shows."""
        for choice in self.problem.choices:
            if choice.workload.is_view and choice.layer.output.edge == edge:
                return self.root(choice.layer.input(0).edge)
        return edge

    def content(self, edge: EdgeId) -> list[tuple[EdgeId, int]]:
        """Of each byte of an edge the edge that was computed, and which byte of it."""
        if edge not in self._contents:
            self._contents[edge] = self._content(edge)
        return self._contents[edge]

    def _content(self, edge: EdgeId) -> list[tuple[EdgeId, int]]:
        size = self.problem.size(edge)
        for choice in self.problem.choices:
            layer = choice.layer
            written = [o.edge for o in layer.outputs]
            if choice.workload.is_view and edge in written:
                begin = 0
                if layer.op == "Concat":
                    return [byte for o in layer.inputs if o for byte in self.content(o.edge)]
                if layer.op == "Split":
                    begin = sum(self.problem.size(e) for e in written[: written.index(edge)])
                elif layer.op == "Slice":
                    constant = layer.input(1).constant
                    assert constant is not None
                    begin = int(constant[0])
                return self.content(layer.input(0).edge)[begin : begin + size]
        return [(edge, byte) for byte in range(size)]

    def family(self, *edges: EdgeId) -> frozenset[EdgeId]:
        """The edges that have bytes of one of these."""
        own = {byte for edge in edges for byte in self.content(edge)}
        return frozenset(e for e in self.plan.tensors if not own.isdisjoint(self.content(e)))

    # ---- What ----

    def values(self, what: object, count: int) -> Sequence[object]:
        """What the bytes of an edge, or of anything else, hold."""
        return self.content(what) if isinstance(what, int) else [(what, n) for n in range(count)]

    def write(self, at: Sequence[Address], what: object, edge: EdgeId | None = None) -> None:
        for value, address in zip(self.values(what, len(at)), at, strict=True):
            if address in self.owners and edge not in self.owners[address]:
                raise Corrupt(f"{what} writes to what is not its own")
            self.bytes[address] = value

    def write_edge(self, edge: EdgeId) -> None:
        self.write(self.place(edge), edge, edge)

    def require(self, at: Sequence[Address], what: object) -> None:
        for value, address in zip(self.values(what, len(at)), at, strict=True):
            if self.bytes.get(address) != value:
                raise Corrupt(f"{what} is gone")

    def require_edges(self, edges: Iterable[EdgeId]) -> None:
        for edge in edges:
            self.require(self.place(edge), edge)

    # ---- What lives from run to run ----

    def reserve(self) -> None:
        """Private regions, the table of pointers, and the states with their present values."""
        plan = self.plan
        kept: list[tuple[list[Address], object, frozenset[EdgeId]]] = []
        if plan.private is not None:
            self.stretch(plan.private, plan.buffers[plan.private].bytes)
            for region, offset in plan.private_offsets.items():
                kept.append((self.stretch(plan.private, region.bytes, offset), region, frozenset()))
        if plan.table is not None:
            size = plan.buffers[plan.table].bytes
            kept.append((self.stretch(plan.table, size), "table", frozenset()))
        for state in self.problem.exposure.states:
            family = self.family(state.input, state.output)
            kept.append((self.place(state.input), state.input, family))
        for at, what, owners in kept:
            self.write(at, what)
            self.owners |= dict.fromkeys(at, owners)
        for at, what, _ in kept:
            self.require(at, what)
        self.private = [(at, what) for at, what, owners in kept if not owners]

    # ---- What happens ----

    def run(self, items: Iterable[int]) -> None:
        for position in items:
            item = self.plan.program[position]
            if isinstance(item, Copy):
                self._copy(item)
            else:
                self._step(item)
            for at, what in self.private:
                self.require(at, what)

    def _copy(self, copy: Copy) -> None:
        source, target = self.place(copy.source), self.place(copy.target)
        self.require_edges([copy.source])
        if source != target and set(source) & set(target) and not self.plan.is_within(copy):
            raise Corrupt("memcpy of what overlaps")
        self.write(target, copy.source, copy.target)

    def _step(self, step: Step) -> None:
        layer, workload = step.choice.layer, step.choice.workload
        inputs = [o.edge for o in layer.inputs if o is not None and o.constant is None]
        outputs = [o.edge for o in layer.outputs]
        regions = [
            (self.stretch(buffer, region.bytes), region) for region, buffer in step.regions.items()
        ]
        scratch: list[Address] = []
        if step.scratch is not None:
            scratch = self.stretch(step.scratch, workload.scratch_bytes)
        for at, what in regions:
            self.write(at, what)
        self.require_edges(inputs)
        facts = {(p.input, p.output): p for p in workload.in_place}
        for i, edge in enumerate(inputs):
            for o, target in [*enumerate(map(self.place, outputs)), (None, scratch)]:
                self._compute(edge, target, facts.get((i, o)))
        self.write(scratch, "scratch")
        for output in outputs:
            self.write_edge(output)
        self.require_edges(outputs)
        for at, what in [*regions, (scratch, "scratch")]:
            self.require(at, what)

    def _compute(self, edge: EdgeId, target: Sequence[Address], fact: InPlace | None) -> None:
        """The memory is as before afterwards: the worst for one pair need not be so for another."""
        before = self.bytes
        source, values = self.place(edge), self.content(edge)
        for accesses in worst_orders(fact, len(source), len(target)):
            self.bytes = dict(before)
            for writes, byte in accesses:
                if writes:
                    self.bytes[target[byte]] = "written"
                elif self.bytes.get(source[byte]) != values[byte]:
                    raise Corrupt(f"{edge} is overwritten while it is read")
        self.bytes = before


def survives(problem: Problem, plan: Plan) -> bool:
    """Whether every run of the network and of its parts alone leaves what it promises."""
    try:
        run_whole(problem, plan)
        for number in range(len(plan.parts)):
            run_part(problem, plan, number)
    except Corrupt:
        return False
    return True


def run_whole(problem: Problem, plan: Plan) -> Memory:
    """The memory after a run of everything."""
    memory = Memory(problem, plan)
    for edge in plan.tensors:
        shown = [memory.place(root)[byte] for root, byte in memory.content(edge)]
        if memory.place(edge) != shown:
            raise Corrupt("a view lies elsewhere")
    memory.reserve()
    for edge in problem.graph.inputs:
        memory.write_edge(edge)
    memory.require_edges(problem.graph.inputs)
    memory.run(range(len(plan.program)))
    exposure = problem.exposure
    memory.require_edges(exposure.outputs(problem.graph))
    memory.require_edges(kept.edge for kept in exposure.kept)
    for state in exposure.states:
        memory.require(memory.place(state.input), state.output)
    return memory


def run_part(problem: Problem, plan: Plan, number: int, memory: Memory | None = None) -> Memory:
    """The memory after a part alone: in a new memory with its inputs, or in one that has them."""
    part = plan.parts[number]
    if memory is None:
        memory = Memory(problem, plan)
        memory.reserve()
        for edge in part.inputs:
            memory.write_edge(edge)
        memory.require_edges(part.inputs)
    memory.run(sorted(part.items))
    memory.require_edges(part.outputs)
    computed = {
        memory.root(operand.edge)
        for position in part.items
        if isinstance(item := plan.program[position], Step)
        for operand in item.choice.layer.outputs
    }
    for kept in problem.exposure.kept:
        if memory.root(kept.edge) in computed:
            memory.require_edges([kept.edge])
    for state in problem.exposure.states:
        is_next = memory.root(state.output) in computed
        memory.require(
            memory.place(state.input), memory.root(state.output if is_next else state.input)
        )
    return memory
