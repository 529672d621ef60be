"""What each element of an 8-bit tensor can be, whatever a network's inputs are: an interval.

The oracle itself computes the ends of an interval from the ends of those before it, so that
borders, clamps, roundings and saturations of each format are in it as they are. What nothing is
known of can be all that its type holds, so the intervals are never too narrow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mcu_deploy import operators
from mcu_deploy.arithmetic import Array
from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import EdgeId, Graph, Node, TensorType
from mcu_deploy.operators import Call, Operator
from mcu_deploy.operators.base import evaluate, of_elements
from mcu_deploy.operators.weight_only import output_axis
from mcu_deploy.passes.quantization import BYTES

# Where no scale is further from another, no arithmetic leaves int32 or float32 on the way.
_LARGEST_RATIO = 2.0**16


@dataclass(frozen=True)
class Range:
    """The smallest and the largest value of each element, in the tensor's type and shape."""

    low: Array
    high: Array

    @classmethod
    def full(cls, type_: TensorType) -> Range:
        """All that a type holds."""
        low, high = (np.full(type_.shape, end, type_.dtype.numpy) for end in type_.dtype.range)
        return cls(low, high)

    def constants(self, axis: int) -> tuple[Array, Array]:
        """Of each slice along an axis a value, and whether all its elements are always that."""
        others = tuple(a for a in range(self.low.ndim) if a != axis)
        low = self.low.min(axis=others)
        return low, low == self.high.max(axis=others)


@dataclass(frozen=True)
class Products:
    """An integer sum of products by constant weights, which provably stays in 32 bits.

    depth, output: the axis along which x and w are summed up, that of the results in w and in y, by
    tensor. groups: into how many equal parts, each for itself, x and y are divided.
    """

    x_depth: int
    w_depth: int
    w_output: int
    y_output: int
    groups: int = 1


def ranges(graph: Graph) -> dict[EdgeId, Range]:
    """The intervals of the 8-bit tensors of which more is known than the type.

    What is seen from outside may be written from there too (a partition's input), so nothing is
    known of a graph's outputs.
    """
    known = {
        edge: Range(value, value)
        for edge, value in graph.data.constants.items()
        if graph.type(edge).dtype in BYTES
    }
    for node in graph.nodes:
        written = node.writes
        if len(written) == 1 and written[0] not in graph.outputs:
            found = _range(graph, node, known)
            if found is not None:
                known[written[0]] = found
    return known


def products(graph: Graph, node: Node) -> Products | None:
    """How a node sums products up; None for any other node, and where no proof is at hand."""
    axes = _axes(graph, node)
    if axes is None:
        return None
    (x, w, *others), y = node.inputs, node.writes[0]
    factor, bias = graph.constant(w), graph.constant(others[0]) if others else None
    if x is None or factor is None or (bias is None) != (not others):
        return None
    types = [graph.type(edge) for edge in (x, node.input(1), y)]
    if not all(t.is_quantized and t.dtype in BYTES and t.elements for t in types):
        return None
    xq, wq, yq = (t.scaling for t in types)
    if graph.constant(x) is not None or not (xq.per_tensor and yq.per_tensor):
        return None
    size = factor.shape[axes.w_output]
    if bias is not None and (bias.shape != (size,) or bias.dtype != np.int32):
        return None
    magnitude = np.abs(weights(graph, node, axes)).sum(axis=(1, 2))
    largest = max(abs(end - xq.zero_point[0]) for end in types[0].dtype.range)
    worst = magnitude * largest + (0 if bias is None else np.abs(bias.astype(np.int64)))
    factors = xq.scales.astype(np.float64) * wq.scales / yq.scales
    # Twice: a multiplier's power of two is at most that above its factor.
    fits = worst.max() < 2**31 and (2 * factors * worst).max() < 2**31 and factors.min() > 0
    return axes if fits else None


def weights(graph: Graph, node: Node, axes: Products) -> Array:
    """[output, depth, tap]: the weights without their zero point, in int64."""
    value, type_ = graph.data.constants[node.input(1)], graph.type(node.input(1))
    centred = value.astype(np.int64) - type_.scaling.broadcast(type_.rank)[1]
    ordered = np.moveaxis(centred, (axes.w_output, axes.w_depth), (0, 1))
    return ordered.reshape(*ordered.shape[:2], -1)


def _axes(graph: Graph, node: Node) -> Products | None:
    attributes = graph.attributes(node.id)
    kind = node.domain, node.op
    if len(node.inputs) < 2 or len(node.outputs) != 1 or len(node.writes) != 1:
        return None
    ranks = [0 if e is None else graph.type(e).rank for e in (*node.inputs[:2], node.outputs[0])]
    if kind in (("", "Conv"), ("tflite", "Conv")):
        return Products(1, 1, 0, 1, int(attributes.get("group", 1)))
    if kind == ("tflite", "FullyConnected") and ranks == [2, 2, 2]:
        return Products(1, 1, 0, 1)
    if kind in (("", "Gemm"), ("", "MatMul")) and ranks[1] == 2 and ranks[0] == ranks[2]:
        output = output_axis(node.op, attributes, 2)
        return Products(ranks[0] - 1, 1 - output, output, ranks[2] - 1)
    return None


