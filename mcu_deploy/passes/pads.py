"""Folds a Pad into the convolution behind it, whose own padding then does the same.

Exporters write them apart where a framework pads both sides alike and convolves with a stride. A
convolution pads with zeros, a quantized one with its input's zero point; so does the Pad, or it
stays. A Transpose between the two, as images of TensorFlow have it, is moved before the Pad.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import Graph, GraphEditor, Node, TensorType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.movement import pad_amounts, pad_value

# Of each axis what is added before it, and behind it.
Amounts = list[tuple[int, int]]


def fold(graph: Graph) -> Graph:
    """The graph without the Pads that convolutions can do."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        amounts = _amounts(graph, node) if node.op == "Pad" and not node.domain else None
        if amounts is None:
            continue
        pad, reader = editor.nodes[node.id], editor.sole_consumer(node.writes[0])
        if reader is not None and reader.op == "Transpose" and not reader.domain:
            perm = editor.attributes(reader.id).get("perm", tuple(reversed(range(len(amounts)))))
            amounts = [amounts[axis] for axis in perm]
            conv = editor.sole_consumer(reader.writes[0])
            if conv is not None and _takes(editor, reader.writes[0], conv, amounts):
                pad = _behind(editor, pad, reader, amounts)
                _fuse(editor, pad, conv, amounts)
        elif reader is not None and _takes(editor, pad.writes[0], reader, amounts):
            _fuse(editor, pad, reader, amounts)
    return editor.finish()


def _amounts(graph: Graph, pad: Node) -> Amounts | None:
    """What a Pad adds, if it adds zeros and takes nothing away."""
    if any(e is not None and graph.constant(e) is None for e in pad.inputs[1:]):
        return None
    if graph.attributes(pad.id).get("mode", "constant") != "constant":
        return None
    x, y = graph.type(pad.reads[0]), graph.type(pad.writes[0])
    call = node_call(graph, pad, graph.data.constants)
    amounts = [(before, after) for before, after in pad_amounts(call)]
    is_less = any(amount < 0 for pair in amounts for amount in pair)
    if is_less or x.quantization != y.quantization or pad_value(call).item() != _zero(x):
        return None
    return amounts


def _zero(type_: TensorType) -> int | None:
    """The element that means zero; None where there are several."""
    if type_.quantization is None:
        return 0
    return type_.quantization.zero_point[0] if type_.quantization.per_tensor else None


def _takes(editor: GraphEditor, padded: int, conv: Node, amounts: Amounts) -> bool:
    """Whether a node is a convolution of the padded image alone, along its axes."""
    if conv.op != "Conv" or conv.inputs[0] != padded or padded in conv.inputs[1:]:
        return False
    # Zero times infinity is no zero, but padding is.
    weights = editor.constant(conv.inputs[1])
    is_float = editor.type(padded).dtype.is_float
    is_finite = not is_float or (weights is not None and bool(np.isfinite(weights).all()))
    return is_finite and not any(map(any, amounts[:2]))


def _behind(editor: GraphEditor, pad: Node, transpose: Node, amounts: Amounts) -> Node:
    """A Transpose and then a Pad in place of a Pad and then a Transpose."""
    padded, result = pad.writes[0], transpose.writes[0]
    type_ = editor.type(result)
    less = tuple(n - sum(pair) for n, pair in zip(type_.shape, amounts, strict=True))
    between = editor.add_edge(editor.edge_name(padded), replace(type_, shape=less))
    value = pad.inputs[2] if len(pad.inputs) > 2 else None
    pads = (*(before for before, _ in amounts), *(after for _, after in amounts))
    editor.put(replace(transpose, inputs=pad.inputs[:1], outputs=(between,)))
    editor.put(replace(pad, inputs=(between, None, value), outputs=(result,)))
    editor.set_attributes(pad.id, {**editor.attributes(pad.id), "pads": pads})
    return editor.nodes[pad.id]


def _fuse(editor: GraphEditor, pad: Node, conv: Node, amounts: Amounts) -> None:
    attributes = dict(editor.attributes(conv.id))
    x, w, y = (editor.type(edge) for edge in (*conv.reads[:2], conv.writes[0]))
    window = conv_window(x, w, y, attributes)
    attributes.pop("auto_pad", None)
    begin = [own + more for own, (more, _) in zip(window.begin, amounts[2:], strict=True)]
    end = [own + more for own, (_, more) in zip(window.end, amounts[2:], strict=True)]
    attributes["pads"] = (*begin, *end)
    editor.fuse(
        [pad.id, conv.id], conv.op, [pad.inputs[0], *conv.inputs[1:]], conv.outputs, attributes,
        conv.name, domain=conv.domain,
    )  # fmt: skip
