"""Compares integers in trees, where their features are integers that were made real numbers.

What a DequantizeLinear or a Cast makes of integers rises with them, so a feature is at most a split
where the integer is at most the last one of which that is so. A node that every integer leads the
same way goes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, Node, TensorType
from mcu_deploy.operators.trees import Forest, Grown, NoForest
from mcu_deploy.passes.quantization import dequantizer

# What integers of a feature are as real numbers: from an array of integers and the feature.
Real = Callable[[Array, int], Array]


def compare_integers(graph: Graph) -> Graph:
    """The graph, trees with the integers behind their features as these, splits as such."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        if node.op != "TreeEnsemble" or node.domain != "ai.onnx.ml":
            continue
        found = _integers(editor, node.reads[0])
        if found is None:
            continue
        edge, real = found
        try:
            forest = Forest.of(graph.attributes(node.id))
        except NoForest:  # which backends say
            continue
        if forest.features.max() >= graph.type(edge).shape[-1] or forest.features.min() < 0:
            continue
        given = _of_integers(forest, graph.type(edge).dtype, real)
        editor.set_attributes(node.id, {**graph.attributes(node.id), **given.attributes()})
        editor.put(replace(editor.nodes[node.id], inputs=(edge,)))
    return editor.finish()


def _integers(graph: GraphEditor, edge: EdgeId) -> tuple[EdgeId, Real] | None:
    """The integers that an edge's real numbers are made of, and how."""
    source, type_ = dequantizer(graph, edge), graph.type(edge)
    if source is not None:
        quantized = graph.type(source.reads[0])
        scales = quantized.scaling.scales
        rises = bool((scales > 0).all() and np.isfinite(scales).all())
        columns = quantized.scaling.axis in (None, 1) or scales.size == 1
        if type_.dtype is not DType.FLOAT32 or not rises or not columns:
            return None
        return source.reads[0], _dequantized(quantized)
    producer = graph.producer(edge)
    if producer is None or producer.op != "Cast" or producer.domain:
        return None
    return _cast(graph, producer, type_)


def _cast(graph: GraphEditor, cast: Node, type_: TensorType) -> tuple[EdgeId, Real] | None:
    given = graph.type(cast.reads[0])
    if not given.dtype.is_integer or given.dtype.bytes < 1 or given.dtype.bits < 8:
        return None
    element = type_.dtype.numpy
    return cast.reads[0], lambda integers, feature: integers.astype(element)


def _dequantized(type_: TensorType) -> Real:
    scales, points = type_.scaling.scales, np.array(type_.scaling.zero_point)

    def real(integers: Array, feature: int) -> Array:
        column = feature if scales.size > 1 else 0
        point = int(points[feature if points.size > 1 else 0])
        found = (integers.astype(np.int64) - point).astype(np.float32) * scales[column]
        return np.asarray(found, np.float32)

    return real


def _of_integers(forest: Forest, dtype: DType, real: Real) -> Forest:
    """The forest with splits of this type."""
    made = Grown(dtype.numpy, forest.weights.dtype)
    known: dict[int, int] = {}
    for leaf in range(forest.leaves):
        part = slice(*forest.starts[leaf : leaf + 2])
        says = zip(forest.targets[part].tolist(), forest.weights[part], strict=True)
        known[~leaf] = made.leaf(tuple(says))
    low, high = dtype.range
    splits: dict[tuple[int, bytes], int] = {}
    for node in forest.children_first():
        feature, split = int(forest.features[node]), forest.splits[node]
        key = feature, split.tobytes()
        if key not in splits:
            splits[key] = _last(real, feature, split, low, high, dtype)
        below, above = known[int(forest.below[node])], known[int(forest.above[node])]
        if low <= splits[key] < high:
            known[node] = made.ask(feature, splits[key], below, above, False)
        else:
            known[node] = above if splits[key] < low else below
    return made.forest([known[int(root)] for root in forest.roots])


def _last(real: Real, feature: int, split: Array, low: int, high: int, dtype: DType) -> int:
    """The last integer whose real number is at most the split; low - 1 where there is none."""
    first, behind = low - 1, high + 1
    while behind - first > 1:
        middle = (first + behind) // 2
        if real(np.array([middle], dtype.numpy), feature)[0] <= split:
            first = middle
        else:
            behind = middle
    return first
