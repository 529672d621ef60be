"""Networks to be planned, written by hand or made at random: int8 vectors and memory facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
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
from mcu_deploy.plan import Exposure, InPool, Kept, Partition, Plan, State
from mcu_deploy.selection import Choice

FUNCTION = CFunction("layer", (), "{\n}")
REGIONS = (
    Region("Test", 0, RegionKind.PRIVATE, "state", 20),
    Region("Test", 1, RegionKind.SCRATCH, "sums", 33),
    Region("Test", 2, RegionKind.PRIVATE, "flag", 1),
    Region("Test", 3, RegionKind.SCRATCH, "line", 16),
)
# How an output or scratch may lie on an input: the distance, and whether exactly there.
WAYS = (*((distance, False) for distance in (0, 0, 0, -16, -100, 4, 16, 40)), *([(0, True)] * 4))


@dataclass(frozen=True)
class Problem:
    """A network to be planned, and what of it is reached from outside."""

    graph: Graph
    choices: tuple[Choice, ...]
    exposure: Exposure

    def plan(self, **options: Any) -> Plan:
        return plan.make(self.graph, self.choices, plan.Planning(**options), exposure=self.exposure)

    def without_copies(self, goal: str, **options: Any) -> tuple[Problem, Plan]:
        """The problem with views in the place of copies, and its plan."""
        planning = plan.Planning(**options)
        choices, made = plan.make_without_copies(
            self.graph, self.choices, planning, (), self.exposure, goal
        )
        return replace(self, choices=choices), made

    def size(self, edge: EdgeId) -> int:
        return self.graph.type(edge).bytes


def moved(made: Plan, offsets: dict[int, int], **changes: Any) -> Plan:
    """A plan with some buffers at other offsets of the workspace."""
    places = {**made.places, **{b: InPool(0, offset) for b, offset in offsets.items()}}
    return replace(made, places=places, **changes)


class Maker:
    """Writes problems: a layer is its inputs, the sizes of its outputs, and its memory facts."""

    def __init__(self) -> None:
        self.editor = GraphEditor.empty("problem")
        self.workloads: dict[int, Workload] = {}
        self.states: list[tuple[EdgeId, EdgeId]] = []
        self.views: dict[EdgeId, EdgeId] = {}

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
        self.views[output] = source
        return output

    def root(self, edge: EdgeId) -> EdgeId:
        """The edge whose bytes a view shows."""
        return self.root(self.views[edge]) if edge in self.views else edge

    def moving(self, op: str, inputs: Sequence[EdgeId], *sizes: int, **facts: Any) -> list[EdgeId]:
        """A Concat, Slice or Split along the only axis; the result of a Slice begins where its
        input does or, given `begin`, behind that."""
        begin = int(facts.pop("begin", 0))
        outputs = [self.edge(size) for size in sizes]
        more = [np.array([at], np.int64) for at in (begin, begin + sum(sizes))]
        given = [
            self.editor.add_constant(f"c{len(self.editor.edges)}", v, TensorType(DType.INT64, (1,)))
            for v in (more if op == "Slice" else [])
        ]
        name, attributes = f"l{len(self.editor.nodes)}", {} if op == "Slice" else {"axis": 0}
        node = self.editor.add_node(op, [*inputs, *given], outputs, name, attributes)
        self.workloads[node] = Workload("Test", FUNCTION, **facts)
        return outputs

    def finish(
        self,
        *outputs: EdgeId,
        kept: Sequence[EdgeId] = (),
        partitions: Sequence[Partition] = (),
        states: Sequence[tuple[EdgeId, EdgeId]] = (),
    ) -> Problem:
        """states: pairs of the input that is read and the edge that replaces it."""
        own = (*outputs, *(after for _, after in states))
        reached = [e for part in partitions for e in (*part.inputs, *part.outputs)]
        self.editor.outputs = [*own, *kept, *reached]  # else what nobody reads is left out
        graph = self.editor.finish()
        graph = replace(graph, topology=replace(graph.topology, outputs=own))
        choices = [Choice(layer_of(graph, n), self.workloads[n.id]) for n in graph.nodes]
        exposure = Exposure(
            tuple(Kept(f"k{edge}", edge) for edge in kept),
            tuple(partitions),
            tuple(State(f"s{before}", before, after) for before, after in states),
        )
        return Problem(graph, tuple(choices), exposure)


def accepts(problem: Problem, plan_: Plan) -> bool:
    try:
        plan.check(problem.graph, problem.choices, plan_)
    except plan.PlanError:
        return False
    return True


@st.composite
def problems(draw: st.DrawFn, sharing: bool = True) -> Problem:
    """Up to three inputs, two states and nine layers: views, scratch, overlap, dead outputs."""
    maker = Maker()
    sizes = st.integers(1, 100)
    edges = [maker.input(draw(sizes)) for _ in range(draw(st.integers(1, 3)))]
    before = [maker.input(draw(sizes)) for _ in range(draw(st.sampled_from([0, 0, 1, 2])))]
    edges += before
    for _ in range(draw(st.integers(1, 9))):
        if draw(st.integers(0, 3)) == 0:
            edges.append(maker.view(draw(st.sampled_from(edges))))
            continue
        inputs = draw(st.lists(st.sampled_from(edges), min_size=1, max_size=3))
        same = st.just(maker.editor.types[inputs[0]].shape[0])
        outputs = draw(st.lists(sizes | same, min_size=1, max_size=2))
        edges += _layer(draw, maker, inputs, outputs, sharing)
    states = []
    for state in before:
        source = draw(st.sampled_from(edges))
        inputs = [source, state] if draw(st.booleans()) else [source]
        size = maker.editor.types[state].shape[0]
        states.append((state, *_layer(draw, maker, inputs, [size], sharing)))
    lasting = [e for e in edges if maker.root(e) not in before]  # a state is replaced at the end
    computed = [e for e in lasting if e not in maker.editor.inputs]
    ends = draw(st.lists(st.sampled_from(lasting), min_size=1, max_size=3, unique=True))
    kept = draw(st.lists(st.sampled_from(computed), max_size=2, unique=True)) if computed else []
    parts = []
    for number in range(draw(st.sampled_from([0, 1, 2])) if computed else 0):
        wanted = draw(st.lists(st.sampled_from(computed), min_size=1, max_size=2, unique=True))
        parts.append(Partition(f"p{number}", _cut(draw, maker, wanted, before), tuple(wanted)))
    return maker.finish(lasting[-1], *ends, kept=kept, partitions=parts, states=states)


def _layer(
    draw: st.DrawFn, maker: Maker, inputs: Sequence[EdgeId], sizes: Sequence[int], sharing: bool
) -> list[EdgeId]:
    scratch = draw(st.sampled_from([0, 0, 0, 1, 40, 110]))
    pairs = st.builds(
        lambda i, o, way: InPlace(i, o, *way),
        st.integers(0, len(inputs) - 1),
        st.sampled_from([*range(len(sizes)), *([None] if scratch else [])]),
        st.sampled_from(WAYS),
    )
    unique = st.lists(pairs, max_size=3 if sharing else 0, unique_by=lambda p: (p.input, p.output))
    return maker.layer(
        inputs, *sizes,
        in_place=tuple(draw(unique)),
        scratch_bytes=scratch,
        regions=tuple(draw(st.lists(st.sampled_from(REGIONS), max_size=3))),
    )  # fmt: skip


def _cut(
    draw: st.DrawFn, maker: Maker, outputs: Sequence[EdgeId], states: Sequence[EdgeId]
) -> tuple[EdgeId, ...]:
    """Where a partition with these outputs may begin: it goes back from them, and stops at will."""
    writers = {e: node for node in maker.editor.nodes.values() for e in node.outputs}
    inputs: list[EdgeId] = []
    seen: set[EdgeId] = set()
    pending = list(outputs)
    while pending:
        edge = pending.pop()
        if edge in seen or edge in states:
            continue
        seen.add(edge)
        if edge not in writers or (edge not in outputs and draw(st.integers(0, 2)) == 0):
            inputs.append(edge)
        else:
            pending += [e for e in writers[edge].inputs if e is not None]
    return tuple(inputs)


@st.composite
def moving_problems(draw: st.DrawFn) -> Problem:
    """Layers and views as above, among them Concat, Slice and Split of whole blocks; no partition.

    A state's next value is now and then a piece of a tensor that the state is a part of.
    """
    maker = Maker()
    sizes = st.sampled_from([16, 16, 32, 48, 64, 7, 20])
    edges = [maker.input(draw(sizes)) for _ in range(draw(st.integers(1, 2)))]
    before = [maker.input(draw(sizes)) for _ in range(draw(st.sampled_from([0, 0, 1, 2])))]
    edges += before

    def size(edge: EdgeId) -> int:
        return maker.editor.types[edge].shape[0]

    states: list[tuple[EdgeId, EdgeId]] = []
    for state in draw(st.permutations(before)):
        others = [e for e in edges if e not in before] or edges
        if draw(st.booleans()):  # a window of what came last
            parts = [state, draw(st.sampled_from(others))]
            (window,) = maker.moving("Concat", parts, sum(map(size, parts)))
            edges.append(window)
            begin = size(window) - size(state)
            states.append((state, *maker.moving("Slice", [window], size(state), begin=begin)))
    for _ in range(draw(st.integers(2, 9))):
        source = draw(st.sampled_from(edges))
        kind = draw(st.sampled_from(["view", "Concat", "Concat", "Slice", "Split", "", "", ""]))
        if kind == "view":
            edges.append(maker.view(source))
        elif kind == "Concat":
            parts = draw(st.lists(st.sampled_from(edges), min_size=1, max_size=3))
            edges += maker.moving("Concat", parts, sum(map(size, parts)))
        elif kind and size(source) > 16:
            at = draw(st.sampled_from([16, 16, size(source) // 2]))
            ends = [at, size(source) - at] if kind == "Split" else [size(source) - at]
            edges += maker.moving(kind, [source], *ends, begin=at)
        else:
            inputs = draw(st.lists(st.sampled_from(edges), min_size=1, max_size=3))
            same = st.just(size(inputs[0]))
            outputs = draw(st.lists(sizes | same, min_size=1, max_size=2))
            edges += _layer(draw, maker, inputs, outputs, True)
    known = {state for state, _ in states}
    for state in before:
        if state not in known:
            inputs = [draw(st.sampled_from(edges)), state]
            states.append((state, *_layer(draw, maker, inputs, [size(state)], True)))
    lasting = [e for e in edges if maker.root(e) not in before]  # a state is replaced at the end
    computed = [e for e in lasting if e not in maker.editor.inputs]
    ends = draw(st.lists(st.sampled_from(lasting), min_size=1, max_size=3, unique=True))
    kept = draw(st.lists(st.sampled_from(computed), max_size=1)) if computed else []
    return maker.finish(lasting[-1], *ends, kept=kept, states=states)
