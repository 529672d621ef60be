"""Folds a Pad into the convolution or pool behind it, whose own padding then does the same.

A convolution pads with zeros (a quantized one with its input's zero point), an average that counts
its padding too, a maximum with the smallest value there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcu_deploy.backends.interface import SubgraphView, Substitution
from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import GraphEditor, Node, TensorType
from mcu_deploy.operators.movement import pad_amounts, pad_value

Pads = tuple[int, ...]


def optimize(view: SubgraphView) -> tuple[Substitution, ...]:
    """Each Pad that nothing but a Conv, AveragePool or MaxPool reads."""
    found = (_fold(view, node) for node in view.nodes if node.op == "Pad" and not node.domain)
    return tuple(substitution for substitution in found if substitution is not None)


def _fold(view: SubgraphView, pad: Node) -> Substitution | None:
    reader = view.sole_consumer(pad.writes[0])
    more = _amounts(view, pad)
    if reader is None or reader.domain or more is None:
        return None
    # Read once and as the first input: a Pad of the weights is none of the image.
    if reader.inputs[0] != pad.writes[0] or pad.writes[0] in reader.inputs[1:]:
        return None
    attributes = dict(view.attributes(reader.id))
    own = _own_pads(attributes, len(more))
    if own is None or not _takes(view, pad, reader, any(own)):
        return None
    attributes.pop("auto_pad", None)
    attributes["pads"] = tuple(a + b for a, b in zip(own, more, strict=True))
    if reader.op == "AveragePool":
        attributes["count_include_pad"] = 1
    part = view.part([pad.id, reader.id])
    editor = GraphEditor(part)
    for node in (pad, reader):
        editor.remove_node(node.id)
    editor.add_node(
        reader.op, [pad.inputs[0], *reader.inputs[1:]], reader.outputs, reader.name, attributes,
        short=reader.short,
    )  # fmt: skip
    return Substitution(part, editor.finish())


def _amounts(view: SubgraphView, pad: Node) -> Pads | None:
    """What a Pad adds along the spatial axes, as Conv writes it; None where that is not all."""
    parameters = [e for e in pad.inputs[1:] if e is not None]
    if any(view.constant(e) is None for e in parameters):
        return None
    if view.attributes(pad.id).get("mode", "constant") != "constant":
        return None
    x, y = (view.type(edge) for edge in (*pad.reads[:1], *pad.writes))
    pads = pad_amounts(node_call(view, pad, view.data.constants))
    if x.quantization != y.quantization or any(amount < 0 for pair in pads for amount in pair):
        return None
    if len(pads) < 3 or any(pads[0]) or any(pads[1]):
        return None
    return (*(before for before, _ in pads[2:]), *(after for _, after in pads[2:]))


def _own_pads(attributes: Mapping[str, Any], count: int) -> Pads | None:
    """The pads that an operator has; None where its output's size decides them."""
    mode = attributes.get("auto_pad", "NOTSET")
    if mode == "VALID":
        return (0,) * count
    if mode != "NOTSET" or attributes.get("ceil_mode", 0):
        return None
    return tuple(attributes.get("pads", (0,) * count))


def _takes(view: SubgraphView, pad: Node, reader: Node, padded: bool) -> bool:
    """Whether the reader's own padding has the value that the Pad writes."""
    type_ = view.type(pad.reads[0])
    value = pad_value(node_call(view, pad, view.data.constants)).reshape(-1)[0]
    if reader.op == "Conv":
        # Zero times infinity is no zero, but padding is.
        weights = view.constant(reader.inputs[1])
        finite = not type_.dtype.is_float or (
            weights is not None and bool(np.isfinite(weights).all())
        )
        return finite and value == _zero(type_)
    if reader.op == "AveragePool":
        counts = bool(view.attributes(reader.id).get("count_include_pad", 0))
        return value == _zero(type_) and (counts or not padded)
    if reader.op == "MaxPool" and len(reader.writes) == 1:
        lowest = -np.inf if type_.dtype.is_float else type_.dtype.range[0]
        return bool(value == lowest)
    return False


def _zero(type_: TensorType) -> int | None:
    """The element that means zero; None where there are several."""
    if type_.quantization is None:
        return 0
    return type_.quantization.zero_point[0] if type_.quantization.per_tensor else None
