"""Random and hand-written graphs and problems for the tests of the partitioner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from mcu_deploy.backends.interface import Costs, LayoutRule, Support
from mcu_deploy.choose import Candidate, Problem
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, NodeId, TensorType

Pick = Callable[[int, int], int]  # an integer between two, both included

_SHAPES = ((1, 4, 3, 2), (2, 3, 5), (1, 8, 1, 1), (6, 4))
_RULES = (LayoutRule.NATURAL, LayoutRule.CHANNELS_LAST, LayoutRule.SAME)
BACKENDS = ("A", "B", "C")


def wired(producers: Sequence[Sequence[int]], shape: tuple[int, ...] = (1, 4, 3, 2)) -> Graph:
    """A graph of nodes 0, 1, ...: the k-th reads the results of `producers[k]`, or the input."""
    return _build(producers, ["Op"] * len(producers), [shape] * len(producers), ())


def _build(
    producers: Sequence[Sequence[int]],
    ops: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
    kept: Sequence[int],
) -> Graph:
    """kept: nodes whose results are outputs of the graph although they are read."""
    editor = GraphEditor.empty("graph")
    start = editor.add_edge("input", TensorType(DType.FLOAT32, shapes[0]))
    editor.inputs = [start]
    results: list[EdgeId] = []
    for number, (reads, op, shape) in enumerate(zip(producers, ops, shapes, strict=True)):
        edge = editor.add_edge(f"edge{number}", TensorType(DType.FLOAT32, shape))
        inputs = [results[r] for r in reads] or [start]
        if op == "Transpose":
            source = editor.types[inputs[0]].shape
            editor.types[edge] = TensorType(DType.FLOAT32, source[::-1])
            inputs = inputs[:1]
        editor.add_node(op, inputs, [edge], f"node{number}")
        results.append(edge)
    read = {e for n in editor.nodes.values() for e in n.inputs}
    editor.outputs = [e for k, e in enumerate(results) if e not in read or k in kept]
    return editor.finish()


def random_graph(pick: Pick, size: int, reach: int = 100) -> Graph:
    """A graph of `size` nodes with up to three inputs, each at most `reach` nodes back."""
    producers = [
        sorted({pick(max(0, k - reach), k - 1) for _ in range(pick(0 if k < 3 else 1, 3))})
        if k
        else []
        for k in range(size)
    ]
    ops = ["Transpose" if pick(0, 5) == 0 else "Op" for _ in range(size)]
    shapes = [_SHAPES[pick(0, len(_SHAPES) - 1)] for _ in range(size)]
    return _build(producers, ops, shapes, [k for k in range(size) if pick(0, 9) == 0])


def random_problem(pick: Pick, size: int, reach: int = 100, dearest: int = 200) -> Problem:
    """A random graph whose nodes have up to three candidates, in varying orders."""
    graph = random_graph(pick, size, reach)
    candidates: dict[NodeId, tuple[Candidate, ...]] = {}
    for node in graph.nodes:
        order = [b for b in BACKENDS if pick(0, 3)] or ["A"]
        found = []
        for backend in order:
            rule = _RULES[pick(0, 2)] if node.op == "Op" else LayoutRule.VIEW
            found.append(candidate(backend, pick(1, dearest), rule))
        candidates[node.id] = tuple(found)
    return Problem(graph, candidates)


def candidate(
    backend: str, time: int | None = None, rule: LayoutRule = LayoutRule.NATURAL
) -> Candidate:
    """A candidate of this many instructions; None: it states no cost."""
    return Candidate(backend, Support(True, layout=rule), Costs(instructions=time))


def hypothesis_pick(draw: Callable[[st.SearchStrategy[int]], int]) -> Pick:
    """Lets hypothesis do the picking."""
    return lambda low, high: draw(st.integers(low, high))
