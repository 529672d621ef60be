"""Two cores at work in one memory: plans with lanes, run in any interleaving of their accesses.

A layer is a list of accesses to single bytes. Its order is the worst that the layer's facts allow:
each byte of an input is read as late as it may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import strategies as st
from plan_cases import REGIONS, WAYS, Maker, Problem
from plan_memory import Address, Corrupt, Memory

from mcu_deploy.backends.interface import Costs, InPlace, RegionKind
from mcu_deploy.ir import EdgeId
from mcu_deploy.plan import Plan, Step

COSTLY, CHEAP = Costs(instructions=50_000), Costs(instructions=100)
SCRATCH = tuple(region for region in REGIONS if region.kind is RegionKind.SCRATCH)


# ---- Networks that fork ----


@st.composite
def branchy(draw: st.DrawFn) -> Problem:
    """One or two forks of two or three branches, with views, scratch, overlap, dead outputs."""
    maker = Maker()
    sizes = st.integers(1, 60)
    before = [maker.input(draw(sizes))] if draw(st.integers(0, 4)) == 0 else []
    trunk = [maker.input(draw(sizes)), *before]
    for _ in range(draw(st.integers(1, 2))):
        ends = []
        for _ in range(draw(st.integers(2, 3))):
            edge = draw(st.sampled_from(trunk[-2:]))
            for _ in range(draw(st.integers(1, 3))):
                edge = _layer(draw, maker, [edge, *_also(draw, trunk)], draw(sizes))
                if draw(st.integers(0, 4)) == 0:
                    edge = maker.view(edge)
            ends.append(edge)
        trunk.append(_layer(draw, maker, ends, draw(sizes)))
    states = [(state, _layer(draw, maker, [trunk[-1], state], None)) for state in before]
    return maker.finish(
        trunk[-1], *draw(st.lists(st.sampled_from(ends), max_size=1)), states=states
    )


def _also(draw: st.DrawFn, edges: Sequence[EdgeId]) -> list[EdgeId]:
    """Sometimes one of the trunk's edges, which other branches read too."""
    return [draw(st.sampled_from(edges))] if draw(st.integers(0, 2)) == 0 else []


def _layer(draw: st.DrawFn, maker: Maker, inputs: Sequence[EdgeId], size: int | None) -> EdgeId:
    """size: of the first output; None: that of the last input."""
    of_input = maker.editor.types[inputs[-1]].shape[0]
    first = of_input if size is None or draw(st.booleans()) else size
    sizes = [first, *([draw(st.integers(1, 20))] if draw(st.integers(0, 4)) == 0 else [])]
    scratch = draw(st.sampled_from([0, 0, 1, 40]))
    in_place = [
        InPlace(i, target, *draw(st.sampled_from(WAYS)))
        for i in range(len(inputs))
        for target in ([0, None] if scratch else [0])
        if draw(st.booleans())
    ]
    regions = list(draw(st.sampled_from([(), (), *((r,) for r in SCRATCH), SCRATCH])))
    if draw(st.integers(0, 30)) == 0:
        regions.append(REGIONS[0])
    return maker.layer(
        inputs, *sizes, in_place=tuple(in_place), regions=tuple(regions),
        scratch_bytes=scratch,
        costs=draw(st.sampled_from([COSTLY, COSTLY, COSTLY, CHEAP])),
    )[0]  # fmt: skip


def fork(*branches: int, **facts: Any) -> Problem:
    """in (32) -> so many layers of 32 bytes in each branch -> one that joins all; costly ones."""
    maker = Maker()
    x = maker.input(32)
    ends = []
    for length in branches:
        edge = x
        for _ in range(length):
            (edge,) = maker.layer([edge], 32, costs=COSTLY, **facts)
        ends.append(edge)
    return maker.finish(*maker.layer(ends, 16, costs=COSTLY))


# ---- Accesses ----


