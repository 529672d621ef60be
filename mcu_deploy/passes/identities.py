"""Removes nodes that compute nothing: Identity, Cast to the same type, empty Pad."""

from __future__ import annotations

import numpy as np

from mcu_deploy import operators
from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node


def _is_identity(graph: Graph, node: Node) -> bool:
    if node.domain or not node.inputs or node.inputs[0] is None or node.outputs[0] is None:
        return False
    x, y = graph.type(node.inputs[0]), graph.type(node.outputs[0])
    if x.shape != y.shape or x.dtype != y.dtype or x.quantization != y.quantization:
        return False
    if len(node.outputs) > 1 and any(
        e is not None and (graph.consumers(e) or e in graph.outputs) for e in node.outputs[1:]
    ):
        return False
    if node.op == "Transpose":
        perm = graph.attributes(node.id).get("perm", tuple(reversed(range(x.rank))))
        return tuple(perm) == tuple(range(x.rank))
    if node.op == "Pad":
        pads = graph.attributes(node.id).get("pads")
        value = graph.constant(node.inputs[1]) if pads is None else np.asarray(pads)
        return value is not None and not np.any(value)
    operator = operators.find(node.domain, node.op)
    # A shape that is computed at run time is checked there.
    return (
        operator is not None
        and operator.view
        and all(e is None or graph.constant(e) is not None for e in node.inputs[1:])
    )


def remove(graph: Graph) -> Graph:
    """The graph without them; names of the graph's outputs are kept."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        if not _is_identity(graph, node):
            continue
        current = editor.nodes[node.id]
        x, y = current.inputs[0], current.outputs[0]
        assert x is not None
        assert y is not None
        if y not in editor.outputs:
            editor.remove_node(node.id)
            editor.redirect(y, x)
        elif _can_rename(graph, editor, x):
            # The output keeps its name: its producer writes it directly.
            producer = editor.producer(x)
            assert producer is not None
            editor.remove_node(node.id)
            editor.set_outputs(producer.id, [y if e == x else e for e in producer.outputs])
            editor.redirect(x, y)
    return editor.finish()


def _can_rename(graph: Graph, editor: GraphEditor, edge: EdgeId) -> bool:
    return (
        edge not in graph.inputs
        and edge not in editor.constants
        and edge not in editor.outputs
        and editor.producer(edge) is not None
    )
