"""Says of a quantized model why layers of it stay in float32.

Behind the passes that lower, nothing of a sandwich is left to see: its weights are folded. So each
node that computes real numbers then bears the reason as an attribute, which reports read
(`report/floats.py`).
"""

from __future__ import annotations

from mcu_deploy import operators
from mcu_deploy.ir import Graph, GraphEditor, Node
from mcu_deploy.passes.qdq import why_in_float
from mcu_deploy.passes.quantization import INTEGERS, converts, dequantizer

# The attribute that holds the reason, a clause.
REASON = "in_float"


def explain(graph: Graph) -> Graph:
    """The graph, each node that reads or writes real numbers with the reason for it."""
    quantized = any(type_.is_quantized for type_ in graph.data.types.values())
    if not quantized and not any(converts(node) for node in graph.nodes):
        return graph
    editor = GraphEditor(graph)
    for node in graph.nodes:
        real = any(graph.type(edge).dtype.is_float for edge in (*node.reads, *node.writes))
        if real and not converts(node) and not graph.subgraphs(node.id):
            attributes = {**graph.attributes(node.id), REASON: _reason(editor, node)}
            editor.set_attributes(node.id, attributes)
    return editor.finish()


def _reason(graph: GraphEditor, node: Node) -> str:
    sources = {edge: dequantizer(graph, edge) for edge in node.reads}
    integers = [e if source is None else source.reads[0] for e, source in sources.items()]
    quantized = [edge for edge in integers if graph.type(edge).is_quantized]
    behind = any(converts(r) for edge in node.writes for r in graph.consumers(edge))
    if not behind and all(graph.constant(edge) is not None for edge in quantized):
        only = ": only its weights are quantized" if quantized else ""
        return f"the model has it in float{only}"
    operator = operators.find(node.domain, node.op)
    for type_ in (graph.type(edge) for edge in quantized if graph.constant(edge) is None):
        if type_.dtype not in INTEGERS:
            return f"its input is quantized to {type_.dtype.value}, not to 8 bits or int16"
    if operator is not None and operator.moves is not None:
        return "it moves elements of float32 tensors, or of tensors with different scales"
    return why_in_float(graph, node)
