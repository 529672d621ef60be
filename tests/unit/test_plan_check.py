"""The plan's checker, attacked: it must agree with a simulation of the memory, byte by byte."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mcu_deploy import plan
from mcu_deploy.backends.interface import (
    CFunction,
    InPlace,
    Region,
    RegionKind,
    Workload,
    layer_of,
)
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, TensorType
from mcu_deploy.plan import Plan, PlanError, Tensor, check
from mcu_deploy.plan.model import ALIGNMENT
from mcu_deploy.plan.planner import conflicts
from mcu_deploy.select import Choice

FUNCTION = CFunction("layer", (), "{\n}")
REGIONS = (
    Region("Test", 0, RegionKind.PRIVATE, "state", 20),
    Region("Test", 1, RegionKind.SCRATCH, "sums", 33),
    Region("Test", 2, RegionKind.PRIVATE, "flag", 1),
    Region("Test", 3, RegionKind.SCRATCH, "line", 16),
)
QUICK = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@dataclass(frozen=True)
class Problem:
    """A network to be planned: int8 vectors, and the memory facts of each layer."""

    graph: Graph
    choices: tuple[Choice, ...]

    def plan(self, reuse: bool = True) -> Plan:
        return plan.make(self.graph, self.choices, plan.Options(reuse=reuse))


class Maker:
    """Writes problems: a layer is its inputs, the sizes of its outputs, and its memory facts."""

    def __init__(self) -> None:
        self.editor = GraphEditor.empty("problem")
        self.workloads: dict[int, Workload] = {}

    def edge(self, size: int) -> EdgeId:
        return self.editor.add_edge(f"e{len(self.editor.edges)}", TensorType(DType.INT8, (size,)))

    def input(self, size: int) -> EdgeId:
        edge = self.edge(size)
        self.editor.inputs.append(edge)
        return edge

    def layer(self, inputs: Sequence[EdgeId], *sizes: int, **facts: Any) -> list[EdgeId]:
        outputs = [self.edge(size) for size in sizes]
        node = self.editor.add_node("Layer", inputs, outputs, f"l{len(self.editor.nodes)}")
        self.workloads[node] = Workload("Test", FUNCTION, **facts)
        return outputs

    def view(self, source: EdgeId) -> EdgeId:
        (output,) = self.layer([source], *self.editor.types[source].shape)
        self.workloads[len(self.workloads) - 1] = Workload("Test", None)
        return output

    def finish(self, *outputs: EdgeId) -> Problem:
        self.editor.outputs = list(outputs)
        graph = self.editor.finish()
        choices = [Choice(layer_of(graph, n), self.workloads[n.id]) for n in graph.nodes]
        return Problem(graph, tuple(choices))


@st.composite
def problems(draw: st.DrawFn, sharing: bool = True) -> Problem:
    """Up to three inputs and ten layers with views, scratch, in place, several or dead outputs."""
    maker = Maker()
    sizes = st.integers(1, 100)
    edges = [maker.input(draw(sizes)) for _ in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(1, 10))):
        if draw(st.integers(0, 3)) == 0:
            edges.append(maker.view(draw(st.sampled_from(edges))))
            continue
        inputs = draw(st.lists(st.sampled_from(edges), min_size=1, max_size=3))
        same = st.just(maker.editor.types[inputs[0]].shape[0])
        outputs = draw(st.lists(sizes | same, min_size=1, max_size=2))
        pairs = st.builds(
            InPlace,
            st.integers(0, len(inputs) - 1),
            st.integers(0, len(outputs) - 1),
            st.sampled_from([0, 0, 0, 4]),
        )
        edges += maker.layer(
            inputs, *outputs,
            in_place=tuple(draw(st.lists(pairs, max_size=3 if sharing else 0))),
            scratch_bytes=draw(st.sampled_from([0, 0, 0, 1, 40])),
            regions=tuple(draw(st.lists(st.sampled_from(REGIONS), max_size=3))),
        )  # fmt: skip
    ends = draw(st.lists(st.sampled_from(edges), min_size=1, max_size=3, unique=True))
    return maker.finish(edges[-1], *ends)


def simulate(problem: Problem, plan_: Plan) -> bool:
    """Whether every value survives: each byte of the workspace remembers who wrote it last."""
    views = {
        c.layer.output.edge: c.layer.input(0).edge for c in problem.choices if c.workload.is_view
    }

    def value(edge: EdgeId) -> EdgeId:
        while edge in views:
            edge = views[edge]
        return edge

    def place(edge: EdgeId) -> range:
        start = plan_.offset(edge)
        return range(start, start + problem.graph.type(edge).bytes)

    if any(plan_.offset(v) != plan_.offset(s) for v, s in views.items()):
        return False
    memory: dict[int, object] = {}

    def write(at: range, what: object) -> bool:
        memory.update(dict.fromkeys(at, what))
        return at.start >= 0 and at.stop <= plan_.bytes and at.start % ALIGNMENT == 0

    def holds(at: range, what: object) -> bool:
        return all(memory.get(byte) == what for byte in at)

    def holds_private() -> bool:
        return all(holds(at, region) for region, at in private.items())

    good = True
    private = {
        r: range(plan_.private_offset(r), plan_.private_offset(r) + r.bytes)
        for r in plan_.private_offsets
    }
    for region, at in private.items():
        good &= write(at, region)
    for edge in problem.graph.inputs:
        good &= write(place(edge), edge)
    good &= all(holds(place(e), e) for e in problem.graph.inputs) and holds_private()
    for step in plan_.steps:
        layer, workload = step.choice.layer, step.choice.workload
        inputs = [o.edge for o in layer.inputs if o is not None]
        scratches: dict[object, range] = {
            region: range(plan_.offsets[buffer], plan_.offsets[buffer] + region.bytes)
            for region, buffer in step.regions.items()
        }
        if step.scratch is not None:
            start = plan_.offsets[step.scratch]
            scratches["scratch"] = range(start, start + workload.scratch_bytes)
        for what, at in scratches.items():
            good &= write(at, what)
        good &= all(holds(place(e), value(e)) for e in inputs)
        # An output may run over an input only behind the reader of that input.
        for index, edge in enumerate(inputs):
            for o, operand in enumerate(layer.outputs):
                at = place(operand.edge)
                if set(at) & set(place(edge)):
                    good &= InPlace(index, o) in workload.in_place
                    good &= at.start == place(edge).start and len(at) <= len(place(edge))
        for operand in layer.outputs:
            good &= write(place(operand.edge), operand.edge)
        good &= all(holds(place(o.edge), o.edge) for o in layer.outputs)
        good &= all(holds(at, what) for what, at in scratches.items()) and holds_private()
    return good and all(holds(place(e), value(e)) for e in problem.graph.outputs)


def accepts(problem: Problem, plan_: Plan) -> bool:
    try:
        check(problem.graph, problem.choices, plan_)
    except PlanError:
        return False
    return True


@given(problems(), st.booleans())
@QUICK
def test_the_planner_makes_plans_that_hold(problem: Problem, reuse: bool) -> None:
    made = problem.plan(reuse)  # checks itself; raises PlanError
    assert simulate(problem, made)
    assert made.bytes >= made.lower_bound == bound(made)
    assert made.bytes == max(
        made.offsets[b.id] + -(-b.bytes // ALIGNMENT) * ALIGNMENT for b in made.buffers
    )
    if not reuse:
        # Whatever was written is there at the end, so the places of distinct values are apart.
        taken = sorted(
            (made.offset(e), made.tensors[e].bytes)
            for e in {t.buffer: e for e, t in made.tensors.items()}.values()
        )
        assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(taken))


def bound(made: Plan) -> int:
    """The lower bound, counted step by step."""
    last = max(b.last for b in made.buffers)
    sums = [
        sum(-(-b.bytes // ALIGNMENT) * ALIGNMENT for b in made.buffers if b.first <= s <= b.last)
        for s in range(-1, last + 1)
    ]
    return max(sums)


@given(problems(), st.data())
@QUICK
def test_moved_buffers_are_judged_as_the_memory_judges_them(
    problem: Problem, data: st.DataObject
) -> None:
    """Up to three buffers go anywhere: before, inside, behind, aligned or not."""
    made = problem.plan()
    offsets = dict(made.offsets)
    for buffer in data.draw(st.lists(st.sampled_from(made.buffers), min_size=1, max_size=3)):
        steps = st.integers(-1, made.bytes // ALIGNMENT)
        nudge = st.sampled_from([0, 0, 0, 0, 1, 8])
        offsets[buffer.id] = ALIGNMENT * data.draw(steps) + data.draw(nudge)
    attacked = replace(made, offsets=offsets)
    assert accepts(problem, attacked) == simulate(problem, attacked)


@given(problems(sharing=False), st.data())
@QUICK
def test_two_live_buffers_in_one_place_are_refused(problem: Problem, data: st.DataObject) -> None:
    made = problem.plan()
    pairs = [(a, b) for a, others in conflicts(made.buffers).items() for b in others]
    assume(pairs)
    first, second = data.draw(st.sampled_from(sorted(pairs)))
    attacked = replace(made, offsets={**made.offsets, first: made.offsets[second]})
    assert not accepts(problem, attacked)


def pair(regions: tuple[Region, ...] = ()) -> Problem:
    """in (32) -> a (32, may replace it) -> b (16), with scratch; all in separate places."""
    maker = Maker()
    x = maker.input(32)
    (a,) = maker.layer([x], 32, regions=regions)
    (b,) = maker.layer([a], 16, in_place=(InPlace(0, 0),), scratch_bytes=20)
    return maker.finish(b)


def test_a_right_plan_by_hand_is_accepted() -> None:
    problem = pair()
    made = problem.plan()
    assert accepts(problem, made)
    assert (made.bytes, made.lower_bound) == (64, 64)
    # b lies in a's place, x and scratch share the other.
    assert made.offset(1) == made.offset(2)


def test_what_is_missing_is_refused() -> None:
    problem = pair(REGIONS[:3])
    made = problem.plan()
    scratch = made.steps[1].scratch
    assert scratch is not None
    attacks = {
        "edges \\[1\\] have no place": {"tensors": {e: made.tensors[e] for e in (0, 2)}},
        "has 32 bytes, not 16": {"tensors": {**made.tensors, 1: Tensor(1, 1, 16)}},
        "has no offset": {"offsets": {b: o for b, o in made.offsets.items() if b != scratch}},
        "edge . lies outside of the workspace": {"bytes": 48},
        "edge 0 lies outside of the workspace": {"offsets": {**made.offsets, 0: -ALIGNMENT}},
        "no multiple of 16": {"offsets": {**made.offsets, 0: 8}},
        "are called, but": {"steps": made.steps[:1]},
        "overwritten before": {"steps": made.steps[::-1]},
        "needs 20 bytes of scratch": {
            "steps": (made.steps[0], replace(made.steps[1], scratch=None))
        },
        "'state' of Test has no place": {"private_offsets": {REGIONS[2]: 0}},
        "'flag' of Test lies at 8, which is no multiple": {
            "private_offsets": {REGIONS[0]: 0, REGIONS[2]: 8},
            "offsets": {**made.offsets, made.private: 0},
        },
        "lies outside of the private memory": {"private_offsets": {REGIONS[0]: 0, REGIONS[2]: 48}},
        "overlaps the region 'state'": {"private_offsets": {REGIONS[0]: 0, REGIONS[2]: 0}},
        "edge 0 overlaps the region": {"offsets": {**made.offsets, made.private: made.offset(0)}},
        "needs 33 bytes of scratch": {"steps": (replace(made.steps[0], regions={}), made.steps[1])},
    }
    for sentence, change in attacks.items():
        with pytest.raises(PlanError, match=sentence):
            check(problem.graph, problem.choices, replace(made, **change))


def test_in_place_is_for_the_pair_that_allows_it() -> None:
    """An output on an input: not that of another pair, not longer than it, not further on."""

    def attempt(size: int, output: int, shift: int, distance: int = 0) -> bool:
        maker = Maker()
        x = maker.input(64)
        outputs = maker.layer([x], size, size, in_place=(InPlace(0, 0, distance),))
        problem = maker.finish(*outputs)
        made = problem.plan(reuse=False)
        buffer = made.tensors[outputs[output]].buffer
        offsets = {**made.offsets, buffer: made.offset(x) + shift}
        return accepts(problem, replace(made, offsets=offsets, bytes=512))

    assert attempt(size=64, output=0, shift=0)
    assert attempt(size=16, output=0, shift=0)
    assert not attempt(size=64, output=1, shift=0)
    assert not attempt(size=80, output=0, shift=0)
    assert not attempt(size=16, output=0, shift=16)
    assert not attempt(size=64, output=0, shift=0, distance=4)


def test_a_view_elsewhere_than_its_source_is_refused() -> None:
    maker = Maker()
    x = maker.input(16)
    view = maker.view(x)
    problem = maker.finish(*maker.layer([view], 16))
    made = problem.plan()
    moved = {**made.tensors, view: Tensor(view, made.tensors[2].buffer, 16)}
    with pytest.raises(PlanError, match="lies elsewhere"):
        check(problem.graph, problem.choices, replace(made, tensors=moved))