def _range(graph: Graph, node: Node, known: Mapping[EdgeId, Range]) -> Range | None:
    operator = operators.find(node.domain, node.op)
    variable = [i for i, e in enumerate(node.inputs) if e is not None and graph.constant(e) is None]
    types = [graph.type(e) for e in (*(node.input(i) for i in variable), *node.writes)]
    if operator is None or not variable or node.extra_inputs:
        return None
    if any(t.dtype not in BYTES or not t.elements for t in types):
        return None
    given = {i: known.get(node.input(i)) or Range.full(graph.type(node.input(i))) for i in variable}
    call = node_call(graph, node, graph.data.constants)
    axes = products(graph, node)
    if axes is not None:
        return _of_products(operator, call, given[0], axes)
    if operator.elementwise and variable == [0]:
        return _of_function(operator, call, given[0])
    moved = () if operator.moves is None else range(len(node.inputs))[operator.moves]
    if set(variable) <= set(moved):
        low = _computed(operator, call, {i: r.low for i, r in given.items()})
        return Range(low, _computed(operator, call, {i: r.high for i, r in given.items()}))
    if operator.monotone and len(variable) <= 2 and _is_ordinary(call):
        ends = itertools.product(*((r.low, r.high) for r in given.values()))
        corners = [_computed(operator, call, dict(zip(given, e, strict=True))) for e in ends]
        return Range(np.minimum.reduce(corners), np.maximum.reduce(corners))
    return None


def _computed(operator: Operator, call: Call, values: Mapping[int, Array]) -> Array:
    """The one result of a call whose other inputs are constants."""
    filled = tuple(values.get(i, value) for i, value in enumerate(call.values))
    (result,) = evaluate(operator, replace(call, values=filled))
    return result


def _is_ordinary(call: Call) -> bool:
    """Whether scales lie so near to each other that every step of the arithmetic is monotone."""
    types = [t for t in (*call.types, *call.results) if t is not None and t.is_quantized]
    scales = [scale for t in types for scale in t.scaling.scale]
    if not all(math.isfinite(s) and s > 0 for s in scales) or not all(
        t.scaling.per_tensor for t in types
    ):
        return False
    return not scales or max(scales) / min(scales) < _LARGEST_RATIO


def _of_products(operator: Operator, call: Call, x: Range, axes: Products) -> Range:
    """The least sum is of the low ends by the positive weights and the high ends by the negative.

    That is one call of an operator twice as deep.
    """
    w, w_type = call.value(1), call.type(1)
    zero = np.broadcast_to(w_type.scaling.broadcast(w.ndim)[1], w.shape).astype(w.dtype)
    both = np.concatenate([np.maximum(w, zero), np.minimum(w, zero)], axes.w_depth)

    def computed(by_positive: Array, by_negative: Array) -> Array:
        # Those of a group stay together.
        parts = [_divided(ends, axes.x_depth, axes.groups) for ends in (by_positive, by_negative)]
        shape = list(by_positive.shape)
        shape[axes.x_depth] *= 2
        twice = np.concatenate(parts, axes.x_depth + 1).reshape(shape)
        types = (
            replace(call.type(0), shape=twice.shape), replace(w_type, shape=both.shape),
            *call.types[2:],
        )  # fmt: skip
        return _computed(operator, replace(call, types=types), {0: twice, 1: both})

    return Range(computed(x.low, x.high), computed(x.high, x.low))


def _divided(value: Array, axis: int, groups: int) -> Array:
    """An axis as two: the groups, and what is in each."""
    size = value.shape[axis]
    return value.reshape(*value.shape[:axis], groups, size // groups, *value.shape[axis + 1 :])


def _of_function(operator: Operator, call: Call, x: Range) -> Range:
    """Of a function of one element all 256 values are known."""
    x_type, y_type = call.type(0), call.results[0]
    first, last = x_type.dtype.range
    inputs = np.arange(first, last + 1).astype(x_type.dtype.numpy)
    table = of_elements(operator, call, {0: inputs})
    # From each value on: the extremes up to each other one.
    low = np.stack([np.minimum.accumulate(np.roll(table, -i)) for i in range(len(table))])
    high = np.stack([np.maximum.accumulate(np.roll(table, -i)) for i in range(len(table))])
    at = x.low.astype(np.int64) - first, x.high.astype(np.int64) - x.low
    return Range(low[at].reshape(y_type.shape), high[at].reshape(y_type.shape))
