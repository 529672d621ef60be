"""Editing: a mutable copy of a graph, from which the next value is taken."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy.typing as npt

from mcu_deploy.ir.graph import EdgeId, Graph, GraphData, Node, NodeId, Topology, freeze
from mcu_deploy.ir.naming import leader
from mcu_deploy.ir.order import ordered
from mcu_deploy.ir.types import TensorType

T = TypeVar("T")


class GraphEditor:
    """Collects changes to a graph; `finish` gives the new graph, sorted and without dead parts.

    The editor of a view makes a graph of the view's nodes alone. A pass that changes many places
    does so in one editor and asks it what the graph is by now (`producer`, `sole_consumer`):
    `finish` walks the whole graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._source = graph
        self._nodes: dict[NodeId, Node] = dict(graph.topology.nodes)
        self.nodes: Mapping[NodeId, Node] = MappingProxyType(self._nodes)  # changed by methods
        self.edges: dict[EdgeId, str] = dict(graph.topology.edges)
        self.inputs = list(graph.inputs)
        self.outputs = list(graph.outputs)
        self.types: dict[EdgeId, TensorType] = dict(graph.data.types)
        self.constants: dict[EdgeId, npt.NDArray[Any]] = dict(graph.data.constants)
        self._attributes: dict[NodeId, Mapping[str, Any]] = dict(graph.data.attributes)
        self.bodies: dict[NodeId, Graph] = dict(graph.data.bodies)
        self.subgraphs: dict[NodeId, Mapping[str, Graph]] = dict(graph.data.subgraphs)
        self._next_node = graph.topology.next_node
        self._next_edge = graph.topology.next_edge
        # Where a node stands among those that could come next: what replaces others takes theirs.
        self._places: dict[NodeId, int] = {node: i for i, node in enumerate(self.nodes)}
        self._writers: dict[EdgeId, NodeId] = {}
        self._readers: dict[EdgeId, dict[NodeId, None]] = {}
        for node in self.nodes.values():
            self._enter(node)

    @classmethod
    def empty(cls, name: str) -> GraphEditor:
        """An editor of a new graph."""
        topology = Topology({}, {}, (), (), 0, 0)
        return cls(Graph(name, topology, GraphData({}, {}, {})))

    def producer(self, edge: EdgeId) -> Node | None:
        """The node that writes an edge; None for inputs and constants."""
        return self.nodes.get(self._writers.get(edge, -1))

    def consumers(self, edge: EdgeId) -> tuple[Node, ...]:
        """The nodes that read an edge, each once."""
        return tuple(self.nodes[n] for n in self._readers.get(edge, ()))

    def sole_consumer(self, edge: EdgeId) -> Node | None:
        """The one node that reads an edge; None where several do or the edge is an output."""
        readers = self.consumers(edge)
        return readers[0] if len(readers) == 1 and edge not in self.outputs else None

    def type(self, edge: EdgeId) -> TensorType:
        return self.types[edge]

    def constant(self, edge: EdgeId | None) -> npt.NDArray[Any] | None:
        """The value of a constant edge; None for an edge that is none (or absent)."""
        return None if edge is None else self.constants.get(edge)

    def attributes(self, node: NodeId) -> Mapping[str, Any]:
        """A node's attributes, by ONNX's names."""
        return self._attributes[node]

    def set_attributes(self, node: NodeId, attributes: Mapping[str, Any]) -> None:
        """Gives a node other attributes."""
        self._attributes[node] = dict(attributes)

    def edge_name(self, edge: EdgeId) -> str:
        return self.edges[edge]

    def put(self, node: Node) -> None:
        """A node in place of the one of its id."""
        self._leave(self.nodes[node.id])
        self._nodes[node.id] = node
        self._enter(node)

    def _enter(self, node: Node) -> None:
        self._writers.update(dict.fromkeys(node.writes, node.id))
        for edge in node.reads:
            self._readers.setdefault(edge, {})[node.id] = None

    def _leave(self, node: Node) -> None:
        for edge in node.writes:
            if self._writers.get(edge) == node.id:
                del self._writers[edge]
        for edge in node.reads:
            del self._readers[edge][node.id]

    def add_edge(self, name: str, type_: TensorType) -> EdgeId:
        """A new edge; several edges may have one name."""
        edge = self._next_edge
        self._next_edge += 1
        self.edges[edge] = name
        self.types[edge] = type_
        return edge

    def add_constant(self, name: str, value: npt.NDArray[Any], type_: TensorType) -> EdgeId:
        """A new edge with a value, of the shape and element type that `type_` says."""
        edge = self.add_edge(name, type_)
        self.constants[edge] = freeze(value)
        return edge

    def add_node(
        self,
        op: str,
        inputs: Sequence[EdgeId | None],
        outputs: Sequence[EdgeId | None],
        name: str,
        attributes: Mapping[str, Any] | None = None,
        domain: str = "",
        extra_inputs: Sequence[EdgeId] = (),
        subgraphs: Mapping[str, Graph] | None = None,
        short: str = "",
        beside: NodeId | None = None,
    ) -> NodeId:
        """A new node, behind those that are there, or beside one that is or was; `finish` sorts."""
        node = self._next_node
        self._next_node += 1
        self._places[node] = len(self._places) if beside is None else self._places[beside]
        self._nodes[node] = Node(
            node, op, tuple(inputs), tuple(outputs), name, domain, tuple(extra_inputs), short
        )
        self._enter(self.nodes[node])
        self._attributes[node] = dict(attributes or {})
        if subgraphs:
            self.subgraphs[node] = dict(subgraphs)
        return node

    def add_graph(
        self, graph: Graph, edges: Mapping[EdgeId, EdgeId], beside: NodeId | None = None
    ) -> tuple[NodeId, ...]:
        """Adds another graph's nodes, with new ids; returns them.

        `edges` says which of its edges stand for edges of this one; the others become new ones.
        """
        known = dict(edges)
        for edge, name in graph.topology.edges.items():
            if edge not in known:
                known[edge] = self.add_edge(name, graph.type(edge))
                if edge in graph.data.constants:
                    self.constants[known[edge]] = graph.data.constants[edge]
        added = []
        for old in graph.nodes:
            node = self.add_node(
                old.op,
                [None if e is None else known[e] for e in old.inputs],
                [None if e is None else known[e] for e in old.outputs],
                old.name,
                graph.attributes(old.id),
                old.domain,
                [known[e] for e in old.extra_inputs],
                graph.subgraphs(old.id),
                old.short,
                beside,
            )
            body = graph.body(old.id)
            if body is not None:
                shared = {*body.inputs, *body.outputs} | shared_constants(body, graph)
                self.bodies[node] = self._adopted(body, {e: known[e] for e in shared})
            added.append(node)
        return tuple(added)

    def _adopted(self, body: Graph, edges: Mapping[EdgeId, EdgeId]) -> Graph:
        """A body of another graph, with ids of this one."""
        topology = Topology({}, {}, (), (), self._next_node, self._next_edge)
        editor = GraphEditor(replace(body, topology=topology, data=GraphData({}, {}, {})))
        for old, new in edges.items():
            editor.edges[new], editor.types[new] = self.edges[new], self.types[new]
            if old in body.data.constants:
                editor.constants[new] = body.data.constants[old]
        editor.add_graph(body, edges)
        editor.inputs = list(dict.fromkeys(edges[e] for e in body.inputs))
        editor.outputs = [edges[e] for e in body.outputs]
        adopted = editor.finish()
        self._next_node, self._next_edge = editor._next_node, editor._next_edge
        return adopted

    def remove_node(self, node: NodeId) -> None:
        """Removes a node; its edges stay until `finish` finds that nothing uses them."""
        self._leave(self._nodes.pop(node))
        self._attributes.pop(node, None)
        self.bodies.pop(node, None)
        self.subgraphs.pop(node, None)

    def set_inputs(self, node: NodeId, inputs: Sequence[EdgeId | None]) -> None:
        """Lets a node read other edges, as many as before; its body reads them too."""
        self._rename_in_body(node, self.nodes[node].inputs, inputs)
        self.put(replace(self.nodes[node], inputs=tuple(inputs)))

    def set_outputs(self, node: NodeId, outputs: Sequence[EdgeId | None]) -> None:
        """Lets a node write other edges, as many as before; its body writes them too."""
        self._rename_in_body(node, self.nodes[node].outputs, outputs)
        self.put(replace(self.nodes[node], outputs=tuple(outputs)))

    def set_extra_inputs(self, node: NodeId, edges: Sequence[EdgeId]) -> None:
        """Lets a node's subgraphs read other edges, as many as before."""
        self._rename_in_body(node, self.nodes[node].extra_inputs, edges)
        self.put(replace(self.nodes[node], extra_inputs=tuple(edges)))

    def redirect(self, old: EdgeId, new: EdgeId) -> None:
        """Lets every reader of `old`, the graph's outputs included, read `new`."""
        for node in self.consumers(old):
            if old in node.inputs:
                self.set_inputs(node.id, [new if e == old else e for e in node.inputs])
            if old in node.extra_inputs:
                self.set_extra_inputs(node.id, [new if e == old else e for e in node.extra_inputs])
        self.outputs = [new if e == old else e for e in self.outputs]

    def _rename_in_body(
        self, node: NodeId, before: Sequence[EdgeId | None], after: Sequence[EdgeId | None]
    ) -> None:
        names = {
            old: new
            for old, new in zip(before, after, strict=True)
            if old is not None and new is not None and old != new and old not in after
        }
        body = self.bodies.get(node)
        if body is not None and names:
            types = {new: self.types[new] for new in names.values()}
            texts = {new: self.edges[new] for new in names.values()}
            self.bodies[node] = _renamed(body, names, types, texts, self._next_edge)

    def fuse(
        self,
        members: Sequence[NodeId],
        op: str,
        inputs: Sequence[EdgeId | None],
        outputs: Sequence[EdgeId | None],
        attributes: Mapping[str, Any],
        name: str,
        shared: Sequence[NodeId] = (),
        domain: str = "",
        extra_inputs: Sequence[EdgeId] = (),
        subgraphs: Mapping[str, Graph] | None = None,
    ) -> NodeId:
        """Replaces `members` by one node that keeps them as its body.

        `shared` nodes belong to the body too, but stay where they are while others read them.
        The short name is that of the member called `name`, else that of the one that leads.
        """
        everything = (*members, *shared)
        merged = [self.nodes[n] for n in sorted(members)]
        short = leader([n for n in merged if n.name == name] or merged).short
        read = [e for e in (*inputs, *extra_inputs) if e is not None]
        body = self._extract(everything, read, outputs)
        for member in members:
            self.remove_node(member)
        node = self.add_node(
            op, inputs, outputs, name, attributes, domain, extra_inputs, subgraphs, short,
            beside=max(members, key=self._places.__getitem__),
        )  # fmt: skip
        self.bodies[node] = body
        for other in shared:
            self._drop_unread(other)
        return node

    def _drop_unread(self, node: NodeId) -> None:
        """Removes a node that nothing reads, and what only that one read."""
        found = self.nodes.get(node)
        if found is None or any(self._readers.get(e) or e in self.outputs for e in found.writes):
            return
        self.remove_node(node)
        for edge in found.reads:
            if edge in self._writers:
                self._drop_unread(self._writers[edge])

    def _extract(
        self,
        members: Sequence[NodeId],
        inputs: Sequence[EdgeId],
        outputs: Sequence[EdgeId | None],
    ) -> Graph:
        nodes = {n: self.nodes[n] for n in sorted(members)}
        written = {e for n in nodes.values() for e in n.writes}
        read = {e for n in nodes.values() for e in n.reads}
        results = tuple(e for e in outputs if e is not None and e in written)
        free = tuple(
            dict.fromkeys(e for e in (*inputs, *sorted(read)) if e not in written and e in read)
        )
        arguments = tuple(e for e in free if e not in self.constants)
        inside = ordered(nodes, f"the body of {nodes[min(nodes)].name!r}")
        return self._graph(inside, written | read, arguments, results)

    def _graph(
        self,
        nodes: Mapping[NodeId, Node],
        edges: Set[EdgeId],
        inputs: Sequence[EdgeId],
        outputs: Sequence[EdgeId],
    ) -> Graph:
        """A graph of some nodes and edges, also where the source was a view."""
        source = self._source
        topology = Topology(
            nodes, _of(edges, self.edges), tuple(inputs), tuple(outputs), self._next_node,
            self._next_edge,
        )  # fmt: skip
        data = GraphData(
            _of(edges, self.types), _of(edges, self.constants), _of(nodes, self._attributes),
            _of(nodes, self.bodies), _of(nodes, self.subgraphs),
        )  # fmt: skip
        return Graph(source.name, topology, data, source.source_sha256, source.opset)

    def finish(self, **changes: Any) -> Graph:
        """The edited graph: topologically sorted, nodes and edges without effect removed.

        `changes` replaces other fields of `Graph` (name, source_sha256, opset). Raises ModelError
        where the nodes form a cycle.
        """
        self._drop_dead()
        nodes = ordered(self.nodes, "the graph", self._places)
        used = set(self.inputs) | set(self.outputs)
        for node in nodes.values():
            used.update(node.reads, node.writes)
        return replace(self._graph(nodes, used, self.inputs, self.outputs), **changes)

    def _drop_dead(self) -> None:
        producers = self._writers
        live: set[NodeId] = set()
        pending = [producers[e] for e in self.outputs if e in producers]
        while pending:
            node = pending.pop()
            if node in live:
                continue
            live.add(node)
            pending.extend(producers[e] for e in self.nodes[node].reads if e in producers)
        for node in [n for n in self.nodes if n not in live]:
            self.remove_node(node)


