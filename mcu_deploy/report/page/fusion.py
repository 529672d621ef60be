"""The graph of the model beside the layers that became of it, laid out for a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mcu_deploy.compiled import CompiledModel
from mcu_deploy.ir import Graph, Node
from mcu_deploy.ir.nested import graphs_within

HEIGHT = 20  # of a row, in pixels
GUTTER = 40  # the room for arcs, in pixels


@dataclass(frozen=True)
class ModelNode:
    """A node of the model. row: from the top."""

    short: str
    op: str
    name: str
    row: int


@dataclass(frozen=True)
class FusedNodes:
    """What became of nodes that stand below each other: kind "layer", "view" (which computes
    nothing), "held" (an If, Loop or Scan) or "gone". layer: its index. row, rows: as high as its
    nodes. added: the compiler put it in."""

    label: str
    op: str
    kind: str
    backend: str
    layer: int | None
    row: int
    rows: int
    added: bool

    @property
    def middle(self) -> float:
        return HEIGHT * (self.row + self.rows / 2)


@dataclass(frozen=True)
class Fusion:
    """The picture: nodes to the left, what they became to the right, the edges as arcs.

    before, after: how many nodes there are in the model, and layers in the network. arcs: SVG
    paths from right to left, in a gutter as wide as GUTTER. has_edges: whether the model's are
    known.
    """

    rows: int
    before: int
    after: int
    nodes: tuple[ModelNode, ...]
    groups: tuple[FusedNodes, ...]
    arcs_before: tuple[str, ...]
    arcs_after: tuple[str, ...]
    has_edges: bool


def fusion(model: CompiledModel, source: Graph | None) -> Fusion:
    """The picture of a compiled model. source: as it was imported; None where only a .pmx file is
    there, which has the nodes and not what was between them."""
    graph = model.whole_graph
    steps = {step.choice.layer.node.id: step for step in model.plan.steps}
    known = {} if source is None else {n.short: n for g in graphs_within(source) for n in g.nodes}
    rows: dict[str, int] = {}
    nodes: list[ModelNode] = []
    groups: list[FusedNodes] = []
    middles: dict[int, float] = {}

    def put(found: Iterable[Node], label: str, op: str, kind: str, backend: str,
            layer: int | None) -> FusedNodes:  # fmt: skip
        row = max([n.row for n in nodes] + [g.row + g.rows - 1 for g in groups], default=-1) + 1
        for at, node in enumerate(n for n in found if n.short not in rows):
            rows[node.short] = row + at
            nodes.append(ModelNode(node.short, node.op, node.name, row + at))
        count = sum(n.row >= row for n in nodes)
        group = FusedNodes(label, op, kind, backend, layer, row, max(1, count), added=not count)
        groups.append(group)
        return group

    for node in graph.nodes:
        leaves = [n for n in graph.leaves(node.id) if n.short in known or source is None]
        step = steps.get(node.id)
        held = bool(graph.subgraphs(node.id)) and step is None
        kind = "layer" if step is not None else "held" if held else "view"
        backend = "" if step is None else step.choice.workload.backend
        made = put(leaves, node.short, node.op, kind, backend, None if step is None else step.index)
        middles[node.id] = made.middle
    gone = [node for node in known.values() if node.short not in rows]
    if gone:
        put(gone, "nothing: folded at build time", "", "gone", "", None)
    centres = {short: HEIGHT * (row + 0.5) for short, row in rows.items()}
    before = set() if source is None else _edges(source, lambda node: centres.get(node.short))
    after = _edges(model.graph, lambda node: middles.get(node.id))
    return Fusion(
        rows=max((g.row + g.rows for g in groups), default=0),
        before=len(nodes),
        after=len(model.plan.steps),
        nodes=tuple(nodes),
        groups=tuple(groups),
        arcs_before=tuple(_arcs(before)),
        arcs_after=tuple(_arcs(after)),
        has_edges=source is not None,
    )


def _edges(graph: Graph, height: Callable[[Node], float | None]) -> set[tuple[float, float]]:
    """Pairs of heights that an edge leads between."""
    found = set()
    for each in graphs_within(graph):
        for node in each.nodes:
            end = height(node)
            for edge in node.reads:
                producer = each.producer(edge)
                start = None if producer is None else height(producer)
                if start is not None and end is not None and start != end:
                    found.add((start, end))
    return found


def _arcs(edges: Iterable[tuple[float, float]]) -> Iterator[str]:
    for start, end in sorted(edges):
        reach = min(GUTTER - 3, 5 * math.sqrt(abs(end - start) / HEIGHT))
        bend = GUTTER - 1.33 * reach
        yield (f"M{GUTTER} {start:g}C{bend:.1f} {start:g} {bend:.1f} {end:g} {GUTTER} {end:g}")
