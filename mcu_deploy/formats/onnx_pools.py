"""Pools with ceil_mode: a last window that would start in the padding is not there.

AveragePool-22 and MaxPool-22 say so ("sliding windows that would start in the right padded region
are ignored"), and onnxruntime computes older models so; the shape inference of older opsets counts
that window. Such pools are rewritten to an equal one that no reader can take otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import helper

from mcu_deploy.errors import UnsupportedError

_POOLS = {"AveragePool", "MaxPool"}


def fix_ceil_mode(graph: onnx.GraphProto, shapes: Mapping[str, Sequence[int]]) -> bool:
    """Rewrites the first pool of the graph that has such a window; returns whether one had."""
    for node in graph.node:
        if node.op_type in _POOLS and node.domain in ("", "ai.onnx") and node.input:
            shape = shapes.get(node.input[0])
            if shape is not None and _fix(node, shape[2:]):
                return True
    return False


def _fix(node: onnx.NodeProto, extents: Sequence[int]) -> bool:
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    rank = len(extents)
    kernel = list(attributes.get("kernel_shape", []))
    if not attributes.get("ceil_mode", 0) or len(kernel) != rank:
        return False
    if attributes.get("auto_pad", b"NOTSET") in (b"SAME_UPPER", b"SAME_LOWER"):
        return False
    strides = list(attributes.get("strides", [1] * rank))
    dilations = list(attributes.get("dilations", [1] * rank))
    pads = list(attributes.get("pads", [0] * (2 * rank)))
    if any(len(v) != n for v, n in ((strides, rank), (dilations, rank), (pads, 2 * rank))):
        return False
    if any(s <= 0 for s in strides):
        return False
    trimmed, extended = [], False
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
            extended = True
    if not trimmed:
        return False
    if not extended:
        # Every axis is rounded down in effect.
        for attribute in node.attribute:
            if attribute.name == "ceil_mode":
                attribute.i = 0
        return True
    for axis, rest in trimmed:
        pads[rank + axis] -= rest
    if min(pads) < 0:
        raise UnsupportedError(
            f"{node.op_type} {node.name!r} has ceil_mode with a stride larger than its kernel, "
            "where the last window starts outside of the input. Export it without ceil_mode."
        )
    kept = [a for a in node.attribute if a.name != "pads"]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute("pads", pads)])
    return True
