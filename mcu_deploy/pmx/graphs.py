"""Graphs in a file: what their forms add to what follows from the classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import Graph, Node, NodeId
from mcu_deploy.ir.verify import verify
from mcu_deploy.pmx.context import ModelReader
from mcu_deploy.pmx.damage import reading
from mcu_deploy.records import Codec, NodeRef, is_attribute
from mcu_deploy.schema import Clause, Form, listed


def bodies_form(codec: Codec) -> Form:
    """Bodies, each read when it is first asked for."""

    def encode(writer: Any, bodies: Mapping[NodeId, Graph]) -> Any:
        return codec.form(Mapping[NodeRef, Graph]).encode(writer, bodies)

    return Form(
        encode, lambda reader, value: Bodies(reader, codec.form(Graph), dict(listed(value)))
    )


class Bodies(Mapping[NodeId, Graph]):
    """The bodies of fused nodes, each read and checked when it is first asked for.

    Reports and the interpreter ask for them. They are a third of what there is to read, so that
    loading would wait for them in vain.
    """

    def __init__(self, reader: ModelReader, form: Form, stored: Mapping[NodeId, Any]) -> None:
        self._reader = reader
        self._form = form
        self._stored = stored
        self._nodes: Mapping[NodeId, Node] = {}
        self._read: dict[NodeId, Graph] = {}

    def belong_to(self, nodes: Mapping[NodeId, Node]) -> None:
        """Sets whose bodies they are."""
        self._nodes = nodes

    def __getitem__(self, node: NodeId) -> Graph:
        if node not in self._read:
            stored = self._stored[node]
            with reading(self._reader.path):
                self._read[node] = self._body(self._nodes[node], stored)
        return self._read[node]

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def _body(self, node: Node, stored: Any) -> Graph:
        body: Graph = self._form.decode(self._reader, stored)
        if body.outputs != node.writes or not set(body.inputs) <= set(node.reads):
            raise Clause(f"the body of {node.name!r} computes other edges than the node")
        verify(body)
        return body


def graph_form(record: Form) -> Form:
    """A graph, with what its bodies must know of it. Raises UnsupportedError where one cannot be
    saved."""

    def encode(writer: Any, graph: Graph) -> Any:
        for node in graph.nodes:
            for name, value in graph.attributes(node.id).items():
                if not is_attribute(value):
                    raise UnsupportedError(
                        f"The attribute {name!r} of the {node.op} {node.name!r} is of a type that "
                        f"a .pmx file cannot hold ({type(value).__name__}). Build from the model "
                        "file itself."
                    )
        return record.encode(writer, graph)

    def decode(reader: Any, value: Any) -> Graph:
        graph: Graph = record.decode(reader, value)
        if isinstance(graph.data.bodies, Bodies):
            graph.data.bodies.belong_to(graph.topology.nodes)
        return graph

    return Form(encode, decode)


def check(graph: Graph) -> None:
    """Raises GraphError where a graph breaks an invariant. Bodies are checked as they are read."""
    needed = {n: graph.data.bodies[n] for n in graph.data.bodies if graph.node(n).extra_inputs}
    verify(replace(graph, data=replace(graph.data, bodies=needed)))
