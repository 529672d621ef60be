"""What saving and loading carry along: the dense ids, and what the file holds only once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from mcu_deploy.backends.interface import Support
from mcu_deploy.backends.layer import HOST, Layer, layer_of
from mcu_deploy.backends.workload import Argument, CFunction, Region
from mcu_deploy.choose.select import Choice
from mcu_deploy.ir import DType, EdgeId, Graph, NodeId, TensorType
from mcu_deploy.operators import find
from mcu_deploy.pmx.damage import Damage
from mcu_deploy.pmx.reordered import Reordered

# What several things share: saved once, and referred to by a number.
NUMBERED = (str, TensorType, CFunction, Region, Argument, Support)


class SerializationContext:
    """The ids that nodes and edges have in a file (document 002): 0, 1, 2 ... in the old order.

    Ids in a graph only grow, so that passes leave gaps; a file has none. The map is over all graphs
    together, those that nodes hold and those that fused nodes stand for: equal ids stay equal, so
    that it does not matter which of them share theirs. `others`: edges of the source model.
    """

    def __init__(self, graph: Graph, others: Iterable[EdgeId] = ()) -> None:
        graphs = list(_with_inner(graph))
        edges = {e for g in graphs for e in g.topology.edges}.union(others)
        nodes = {n for g in graphs for n in g.topology.nodes}
        self._edges = {old: new for new, old in enumerate(sorted(edges))}
        self._nodes = {old: new for new, old in enumerate(sorted(nodes))}

    @property
    def next_node(self) -> NodeId:
        """The first id that no node has."""
        return len(self._nodes)

    @property
    def next_edge(self) -> EdgeId:
        """The first id that no edge has."""
        return len(self._edges)

    def edge(self, edge: EdgeId) -> EdgeId:
        """An edge's id in the file. Raises KeyError for one that is not saved."""
        return self._edges[edge]

    def node(self, node: NodeId) -> NodeId:
        """A node's id in the file. Raises KeyError for one that is not saved."""
        return self._nodes[node]


def _with_inner(graph: Graph) -> Iterator[Graph]:
    yield graph
    for body in graph.data.bodies.values():
        yield from _with_inner(body)
    yield from (g for inner in _subgraphs(graph) for g in _with_inner(inner))


def _subgraphs(graph: Graph) -> Iterator[Graph]:
    for inner in graph.data.subgraphs.values():
        yield from inner.values()


class Writer:
    """Gathers what is referred to by a number, while a model is being saved."""

    def __init__(self, ids: SerializationContext) -> None:
        self.ids = ids
        self.lists: dict[type, dict[Any, int]] = {kind: {} for kind in NUMBERED}
        self.constants: dict[bytes, int] = {}
        self.arrays: list[npt.NDArray[Any]] = []  # that the bytes were first seen in

    def number(self, value: Any) -> int:
        """The number of a value of a NUMBERED class; equal ones are saved once."""
        known = self.lists[type(value)]
        return known.setdefault(value, len(known))

    def constant(self, value: npt.NDArray[Any]) -> int:
        """The number of an array's bytes in row-major order; equal bytes are saved once."""
        data = value.tobytes()
        if data not in self.constants:
            self.constants[data] = len(self.constants)
            self.arrays.append(value)
        return self.constants[data]


class Reader:
    """What was read so far of a file, for what refers to it by a number."""

    def __init__(self, path: Path) -> None:
        self.path = path  # of the file, for messages
        self.target = HOST
        self.lists: dict[type, list[Any]] = {kind: [] for kind in NUMBERED}
        self.constants: list[memoryview | Reordered] = []
        self.copied = 0  # bytes of constants that are in memory beside the file
        self.arrays: dict[tuple[int, DType, tuple[int, ...]], npt.NDArray[Any]] = {}
        self.choices: dict[NodeId, Choice] = {}
        self._graphs: dict[NodeId, Graph] = {}

    def use(self, graph: Graph) -> None:
        """Sets the graph whose layers are asked for, with the graphs that its nodes hold.

        Where such a graph has ids of its own, nothing in it is a layer: the outer one counts.
        """
        bare = replace(graph, data=replace(graph.data, bodies={}))
        for number, node in graph.topology.nodes.items():
            # Who knows the operator does not look into its body; in the graph it is there for all.
            known = find(node.domain, node.op) is not None
            self._graphs.setdefault(number, bare if known else graph)
        for inner in _subgraphs(graph):
            self.use(inner)

    def layer(self, number: NodeId) -> Layer:
        """The layer of a node. Raises Damage where there is none."""
        graph = self._graphs.get(number)
        if graph is None:
            raise Damage(f"node {number} is to be computed, which is in no graph")
        return layer_of(graph, graph.node(number), self.target)
