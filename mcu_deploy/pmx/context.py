"""What saving and loading carry along: the dense ids, and what the file holds only once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from mcu_deploy.backends.interface import Support
from mcu_deploy.backends.layer import HOST, Layer, layer_of
from mcu_deploy.backends.workload import CFunction, Region
from mcu_deploy.ir import EdgeId, Graph, NodeId, TensorType
from mcu_deploy.operators import find
from mcu_deploy.pmx.damage import Damage
from mcu_deploy.select import Choice

# What several things share: saved once, and referred to by a number.
NUMBERED = (str, TensorType, CFunction, Region, Support)


class SerializationContext:
    """The ids that nodes and edges have in a file (document 002): 0, 1, 2 ... in the old order.

    Ids in a graph only grow, so that passes leave gaps; a file has none. Fused nodes' bodies share
    the ids of their graph, and so do `others`, edges that only the source model has.
    """

    def __init__(self, graph: Graph, others: Iterable[EdgeId] = ()) -> None:
        graphs = list(_with_bodies(graph))
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


def _with_bodies(graph: Graph) -> Iterator[Graph]:
    yield graph
    for body in graph.data.bodies.values():
        yield from _with_bodies(body)


class Writer:
    """Gathers what is referred to by a number, while a model is being saved."""

    def __init__(self, ids: SerializationContext) -> None:
        self.ids = ids
        self.lists: dict[type, dict[Any, int]] = {kind: {} for kind in NUMBERED}
        self.constants: dict[bytes, int] = {}

    @contextmanager
    def inside(self, ids: SerializationContext) -> Iterator[None]:
        """While a graph is written that has ids of its own."""
        outer, self.ids = self.ids, ids
        yield
        self.ids = outer

    def number(self, value: Any) -> int:
        """The number of a value of a NUMBERED class; equal ones are saved once."""
        known = self.lists[type(value)]
        return known.setdefault(value, len(known))

    def constant(self, value: npt.NDArray[Any]) -> int:
        """The number of an array's bytes in row-major order; equal bytes are saved once."""
        return self.constants.setdefault(value.tobytes(), len(self.constants))


class Reader:
    """What was read so far of a file, for what refers to it by a number."""

    def __init__(self, path: Path) -> None:
        self.path = path  # of the file, for messages
        self.target = HOST
        self.lists: dict[type, list[Any]] = {kind: [] for kind in NUMBERED}
        self.constants: list[memoryview] = []
        self.choices: dict[NodeId, Choice] = {}

    def use(self, graph: Graph) -> None:
        """Sets the graph whose layers are asked for."""
        self._graph = graph
        self._without_bodies = replace(graph, data=replace(graph.data, bodies={}))

    def layer(self, number: NodeId) -> Layer:
        """The layer of a node. Raises Damage where there is none."""
        node = self._graph.topology.nodes.get(number)
        if node is None:
            raise Damage(f"a step computes node {number}, which is not in its graph")
        # Who knows the operator does not look into its body; in the graph it is there for all.
        graph = self._without_bodies if find(node.domain, node.op) else self._graph
        return layer_of(graph, node, self.target)
