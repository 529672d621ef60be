"""Which slices of the tensors inside of a network are needed: those that are always the same can be
folded into the bias of who reads them, and those that nobody reads can go.

A tensor can become thinner along one axis, where whoever writes it and all who read it can do with
less. `needed` finds the least that must stay; `thinning` makes the graph of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from mcu_deploy import operators
from mcu_deploy.arithmetic import Array
from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import DType, EdgeId, Graph, Node, NodeId, TensorType
from mcu_deploy.operators.base import evaluate
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.passes.ranges import Products, Range, products, weights

# Kernels compute channels in groups of so many, so none of a group is gained.
GROUP = 4

# Those of which no attribute and no constant says how many channels there are, and Reshape, whose
# shape is written anew. Where the results of a pool are from does not depend on what it computes.
_MOVERS = (
    "Concat", "Flatten", "GlobalMaxPool", "MaxPool", "Pad", "ReduceMax", "ReduceMin", "Reshape",
    "Squeeze", "Transpose", "Unsqueeze",
)  # fmt: skip
_LIKE = {op: op for op in _MOVERS} | {
    "AveragePool": "MaxPool", "GlobalAveragePool": "GlobalMaxPool", "ReduceMean": "ReduceMax",
    "ReduceSum": "ReduceMax",
}  # fmt: skip
_NOBODYS = -1  # the label of what a Pad adds


class _Tie(NamedTuple):
    """What is kept of an input and of the output together: slices with one label."""

    read: EdgeId
    labels: Array
    written: Array


class _Way(NamedTuple):
    """How channels go through a node: they lie along an axis of what it writes. readable: the
    inputs that may be thinner; the others have to be whole."""

    axis: int
    ties: tuple[_Tie, ...]
    readable: Set[EdgeId]


@dataclass
class _Needs:
    """What must stay. axes: of the tensors that may become thinner, along which; stays: by tensor,
    which slices of that axis. Tensors without an axis stay whole."""

    graph: Graph
    ranges: Mapping[EdgeId, Range]
    axes: dict[EdgeId, int] = field(default_factory=dict)
    stays: dict[EdgeId, Array] = field(default_factory=dict)
    ties: dict[NodeId, tuple[_Tie, ...]] = field(default_factory=dict)
    reads: dict[NodeId, Array] = field(default_factory=dict)  # [output, input] of a sum: is it read

    def enter(self, node: Node) -> None:
        """Finds how channels go through a node; those of its inputs are known already."""
        way = self._summed(node) or self._tied(node) if len(node.writes) == 1 else None
        for edge in node.reads:
            if edge in self.axes and (way is None or edge not in way.readable):
                self.stays[edge][:] = True
        if way is not None:
            self.ties[node.id] = way.ties
            (edge,) = node.writes
            self.axes[edge] = way.axis
            self.stays[edge] = np.zeros(self.graph.type(edge).shape[way.axis], bool)

    def _summed(self, node: Node) -> _Way | None:
        axes = products(self.graph, node)
        if axes is None:
            return None
        x = node.input(0)
        along = self.axes.get(x) == axes.x_depth
        if axes.groups == 1 and along:
            folded = foldable(self.graph, node, axes, self.ranges.get(x))
            self.reads[node.id] = weights(self.graph, node, axes).any(axis=2) & ~folded
        if axes.groups == 1:
            return _Way(axes.y_output, (), {x} if along else set())
        if not along:
            return None
        sizes = len(self.stays[x]), self.graph.type(node.writes[0]).shape[axes.y_output]
        labels = (np.arange(size) // (size // axes.groups) for size in sizes)
        return _Way(axes.y_output, (_Tie(x, *labels),), {x})

    def _tied(self, node: Node) -> _Way | None:
        operator = operators.find(node.domain, node.op)
        thin = [e for e in node.reads if e in self.axes]
        result = self.graph.type(node.writes[0])
        if operator is None or not thin or node.extra_inputs:
            return None
        if not (result.is_quantized and result.scaling.per_tensor):
            return None
        if operator.broadcasts or operator.elementwise:
            first = self.graph.type(thin[0])
            axis = self.axes[thin[0]] + result.rank - first.rank
            read = [e for e in node.reads if self._along(e, result, axis) > 1]
            variable = [e for e in read if self.graph.constant(e) is None]
            if any(self.axes.get(e) != axis + self._rank(e) - result.rank for e in variable):
                return None
            labels = np.arange(result.shape[axis])
            return _Way(axis, tuple(_Tie(e, labels, labels) for e in variable), set(variable))
        return self._moved(node) if node.op in _LIKE else None

    def _rank(self, edge: EdgeId) -> int:
        return self.graph.type(edge).rank

    def _along(self, edge: EdgeId, result: TensorType, axis: int) -> int:
        """The size of an operand along an axis of the result."""
        own = axis + self._rank(edge) - result.rank
        return self.graph.type(edge).shape[own] if own >= 0 else 1

    def _moved(self, node: Node) -> _Way | None:
        """Asks the operator itself where its slices come from: it is given their labels."""
        is_joint = node.op == "Concat"
        data = [e for e in (node.inputs if is_joint else node.inputs[:1]) if e is not None]
        joint = int(self.graph.attributes(node.id)["axis"]) if is_joint else 0
        axes = [self.axes.get(e, joint % self._rank(e)) for e in data]
        sizes = [self.graph.type(e).shape[axis] for e, axis in zip(data, axes, strict=True)]
        first = [sum(sizes[:i]) for i in range(len(data))]
        labels = [at + np.arange(size) for at, size in zip(first, sizes, strict=True)]
        count = sum(sizes)
        # What takes a maximum of several labels is found out by the same with their order turned.
        up = self._relabelled(node, data, axes, labels)
        down = self._relabelled(node, data, axes, [count - 1 - each for each in labels])
        if not np.array_equal(up, np.where(down == _NOBODYS, _NOBODYS, count - 1 - down)):
            return None
        axis = _line(up)
        if axis is None:
            return None
        written = np.moveaxis(up, axis, 0).reshape(up.shape[axis], -1).max(axis=1)
        ties = [_Tie(e, each, written) for e, each in zip(data, labels, strict=True)]
        return _Way(axis, tuple(ties), set(data))

    def _relabelled(
        self, node: Node, data: list[EdgeId], axes: list[int], labels: list[Array]
    ) -> Array:
        call = node_call(self.graph, node, self.graph.data.constants)
        values, types = list(call.values), list(call.types)
        for at, (edge, axis, each) in enumerate(zip(data, axes, labels, strict=True)):
            shape = self.graph.type(edge).shape
            line = each.reshape(*(-1 if a == axis else 1 for a in range(len(shape))))
            values[at] = np.broadcast_to(line, shape).astype(np.int32)
            types[at] = TensorType(DType.INT32, shape)
        if node.op == "Pad" and len(values) > 2:
            values[2], types[2] = np.array(_NOBODYS, np.int32), TensorType(DType.INT32, ())
        result = TensorType(DType.INT32, call.results[0].shape)
        op = _LIKE[node.op]
        asked = replace(
            call, op=op, values=tuple(values), types=tuple(types), results=(result,),
            attributes={**call.attributes, "value": _NOBODYS},
        )  # fmt: skip
        return evaluate(operators.lookup("", op), asked)[0]

    def settle(self) -> None:
        """Lets needs spread, from readers to writers and between slices that are tied."""
        nodes = [n for n in self.graph.nodes if n.id in self.ties]
        before = -1
        while before != (now := sum(int(each.sum()) for each in self.stays.values())):
            before = now
            for node in reversed(nodes):
                y = self.stays[node.writes[0]]
                if node.id in self.reads:
                    self.stays[node.input(0)] |= self.reads[node.id][y].any(axis=0)
                for tie in self.ties[node.id]:
                    x = self.stays.get(tie.read, np.ones(len(tie.labels), bool))
                    kept = np.zeros(max(tie.labels.max(), tie.written.max()) + 2, bool)
                    kept[tie.labels[x]] = kept[tie.written[y]] = kept[_NOBODYS] = True
                    x |= kept[tie.labels]
                    y |= kept[tie.written]

    def fill(self) -> None:
        """Adds slices until all sums make whole groups of channels, or all of theirs.

        The others follow: a tensor that is tied to several is as uneven as the model has it.
        """
        edges = [self.graph.node(n).writes[0] for n, ties in self.ties.items() if not ties]
        made = [self.stays[edge] for edge in edges]
        while few := [s for s in made if not s.all() and (s.sum() % GROUP or not s.any())]:
            for stays in few:
                count = -int(stays.sum()) % GROUP or GROUP
                stays[np.flatnonzero(~stays)[:count]] = True
            self.settle()


def _line(labels: Array) -> int | None:
    """The axis along which alone labels change; what nobody gave fits to any."""
    for axis in range(labels.ndim):
        others = tuple(a for a in range(labels.ndim) if a != axis)
        line = labels.max(axis=others, keepdims=True)
        if np.all((labels == line) | (labels == _NOBODYS)) and labels.shape[axis] > 1:
            return axis
    return None


def foldable(graph: Graph, node: Node, axes: Products, x: Range | None) -> Array:
    """Of each slice along the depth, whether its part of the sums is always one number.

    Around it a convolution may see its padding, which counts as 0.
    """
    type_ = graph.type(node.input(0))
    if x is None:
        return np.zeros(type_.shape[axes.x_depth], bool)
    value, is_constant = x.constants(axes.x_depth)
    is_zero = value == type_.scaling.zero_point[0]
    return np.asarray(is_constant & (is_zero | _has_room(graph, node)))


def _has_room(graph: Graph, node: Node) -> bool:
    """Whether every sum has all of its terms, and a bias."""
    if node.op != "Conv":
        return node.op != "MatMul"
    x, w, y = (graph.type(e) for e in (node.input(0), node.input(1), node.writes[0]))
    return not conv_window(x, w, y, graph.attributes(node.id)).padded


def needed(graph: Graph, ranges: Mapping[EdgeId, Range]) -> dict[EdgeId, tuple[int, Array]]:
    """Of each tensor that can become thinner: the axis, and the slices that stay, ascending."""
    needs = _Needs(graph, ranges)
    for node in graph.nodes:
        needs.enter(node)
    for edge in graph.outputs:
        if edge in needs.stays:
            needs.stays[edge][:] = True
    needs.settle()
    needs.fill()
    return {
        edge: (needs.axes[edge], np.flatnonzero(stays))
        for edge, stays in needs.stays.items()
        if not stays.all()
    }