def _of(ids: Collection[int], table: Mapping[int, T]) -> dict[int, T]:
    """Of a table what stands under some ids, in their order."""
    return {key: table[key] for key in sorted(ids) if key in table}


def shared_constants(body: Graph, graph: Graph) -> set[EdgeId]:
    """The constants of a body that its graph holds too, by the same ids."""
    theirs = graph.data.constants
    return {e for e, value in body.data.constants.items() if theirs.get(e) is value}


def _renamed(
    body: Graph,
    names: Mapping[EdgeId, EdgeId],
    types: Mapping[EdgeId, TensorType],
    texts: Mapping[EdgeId, str],
    next_edge: EdgeId,
) -> Graph:
    """A body whose inputs and outputs bear other ids; what it holds as constants keeps its own."""
    topology, data = body.topology, body.data
    moved = {o: n for o, n in names.items() if o in topology.edges and o not in data.constants}

    def new(edges: Sequence[EdgeId | None]) -> tuple[EdgeId | None, ...]:
        return tuple(None if e is None else moved.get(e, e) for e in edges)

    arrived = {n: None for n in moved.values() if n not in topology.edges}
    edges = {e: t for e, t in topology.edges.items() if e not in moved}
    kept = {e: t for e, t in data.types.items() if e not in moved}
    return replace(
        body,
        topology=Topology(
            {
                n.id: replace(
                    n,
                    inputs=new(n.inputs),
                    outputs=new(n.outputs),
                    extra_inputs=tuple(moved.get(e, e) for e in n.extra_inputs),
                )
                for n in topology.nodes.values()
            },
            edges | {e: texts[e] for e in arrived},
            tuple(dict.fromkeys(moved.get(e, e) for e in topology.inputs)),
            tuple(moved.get(e, e) for e in topology.outputs),
            topology.next_node,
            max(topology.next_edge, next_edge),
        ),
        data=replace(
            data,
            types=kept | {e: types[e] for e in arrived},
            bodies={
                n: _renamed(inner, moved, types, texts, next_edge)
                for n, inner in data.bodies.items()
            },
        ),
    )
