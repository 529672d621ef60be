"""Evaluates nodes whose inputs are all constants, with the interpreter's own arithmetic."""

from __future__ import annotations

from mcu_deploy import operators
from mcu_deploy.interpreter import run_node
from mcu_deploy.ir import Graph, GraphEditor
from mcu_deploy.ir.graph import freeze


def fold(graph: Graph) -> Graph:
    """The graph with constant sub-expressions replaced by their values.

    An output that is constant becomes an Identity of its value. Nodes that hold graphs stay: a
    Loop may be long.
    """
    editor = GraphEditor(graph)
    known = dict(graph.data.constants)
    for node in graph.nodes:
        operator = operators.find(node.domain, node.op)
        written = [e for e in node.outputs if e is not None]
        if operator is None or not written or graph.subgraphs(node.id):
            continue
        if any(e is not None and e not in known for e in node.inputs):
            continue
        values = run_node(graph, node, known)
        editor.remove_node(node.id)
        for edge, value in zip(written, values, strict=True):
            known[edge] = freeze(value)
            if edge not in graph.outputs:
                editor.constants[edge] = known[edge]
                continue
            constant = editor.add_constant(graph.edge_name(edge), value, graph.type(edge))
            editor.add_node("Identity", [constant], [edge], node.name, short=node.short)
    return editor.finish()
