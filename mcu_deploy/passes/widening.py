"""Has operators compute with types that C has: narrow ones are cast before and behind them.

So a Cast is all that knows a narrow type (with QuantizeLinear and DequantizeLinear, which are casts
with a scale), and every operator computes all of them: a float of 16 bits or fewer in float32, an
integer of 4 bits or fewer in 8. What only copies elements takes them as they are.

Between two operators a float of 16 bits stays in float32, as in onnxruntime's CPU provider: it is
rounded where the model casts it or gives it away. So a model of float16 has the layers, the fusions
and the memory of the same model in float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mcu_deploy import operators
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, Node, TensorType


def widen(graph: Graph) -> Graph:
    """The graph with the casts; the same where it has no narrow type."""
    if not any(type_.dtype.is_narrow for type_ in graph.data.types.values()):
        return graph
    editor = GraphEditor(graph)
    wide: dict[EdgeId, EdgeId] = {}
    for node in graph.nodes:
        inputs, outputs = _wanted(editor, node, wide)
        if inputs:
            read = {e: _widened(editor, node, e, wide) for e in inputs}
            before = editor.nodes[node.id].inputs
            editor.set_inputs(node.id, [e if e is None else read.get(e, e) for e in before])
        for edge in outputs:
            result = editor.add_edge(f"{editor.edge_name(edge)} wide", _wide(editor.type(edge)))
            current = editor.nodes[node.id]
            editor.set_outputs(node.id, [result if e == edge else e for e in current.outputs])
            editor.add_node("Cast", [result], [edge], f"{node.name} narrowed", beside=node.id)
            if editor.type(edge).dtype.bits == 16:
                wide[edge] = result
    return editor.finish()


def _wanted(
    editor: GraphEditor, node: Node, known: Mapping[EdgeId, EdgeId]
) -> tuple[Sequence[EdgeId], Sequence[EdgeId]]:
    """The narrow inputs and outputs of a node that are to be cast. known: what is there widened."""
    inputs = [e for e in node.inputs if e is not None and editor.type(e).dtype.is_narrow]
    outputs = [e for e in node.writes if editor.type(e).dtype.is_narrow]
    operator = operators.find(node.domain, node.op)
    if node.id in editor.subgraphs or node.op in ("Cast", "CastLike"):
        return (), ()
    if node.op == "QuantizeLinear" and not node.domain:
        _drop_zero(editor, node)
        return [e for e in inputs if e in editor.nodes[node.id].reads], ()
    if node.op == "DequantizeLinear" and not node.domain:
        _drop_zero(editor, node)
        x = node.input(0)
        if editor.type(x).dtype.wide is DType.FLOAT32:
            inputs = [e for e in inputs if e != x]
        return [e for e in inputs if e in editor.nodes[node.id].reads], outputs
    if operator is not None and operator.copies:
        packed = any(editor.type(e).dtype.is_packed for e in (*inputs, *outputs))
        if packed and not (operator.view and node.op != "Transpose"):
            return inputs, outputs
        if not any(e in known and editor.type(e).dtype.bits == 16 for e in inputs):
            return (), ()
    return inputs, outputs


def _drop_zero(editor: GraphEditor, node: Node) -> None:
    """Removes the zero point of a float, which says its type alone, and is 0 (-0 too)."""
    zero = node.inputs[2] if len(node.inputs) > 2 else None
    value = editor.constant(zero)
    if zero is None or value is None or editor.type(zero).dtype.wide is not DType.FLOAT32:
        return
    if not np.any(value.astype(np.float32)):
        editor.put(replace(editor.nodes[node.id], inputs=node.inputs[:2]))


def _widened(editor: GraphEditor, node: Node, edge: EdgeId, known: dict[EdgeId, EdgeId]) -> EdgeId:
    """What a narrow edge is cast to, once for all of its readers."""
    if edge not in known:
        name, type_ = editor.edge_name(edge), _wide(editor.type(edge))
        value = editor.constant(edge)
        if value is not None:
            known[edge] = editor.add_constant(name, value.astype(type_.dtype.numpy), type_)
        else:
            known[edge] = editor.add_edge(f"{name} wide", type_)
            editor.add_node("Cast", [edge], [known[edge]], f"{name} widened", beside=node.id)
    return known[edge]


def _wide(type_: TensorType) -> TensorType:
    return replace(type_, dtype=type_.dtype.wide)
