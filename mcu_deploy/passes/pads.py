"""Folds a Pad into the convolution or pool behind it, whose own padding then does the same.

Exporters write them apart where a framework pads both sides alike and convolves with a stride. A
convolution pads with zeros, a quantized one with its input's zero point; so does the Pad, or it
stays. So does an average that counts its padding. A maximum pads with what is below all elements:
that is what the Pad writes, or zeros where no element is less, as behind a Relu. A Transpose
between the two, as images of TensorFlow have it, is moved before the Pad.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import Graph, GraphEditor, Node, TensorType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.movement import pad_amounts, pad_value
from mcu_deploy.operators.windows import window

# Of each axis what is added before it, and behind it.
Amounts = list[tuple[int, int]]


def fold(graph: Graph) -> Graph:
    """The graph without the Pads that convolutions and pools can do."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        added = _added(graph, node) if node.op == "Pad" and not node.domain else None
        if added is None:
            continue
        amounts, value = added
        pad, reader = editor.nodes[node.id], editor.sole_consumer(node.writes[0])
        if reader is not None and reader.op == "Transpose" and not reader.domain:
            perm = editor.attributes(reader.id).get("perm", tuple(reversed(range(len(amounts)))))
            amounts = [amounts[axis] for axis in perm]
            conv = editor.sole_consumer(reader.writes[0])
            if conv is not None and _takes(editor, pad, reader.writes[0], conv, amounts, value):
                pad = _behind(editor, pad, reader, amounts)
                _fuse(editor, pad, conv, amounts)
        elif reader is not None and _takes(editor, pad, pad.writes[0], reader, amounts, value):
            _fuse(editor, pad, reader, amounts)
    return editor.finish()


def _added(graph: Graph, pad: Node) -> tuple[Amounts, float] | None:
    """What a Pad adds, and with which elements, if it takes nothing away."""
    if any(e is not None and graph.constant(e) is None for e in pad.inputs[1:]):
        return None
    if graph.attributes(pad.id).get("mode", "constant") != "constant":
        return None
    x, y = graph.type(pad.reads[0]), graph.type(pad.writes[0])
    call = node_call(graph, pad, graph.data.constants)
    amounts = [(before, after) for before, after in pad_amounts(call)]
    if x.quantization != y.quantization or min(map(min, amounts), default=0) < 0:
        return None
    return amounts, pad_value(call).item()


def _zero(type_: TensorType) -> int | None:
    """The element that means zero; None where there are several."""
    if type_.quantization is None:
        return 0
    return type_.quantization.zero_point[0] if type_.quantization.per_tensor else None


def _takes(
    editor: GraphEditor, pad: Node, padded: int, conv: Node, amounts: Amounts, value: float
) -> bool:
    """Whether a node is a convolution or pool of the padded image alone, along its axes, whose own
    padding is what the Pad adds."""
    if conv.inputs[0] != padded or padded in conv.inputs[1:] or any(map(any, amounts[:2])):
        return False
    if conv.op == "MaxPool" and len(conv.writes) == 1:
        return _takes_maximum(editor, pad, conv, amounts, value)
    if value != _zero(editor.type(pad.reads[0])):
        return False
    if conv.op == "AveragePool" and not conv.domain:
        own = _own_pads(editor, conv, len(amounts) - 2)
        counts = bool(editor.attributes(conv.id).get("count_include_pad", 0))
        return own is not None and (counts or not any(own))
    if conv.op != "Conv":
        return False
    # Zero times infinity is no zero, but padding is.
    weights = editor.constant(conv.inputs[1])
    is_float = editor.type(padded).dtype.is_float
    return not is_float or (weights is not None and bool(np.isfinite(weights).all()))


def _takes_maximum(
    editor: GraphEditor, pad: Node, pool: Node, amounts: Amounts, value: float
) -> bool:
    """Whether what a Pad adds is never more than the elements beside it, of which each window has
    some."""
    own = _own_pads(editor, pool, len(amounts) - 2)
    attributes = editor.attributes(pool.id)
    if own is None or any(n > 1 for n in attributes.get("dilations", ())):
        return False
    more = (*(before for before, _ in amounts[2:]), *(after for _, after in amounts[2:]))
    sizes = (*attributes["kernel_shape"],) * 2
    if any(a + b >= size for a, b, size in zip(own, more, sizes, strict=True)):
        return False
    type_ = editor.type(pad.reads[0])
    if value == (-np.inf if type_.dtype.is_float else type_.dtype.range[0]):
        return True
    if value != _zero(type_):
        return False
    source = editor.producer(pad.reads[0])
    if source is None:
        return False
    least = editor.attributes(source.id).get("activation", (-np.inf,))[0]
    return source.op == "Relu" or least >= 0


def _own_pads(editor: GraphEditor, pool: Node, axes: int) -> tuple[int, ...] | None:
    """The pads that a pool has; None where its output's size decides them."""
    attributes = editor.attributes(pool.id)
    mode = attributes.get("auto_pad", "NOTSET")
    if mode not in ("NOTSET", "VALID") or attributes.get("ceil_mode", 0):
        return None
    none = (0,) * (2 * axes)
    return none if mode == "VALID" else tuple(attributes.get("pads", none))


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
    x, y = editor.type(conv.reads[0]), editor.type(conv.writes[0])
    if conv.op == "Conv":
        own = conv_window(x, editor.type(conv.reads[1]), y, attributes)
    else:
        own = window(attributes, x.shape[2:], y.shape[2:], attributes["kernel_shape"])
    attributes.pop("auto_pad", None)
    begin = [a + b for a, (b, _) in zip(own.begin, amounts[2:], strict=True)]
    end = [a + b for a, (_, b) in zip(own.end, amounts[2:], strict=True)]
    attributes["pads"] = (*begin, *end)
    if conv.op == "AveragePool":
        attributes["count_include_pad"] = 1
    editor.fuse(
        [pad.id, conv.id], conv.op, [pad.inputs[0], *conv.inputs[1:]], conv.outputs, attributes,
        conv.name, domain=conv.domain,
    )  # fmt: skip
