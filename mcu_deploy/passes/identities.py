"""Removes nodes that compute nothing: Identity, Cast to the same type, empty Pad."""

from __future__ import annotations

import numpy as np

from mcu_deploy import operators
from mcu_deploy.ir import Graph, GraphEditor, Node


def _is_identity(graph: Graph, node: Node) -> bool:
    if node.domain or not node.inputs or node.inputs[0] is None or node.outputs[0] is None:
        return False
    x, y = graph.type(node.inputs[0]), graph.type(node.outputs[0])
    if x.shape != y.shape or x.dtype != y.dtype or x.quantization != y.quantization:
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
        x, y = current.input(0), current.writes[0]
        if y not in editor.outputs:
            editor.remove_node(node.id)
            editor.redirect(y, x)
        elif (producer := editor.producer(x)) is not None and x not in editor.outputs:
            # The output keeps its name: its producer writes it directly.
            editor.remove_node(node.id)
            editor.set_outputs(producer.id, [y if e == x else e for e in producer.outputs])
            editor.redirect(x, y)
    return editor.finish()
