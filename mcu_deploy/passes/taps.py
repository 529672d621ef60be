"""Leaves out the rows and columns at the ends of a quantized kernel that add nothing to any sum.

Such taps have weights of zero for all filters, or meet only padding, which counts as zero: those of
a 3x3 kernel around the middle where the image is one pixel, and two thirds of them where it is one
row. What is left is the same sums of fewer products.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import Graph, GraphEditor, Node
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.windows import Window

# Of each spatial axis the first tap that counts, and the one behind the last.
Extents = tuple[tuple[int, int], ...]


def remove(graph: Graph) -> Graph:
    """The graph without them. Float convolutions keep theirs: zero times infinity is no zero."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        if node.op != "Conv" or not graph.type(node.writes[0]).is_quantized:
            continue
        weights = graph.constant(node.inputs[1])
        if weights is None or not weights.size:
            continue
        x, w = graph.type(node.input(0)), graph.type(node.input(1))
        window = conv_window(x, w, graph.type(node.writes[0]), graph.attributes(node.id))
        zero = np.reshape(w.scaling.zero_point, (-1, *(1,) * (w.rank - 1)))
        left = _left(weights != zero, window)
        if left != tuple((0, size) for size in window.kernel):
            _cut(editor, node, weights, window, left)
    return editor.finish()


def _left(counts: Array, window: Window) -> Extents:
    """counts: of each weight whether it is not zero. At least one tap of an axis is left, and no
    padding becomes negative."""
    extents = []
    for axis, size in enumerate(window.kernel):
        others = tuple(a for a in range(counts.ndim) if a != axis + 2)
        is_needed = counts.any(axis=others) & _meets_image(window, axis)
        needed = np.flatnonzero(is_needed)
        first, last = (int(needed[0]), int(needed[-1]) + 1) if needed.size else (0, 1)
        step = window.dilations[axis]
        first = min(first, window.begin[axis] // step)
        last = max(last, size - max(0, window.end[axis]) // step)
        extents.append((first, last))
    return tuple(extents)


def _meets_image(window: Window, axis: int) -> Array:
    """Of each tap whether it is inside of the image for some output."""
    taps = np.arange(window.kernel[axis]) * window.dilations[axis] - window.begin[axis]
    at = taps[:, None] + np.arange(window.output[axis]) * window.strides[axis]
    return np.asarray(((at >= 0) & (at < window.input[axis])).any(axis=1))


def _cut(editor: GraphEditor, node: Node, weights: Array, window: Window, left: Extents) -> None:
    taken = weights[(slice(None), slice(None), *(slice(*extent) for extent in left))]
    edge = node.input(1)
    type_ = replace(editor.type(edge), shape=taken.shape)
    inputs = list(node.inputs)
    inputs[1] = editor.add_constant(editor.edge_name(edge), taken, type_)
    axes = list(zip(left, window.kernel, window.dilations, strict=True))
    begin = [b - first * d for b, ((first, _), _, d) in zip(window.begin, axes, strict=True)]
    end = [e - (size - last) * d for e, ((_, last), size, d) in zip(window.end, axes, strict=True)]
    attributes = {**editor.attributes(node.id), "pads": (*begin, *end)}
    attributes["kernel_shape"] = taken.shape[2:]
    attributes.pop("auto_pad", None)
    editor.set_attributes(node.id, attributes)
    editor.put(replace(node, inputs=tuple(inputs)))
