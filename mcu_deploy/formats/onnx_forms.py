"""Nodes that ONNX's inference takes otherwise than onnxruntime, in a form that all take alike.

Axes below 0: Squeeze, Unsqueeze, Concat and Slice may count from the end since opset 11 (Slice 10)
only. Before it, inference passes over them; onnxruntime computes them.

Pools with ceil_mode: a last window that would start in the padding is not there. AveragePool-22 and
MaxPool-22 say so ("sliding windows that would start in the right padded region are ignored"), and
onnxruntime computes older models so; the inference of older opsets counts that window. And
ceil_mode means nothing to a pool whose auto_pad says how many windows there are.

ConvTranspose with an auto_pad of SAME_UPPER or SAME_LOWER gives `input_shape * strides` elements:
ConvTranspose-11 says so, and onnxruntime computes it; inference adds output_padding to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import helper

from mcu_deploy.errors import UnsupportedError
from mcu_deploy.formats.onnx_subgraphs import put

_SAME = (b"SAME_UPPER", b"SAME_LOWER")
_POOLS = {"AveragePool", "LpPool", "MaxPool"}
# The attributes that name axes, and the opset from which on they may count from the end.
_AXES = {
    "Concat": ("axis", 11), "Slice": ("axes", 10), "Squeeze": ("axes", 11),
    "Unsqueeze": ("axes", 11),
}  # fmt: skip
# Inference wants their axes in ascending order; those of Slice have starts and ends.
_ORDERED = ("Slice", "Squeeze", "Unsqueeze")


def rewrite_one(graph: onnx.GraphProto, shapes: Mapping[str, Sequence[int]], opset: int) -> bool:
    """Rewrites the first such node of the graph whose input's shape is known; whether one was."""
    for node in graph.node:
        shape = shapes.get(node.input[0]) if is_special(node, opset) else None
        if shape is None:
            continue
        if node.op_type == "ConvTranspose":
            changed = _transposed(node, shape[2:])
        elif node.op_type in _POOLS:
            changed = _pool(node, shape[2:])
        else:
            changed = _axes(node, len(shape))
        if changed:
            return True
    return False


def is_special(node: onnx.NodeProto, opset: int) -> bool:
    """Whether a node may be of such a form."""
    if node.domain not in ("", "ai.onnx") or not node.input:
        return False
    if node.op_type in _POOLS:
        return any(a.name == "ceil_mode" and a.i for a in node.attribute)
    if node.op_type == "ConvTranspose":
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        is_same = given.get("auto_pad", b"") in _SAME and "output_shape" not in given
        return is_same and any(given.get("output_padding", ()))
    name, since = _AXES.get(node.op_type, ("", 0))
    return opset < since and any(
        min(a.ints, default=a.i) < 0
        or (node.op_type in _ORDERED and list(a.ints) != sorted(a.ints))
        for a in node.attribute
        if a.name == name
    )


def _axes(node: onnx.NodeProto, rank: int) -> bool:
    """Counts the axes from the first, and sorts them."""
    name = _AXES[node.op_type][0]
    attribute = next(a for a in node.attribute if a.name == name)
    rank += len(attribute.ints) if node.op_type == "Unsqueeze" else 0
    axes = list(attribute.ints) or [attribute.i]
    if not all(-rank <= axis < rank for axis in axes):
        raise UnsupportedError(
            f"{node.op_type} {node.name!r} names the axes {axes} of {rank}. The model is damaged; "
            "export it again."
        )
    counted = [axis % rank for axis in axes]
    if node.op_type in _ORDERED:
        order = sorted(range(len(counted)), key=counted.__getitem__)
        counted.sort()
        for side in ("starts", "ends"):
            given = next((list(a.ints) for a in node.attribute if a.name == side), [])
            if len(given) == len(order):
                _set(node, side, [given[k] for k in order])
    _set(node, name, counted[0] if name == "axis" else counted)
    return True


def _set(node: onnx.NodeProto, name: str, value: int | str | Sequence[int]) -> None:
    kept = [a for a in node.attribute if a.name != name]
    put(node.attribute, [*kept, helper.make_attribute(name, value)])


def _transposed(node: onnx.NodeProto, extents: Sequence[int]) -> bool:
    strides = next(
        (list(a.ints) for a in node.attribute if a.name == "strides"), [1] * len(extents)
    )
    if len(strides) != len(extents):
        return False
    _set(node, "output_shape", [e * s for e, s in zip(extents, strides, strict=True)])
    return True


def _pool(node: onnx.NodeProto, extents: Sequence[int]) -> bool:
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    rank = len(extents)
    kernel = list(attributes.get("kernel_shape", []))
    if len(kernel) != rank:
        return False
    mode = attributes.get("auto_pad", b"NOTSET")
    if mode in _SAME:
        _set(node, "ceil_mode", 0)
        return True
    strides = list(attributes.get("strides", [1] * rank))
    dilations = list(attributes.get("dilations", [1] * rank))
    pads = list(attributes.get("pads", [])) if mode == b"NOTSET" else []
    pads = pads or [0] * (2 * rank)
    if any(len(v) != n for v, n in ((strides, rank), (dilations, rank), (pads, 2 * rank))):
        return False
    if any(s <= 0 for s in strides):
        return False
    trimmed, extended = [], []
    for axis in range(rank):
        reach = extents[axis] + pads[axis] + pads[rank + axis] - dilations[axis] * (
            kernel[axis] - 1
        ) - 1  # fmt: skip
        rest = reach % strides[axis]
        if rest == 0:
            continue
        if (reach // strides[axis] + 1) * strides[axis] >= extents[axis] + pads[axis]:
            trimmed.append((axis, rest))
        else:
            extended.append((axis, strides[axis] - rest))
    if not trimmed:
        return False
    if attributes.get("count_include_pad", 0) and extended:
        # What ceil_mode adds is no padding, so it must stay; the padding loses what is not read.
        for axis, rest in trimmed:
            pads[rank + axis] -= rest
    else:
        for axis, missing in extended:
            pads[rank + axis] += missing
        _set(node, "ceil_mode", 0)
    if min(pads) < 0:
        raise UnsupportedError(
            f"{node.op_type} {node.name!r} has ceil_mode with a stride larger than its kernel, "
            "where the last window starts outside of the input. Export it without ceil_mode."
        )
    if extended:
        _set(node, "auto_pad", "NOTSET")
        _set(node, "pads", pads)
    return True
