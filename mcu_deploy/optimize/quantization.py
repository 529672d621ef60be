"""Annotates integer edges with the quantization that Q and DQ nodes state for them.

Operators that only move elements carry it on, forwards and backwards: a converter may put a
Reshape on the integer side of a Q or DQ node.
"""

from __future__ import annotations

from dataclasses import replace

from mcu_deploy.ir import EdgeId, Graph, GraphEditor, Node, Quantization
from mcu_deploy.ir.types import DType

_MOVES = {
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity", "MaxPool", "Dropout",
}  # fmt: skip


def stated(graph: Graph | GraphEditor, node: Node) -> Quantization | None:
    """What a Q or DQ node says of its integer edge; None where it is computed at run time."""
    scale = graph.constant(node.inputs[1])
    zero_point = graph.constant(node.inputs[2]) if len(node.inputs) > 2 else None
    if scale is None or (
        len(node.inputs) > 2 and node.inputs[2] is not None and zero_point is None
    ):
        return None
    attributes = graph.attributes(node.id)
    if attributes.get("block_size", 0) or scale.ndim > 1:
        return None
    data = node.inputs[0]
    assert data is not None
    rank = graph.type(data).rank
    axis = int(attributes.get("axis", 1))
    if scale.size > 1 and not -rank <= axis < rank:
        return None
    points = zero_point if zero_point is not None else [0] * scale.size
    return Quantization.from_arrays(scale, points, axis % rank if rank else None)


def annotate(graph: Graph) -> Graph:
    """Sets the quantization of integer edges; where two nodes disagree, the first holds."""
    found: dict[EdgeId, Quantization] = {}
    for node in graph.nodes:
        if node.op not in ("QuantizeLinear", "DequantizeLinear") or node.domain:
            continue
        edge = node.outputs[0] if node.op == "QuantizeLinear" else node.inputs[0]
        quantization = stated(graph, node)
        if edge is not None and quantization is not None and graph.type(edge).dtype.is_integer:
            found.setdefault(edge, quantization)
    _propagate(graph, found)
    editor = GraphEditor(graph)
    for edge, quantization in found.items():
        editor.types[edge] = replace(editor.types[edge], quantization=quantization)
    return editor.finish()


def _propagate(graph: Graph, found: dict[EdgeId, Quantization]) -> None:
    moves = [n for n in graph.nodes if n.op in _MOVES and not n.domain]
    changed = True
    while changed:
        changed = False
        for node in (*moves, *reversed(moves)):
            x, y = node.inputs[0], node.outputs[0]
            if x is None or y is None or graph.type(x).dtype not in (DType.INT8, DType.UINT8):
                continue
            for source, target in ((x, y), (y, x)):
                known = found.get(source)
                if known is not None and known.per_tensor and target not in found:
                    found[target] = known
                    changed = True