@dataclass(frozen=True)
class Access:
    """A byte is written, or must hold this value when it is read."""

    address: Address
    value: object
    writes: bool
    edge: EdgeId | None = None

    def happen(self, memory: Memory) -> None:
        if self.writes:
            if self.address in memory.owners and self.edge not in memory.owners[self.address]:
                raise Corrupt(f"{self.value} is written to what is not its own")
            memory.bytes[self.address] = self.value
        elif memory.bytes.get(self.address) != self.value:
            raise Corrupt(f"{self.value} is gone")


def accesses(memory: Memory, step: Step, random: Random) -> Iterator[Access]:
    """What a layer does, in an order that its facts allow: of an input on which an output or its
    scratch may lie exactly, each byte is read as with the distance 0."""
    layer, workload = step.choice.layer, step.choice.workload
    inputs = [o.edge for o in layer.inputs if o is not None]
    outputs = [o.edge for o in layer.outputs]
    scratch = [
        (buffer == step.scratch, number, Access(address, ((buffer, step.index), number), True))
        for buffer, size in _scratches(step)
        for number, address in enumerate(memory.stretch(buffer, size))
    ]
    distances = {(p.input, p.output): p.distance for p in workload.in_place}
    unread = [[*enumerate(memory.place(edge))] for edge in inputs]

    def read(i: int, until: int) -> Iterator[Access]:
        """Of an input all bytes below `until` that have not been read."""
        while unread[i] and unread[i][0][0] <= until:
            byte, address = unread[i].pop(0)
            yield Access(address, (memory.root(inputs[i]), byte), False)

    for is_own, number, access in scratch:
        for i in range(len(inputs)):
            if is_own and (i, None) in distances:
                yield from read(i, number - distances[i, None])
        yield access
    left = [[*enumerate(memory.place(edge))] for edge in outputs]
    while any(left):
        o = random.choice([number for number, bytes_ in enumerate(left) if bytes_])
        for byte, address in [left[o].pop(0) for _ in range(min(len(left[o]), 5))]:
            for i in range(len(inputs)):
                if (i, o) in distances:
                    yield from read(i, byte - distances[i, o])
            yield Access(address, (outputs[o], byte), True, outputs[o])
    for i in range(len(inputs)):
        yield from read(i, 1 << 30)
    yield from (replace(access, writes=False) for _, _, access in scratch)
    for edge in outputs:
        for byte, address in enumerate(memory.place(edge)):
            yield Access(address, (edge, byte), False)


def _scratches(step: Step) -> Iterator[tuple[int, int]]:
    """(buffer, bytes) of a layer's scratch."""
    for region, buffer in step.regions.items():
        yield buffer, region.bytes
    if step.scratch is not None:
        yield step.scratch, step.choice.workload.scratch_bytes


def interleaved(lanes: Sequence[Iterator[Access]], random: Random) -> Iterator[Access]:
    """All accesses of all lanes, in bursts of random length."""
    waiting = list(lanes)
    while waiting:
        lane = random.choice(waiting)
        for _ in range(random.choice([1, 1, 3, 40, 1000])):
            access = next(lane, None)
            if access is None:
                waiting.remove(lane)
                break
            yield access


def run_on_two_cores(problem: Problem, plan: Plan, seed: int) -> None:
    """Runs the network once in one interleaving. Raises Corrupt where a value is disturbed."""
    random = Random(seed)
    memory = Memory(problem, plan)
    memory.reserve()
    for edge in problem.graph.inputs:
        memory.write_edge(edge)
    memory.require_edges(problem.graph.inputs)
    begins = {stretch.positions[0]: stretch for stretch in plan.parallel}
    position = 0
    while position < len(plan.program):
        stretch = begins.get(position)
        if stretch is None:
            memory.run([position])
            position += 1
            continue
        lanes = [_lane(memory, lane, random) for lane in stretch.lanes]
        for access in interleaved(lanes, random):
            access.happen(memory)
        position += len(stretch.positions)
    memory.require_edges(problem.exposure.outputs(problem.graph))
    for state in problem.exposure.states:
        memory.require(memory.place(state.input), memory.root(state.output))


def _lane(memory: Memory, positions: Sequence[int], random: Random) -> Iterator[Access]:
    for position in positions:
        step = memory.plan.program[position]
        assert isinstance(step, Step)
        yield from accesses(memory, step, random)
