"""Makes one table of operators that together compute a function of a byte.

What lies between two 8-bit tensors and computes each element of the second from that of the first
at the same place has 256 answers, whatever it is made of: a Gelu of Div, Erf, Add and two Mul in
float32 between DequantizeLinear and QuantizeLinear, or a chain of integer operators. The oracle
computes the answers from the operators themselves, so the table gives their bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node
from mcu_deploy.ir.naming import leader
from mcu_deploy.operators import find, lookup
from mcu_deploy.operators.base import of_elements
from mcu_deploy.passes.quantization import BYTES


def fuse(graph: Graph) -> Graph:
    """The graph with a table in place of the largest such parts, of two operators at least.

    What is between is read by nothing else and seen by nobody: outputs, and so kept tensors,
    borders of partitions and states, are ends of tables.
    """
    editor = GraphEditor(graph)
    sources = _sources(graph)
    for node in reversed(list(graph.nodes)):
        if node.id not in editor.nodes or not _operands(graph, node):
            continue
        (y,) = node.writes
        if graph.type(y).dtype not in BYTES:
            continue
        for x in sources[y][:-1]:
            part = _between(graph, x, y)
            if len(part) > 1:
                _replace(editor, graph, x, y, part)
                break
    return editor.finish()


def _sources(graph: Graph) -> dict[EdgeId, tuple[EdgeId, ...]]:
    """Of a tensor the 8-bit tensors of which each of its elements is a function: the furthest
    first; the last one of an 8-bit tensor is itself."""
    found: dict[EdgeId, tuple[EdgeId, ...]] = {
        edge: (edge,) for edge, type_ in graph.data.types.items() if type_.dtype in BYTES
    }
    for node in graph.nodes:
        operands = _operands(graph, node)
        if operands:
            first, *others = (found.get(edge, ()) for edge in operands)
            common = tuple(e for e in first if all(e in other for other in others))
            (y,) = node.writes
            found[y] = (*common, *found.get(y, ()))
    return found


def _operands(graph: Graph, node: Node) -> tuple[EdgeId, ...]:
    """The tensors of which a node computes its own, element by element; none for other nodes."""
    operator = find(node.domain, node.op)
    if operator is None or len(node.outputs) != 1 or len(node.writes) != 1:
        return ()
    numbers = [e for e in node.reads if graph.constant(e) is not None]
    operands = tuple(e for e in node.reads if e not in numbers)
    if not operator.broadcasts:
        alone = operator.elementwise or operator.converts
        if not alone or operands != node.inputs[:1]:
            return ()
    y = graph.type(node.writes[0])
    types = [graph.type(edge) for edge in operands]
    if any(graph.type(edge).elements != 1 for edge in numbers):
        return ()
    if any(t.shape != y.shape for t in types) or not all(
        t.quantization is None or t.quantization.per_tensor for t in (*types, y)
    ):
        return ()
    return operands


def _between(graph: Graph, x: EdgeId, y: EdgeId) -> list[Node]:
    """The nodes from one tensor to another in their order; none where others see what is between.

    The DequantizeLinear of x may have other readers, too.
    """
    part: dict[int, Node] = {}
    pending = [y]
    while pending:
        node = graph.producer(pending.pop())
        assert node is not None
        if node.id not in part:
            part[node.id] = node
            pending.extend(edge for edge in _operands(graph, node) if edge != x)
    for node in part.values():
        (edge,) = node.writes
        seen = edge in graph.outputs or any(r.id not in part for r in graph.consumers(edge))
        if seen and edge != y and not _shared(node, x):
            return []
    return sorted(part.values(), key=lambda node: graph.topology.positions[node.id])


def _shared(node: Node, x: EdgeId) -> bool:
    return node.op == "DequantizeLinear" and node.input(0) == x


def _replace(editor: GraphEditor, graph: Graph, x: EdgeId, y: EdgeId, part: Sequence[Node]) -> None:
    every = np.arange(256, dtype=np.uint8)
    values = {x: every.view(graph.type(x).dtype.numpy)}
    for node in part:
        values[node.writes[0]] = _computed(graph, node, values)
    table = values[y].view(np.uint8)
    shared = [node.id for node in part if _shared(node, x)]
    members = [node.id for node in part if node.id not in shared]
    name = leader([node for node in part if node.id in members]).name
    if np.array_equal(table, every) and graph.type(x).dtype is graph.type(y).dtype:
        editor.fuse(members, "BitCast", [x], [y], {}, name, shared)
        return
    attributes = {"table": tuple(int(answer) for answer in table)}
    editor.fuse(members, "Table", [x], [y], attributes, name, shared, domain="mcu")


def _computed(graph: Graph, node: Node, values: Mapping[EdgeId, Array]) -> Array:
    """[256]: the oracle's answers of a node, from those of the nodes before it."""
    given = {i: values[e] for i, e in enumerate(node.inputs) if e is not None and e in values}
    call = node_call(graph, node, graph.data.constants)
    return of_elements(lookup(node.domain, node.op), call, given)
