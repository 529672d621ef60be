"""Partial views: part of a graph as a backend sees it, over the data store of the whole.

As in ppl.nn every partition sees a whole topology of its own. Ids are those of the
graph; an edge that leaves the part has only its producer there, one that enters it only its
consumers. Shapes, constants and attributes are looked up in the one store, which is not copied.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

import numpy as np

from mcu_deploy.ir.graph import EdgeId, Graph, GraphData, Node, NodeId, Topology

K = TypeVar("K")
V = TypeVar("V")


class ReadOnly(Mapping[K, V]):
    """A mapping that cannot be changed, nor what it holds: mappings and arrays neither.

    Nothing is copied, so that a view costs the same for a small and a large graph.
    """

    def __init__(self, inner: Mapping[K, V]) -> None:
        self._inner = inner

    def __getitem__(self, key: K) -> V:
        value: Any = self._inner[key]
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        elif isinstance(value, dict):
            value = ReadOnly(value)
        return cast("V", value)

    def __iter__(self) -> Iterator[K]:
        return iter(self._inner)

    def __len__(self) -> int:
        return len(self._inner)

    def __contains__(self, key: object) -> bool:
        return key in self._inner

    def __repr__(self) -> str:
        return f"ReadOnly({self._inner!r})"


def unwrapped(value: object) -> object:
    """What a view shows as a mapping that cannot be changed; anything else as it is."""
    return value._inner if isinstance(value, ReadOnly) else value


@dataclass(frozen=True)
class SubgraphView(Graph):
    """A part of `whole`: some of its nodes, with the edges that they touch, over the same `data`.

    inputs: edges that are read here and written elsewhere, or nowhere, in the order of reading;
    constants are none. outputs: edges that are written here and read elsewhere, or are outputs of
    the whole, in the order of writing. Read-only, as all graphs are.
    """

    whole: Graph | None = None

    @functools.cached_property
    def known(self) -> dict[object, Any]:
        """What was found out of its nodes, kept for those who ask again."""
        return {}

    @property
    def node_ids(self) -> frozenset[NodeId]:
        return frozenset(self.topology.nodes)

    def part(self, nodes: Iterable[NodeId]) -> SubgraphView:
        """A view of some of this view's nodes. Raises KeyError for a node that is not in it."""
        wanted = [self.topology.nodes[node].id for node in nodes]
        assert self.whole is not None
        return view(self.whole, wanted)


def view(graph: Graph, nodes: Iterable[NodeId]) -> SubgraphView:
    """The view of some nodes of a graph, or of a view's whole.

    Raises KeyError for a node that the graph does not have.
    """
    positions = graph.topology.positions
    own = {n: graph.topology.nodes[n] for n in sorted({*nodes}, key=positions.__getitem__)}
    topology = Topology(
        ReadOnly(own),
        ReadOnly(_edges(graph, own)),
        _inputs(graph, own),
        _outputs(graph, own),
        graph.topology.next_node,
        graph.topology.next_edge,
    )
    whole = _read_only(graph)
    return SubgraphView(
        graph.name, topology, whole.data, graph.source_sha256, graph.opset, whole=whole
    )


def _read_only(graph: Graph) -> Graph:
    """The same graph, over mappings that cannot be changed."""
    data = graph.data
    if isinstance(data.types, ReadOnly):
        return graph
    parts = {f.name: ReadOnly(getattr(data, f.name)) for f in fields(data)}
    nodes, edges = ReadOnly(graph.topology.nodes), ReadOnly(graph.topology.edges)
    topology = replace(graph.topology, nodes=nodes, edges=edges)
    # Found once for all views of the graph.
    vars(topology)["consumers"] = graph.topology.consumers
    vars(topology)["positions"] = graph.topology.positions
    return replace(graph, topology=topology, data=GraphData(**parts))


def view_of_all(graph: Graph) -> SubgraphView:
    """The view of all nodes of a graph."""
    return view(graph, graph.topology.nodes)


def _edges(graph: Graph, nodes: Mapping[NodeId, Node]) -> dict[EdgeId, str]:
    touched = dict.fromkeys(e for n in nodes.values() for e in (*n.reads, *n.writes))
    return {edge: graph.edge_name(edge) for edge in touched}


def _inputs(graph: Graph, nodes: Mapping[NodeId, Node]) -> tuple[EdgeId, ...]:
    written = {e for n in nodes.values() for e in n.writes}
    read = dict.fromkeys(e for n in nodes.values() for e in n.reads)
    return tuple(e for e in read if e not in written and e not in graph.data.constants)


def _outputs(graph: Graph, nodes: Mapping[NodeId, Node]) -> tuple[EdgeId, ...]:
    outputs = set(graph.outputs)
    return tuple(
        edge
        for node in nodes.values()
        for edge in node.writes
        if edge in outputs or any(c not in nodes for c in graph.topology.consumers[edge])
    )
