"""Evaluates nodes whose inputs are all constants, with the interpreter's own arithmetic."""

from __future__ import annotations

from mcu_deploy import operators
from mcu_deploy.interpreter import run_node
from mcu_deploy.ir import Graph, GraphEditor
from mcu_deploy.ir.graph import freeze


def fold(graph: Graph) -> Graph:
    """The graph with constant sub-expressions replaced by their values."""
    editor = GraphEditor(graph)
    known = dict(graph.data.constants)
    for node in graph.nodes:
        operator = operators.find(node.domain, node.op)
        written = [e for e in node.outputs if e is not None]
        if operator is None or not written or any(e in graph.outputs for e in written):
            continue
        if any(e is not None and e not in known for e in node.inputs):
            continue
        for edge, value in zip(written, run_node(graph, node, known), strict=True):
            known[edge] = editor.constants[edge] = freeze(value)
        editor.remove_node(node.id)
    return editor.finish()
