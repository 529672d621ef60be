"""Leaves out the channels of the tensors inside of a network that `channels` finds to be needless.

What a channel that is always the same adds to a sum goes into the bias, so the result is the same
bits; the sums stay in 32 bits, for what they could reach before bounds them still. A tensor that
became thinner keeps its id and its name, and its node bears which channels of the model's are gone.
Bodies stay as the model has them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, Node, Quantization, TensorType
from mcu_deploy.operators import find
from mcu_deploy.passes.channels import foldable, needed
from mcu_deploy.passes.ranges import Products, Range, products, ranges, weights

# The attributes that hold what is gone: an axis of the node's output, and indices along it.
AXIS, INDICES = "removed_axis", "removed_channels"


@dataclass(frozen=True)
class Removed:
    """What of a tensor of the model is gone: indices along an axis, of `size` there."""

    axis: int
    indices: tuple[int, ...]
    size: int

    def whole(self, left: TensorType) -> TensorType:
        """The type of the model's own tensor, from that of what is left of it."""
        shape = (self.size if a == self.axis else n for a, n in enumerate(left.shape))
        return replace(left, shape=tuple(shape))

    def taken(self, value: Array) -> Array:
        """What is left of the model's own tensor."""
        return np.delete(value, self.indices, self.axis)


def removed(graph: Graph, edge: EdgeId) -> Removed | None:
    """What of the model's tensor an edge lacks; None where it is whole."""
    node = graph.producer(edge)
    if node is None:
        return None
    attributes, body = graph.attributes(node.id), graph.body(node.id)
    if INDICES in attributes:
        axis, indices = int(attributes[AXIS]), tuple(int(i) for i in attributes[INDICES])
        return Removed(axis, indices, graph.type(edge).shape[axis] + len(indices))
    if (node.domain, node.op) == ("mcu", "Reorder"):
        return removed(graph, node.input(0))
    return None if body is None else removed(body, edge)


def remove(graph: Graph) -> Graph:
    """The graph without the channels that need not be. Its outputs, and so kept tensors, partition
    borders and states, are whole; every other tensor is a part of what it was, bit for bit."""
    if not any(type_.is_quantized for type_ in graph.data.types.values()):
        return graph
    known = ranges(graph)
    stays = needed(graph, known)
    if not stays:
        return graph
    thin = _Thinning(GraphEditor(graph), graph, known, stays)
    for node in graph.nodes:
        if any(edge in stays for edge in (*node.reads, *node.writes)):
            thin.node(node)
    return thin.editor.finish()


@dataclass
class _Thinning:
    """graph: as it was. known: the intervals of its tensors. stays: an axis, and what is left."""

    editor: GraphEditor
    graph: Graph
    known: dict[EdgeId, Range]
    stays: dict[EdgeId, tuple[int, Array]]

    def node(self, node: Node) -> None:
        """Changes the constants and the attributes of a node, and the type of what it writes."""
        axes, inputs = products(self.graph, node), list(node.inputs)
        if axes is not None:
            inputs = self._sum(node, axes)
        (y,) = node.writes
        if y in self.stays:
            axis, kept = self.stays[y]
            type_ = self.graph.type(y)
            self.editor.types[y] = _taken_type(type_, axis, kept)
            gone = np.delete(np.arange(type_.shape[axis]), kept)
            more = {AXIS: axis, INDICES: tuple(int(i) for i in gone)}
            self.editor.set_attributes(node.id, {**self.editor.attributes(node.id), **more})
            if axes is None:
                inputs = [self._operand(node, i, e) for i, e in enumerate(inputs)]
        self.editor.put(replace(self.editor.nodes[node.id], inputs=tuple(inputs)))

    def _sum(self, node: Node, axes: Products) -> list[EdgeId | None]:
        """The inputs of a sum of products: weights of what is left, the rest in the bias."""
        x, w, y = node.input(0), node.input(1), node.writes[0]
        bias = node.inputs[2] if len(node.inputs) > 2 else None
        size = self.graph.type(y).shape[axes.y_output]
        outputs = self.stays.get(y, (0, np.arange(size)))[1]
        inputs: list[EdgeId | None] = [x, w] if bias is None else [x, w, bias]
        if axes.groups > 1:
            left = len(outputs) * axes.groups // size
            attributes = {**self.graph.attributes(node.id), "group": left}
            self.editor.set_attributes(node.id, attributes)
        elif x in self.stays:
            inputs[2:] = self._folded(node, axes, bias)
            inputs[1] = self._constant(w, axes.w_depth, self.stays[x][1])
        if y in self.stays:
            for at, axis in ((1, axes.w_output), (2, 0))[: len(inputs) - 1]:
                edge = inputs[at]
                assert edge is not None
                inputs[at] = self._constant(edge, axis, outputs)
        return inputs

    def _folded(self, node: Node, axes: Products, bias: EdgeId | None) -> list[EdgeId | None]:
        """The bias with what the inputs that are left out add to each sum: one, or none at all."""
        x, w = node.input(0), node.input(1)
        x_type, w_type = self.graph.type(x), self.graph.type(w)
        gone = foldable(self.graph, node, axes, self.known.get(x))
        gone[self.stays[x][1]] = False
        if not gone.any():
            return [] if bias is None else [bias]
        value, _ = self.known[x].constants(axes.x_depth)
        factors = np.where(gone, value.astype(np.int64) - x_type.scaling.zero_point[0], 0)
        added = weights(self.graph, node, axes).sum(axis=2) @ factors
        if not added.any():
            return [] if bias is None else [bias]
        if bias is not None:
            total = self.graph.data.constants[bias] + added
            name, type_ = self.graph.edge_name(bias), self.graph.type(bias)
        else:
            scale = x_type.scaling.scales * w_type.scaling.scales
            quantization = Quantization.from_arrays(scale, [0] * scale.size, 0)
            total, name = added, f"{node.name} bias"
            type_ = TensorType(DType.INT32, added.shape, quantization)
        return [self.editor.add_constant(name, total.astype(np.int32), type_)]

    def _operand(self, node: Node, index: int, edge: EdgeId | None) -> EdgeId | None:
        """An input of any other node: where it is constant, what speaks of channels is cut too."""
        value = self.graph.constant(edge)
        if edge is None or value is None:
            return edge
        y = node.writes[0]
        axis, kept = self.stays[y]
        if node.op == "Reshape" and index == 1:
            shape = np.array(self.editor.types[y].shape, value.dtype)
            return self.editor.add_constant(
                self.graph.edge_name(edge), shape, self.graph.type(edge)
            )
        operator, own = find(node.domain, node.op), axis + value.ndim - self.graph.type(y).rank
        if operator is None or not operator.broadcasts or own < 0 or value.shape[own] == 1:
            return edge
        return self._constant(edge, own, kept)

    def _constant(self, edge: EdgeId, axis: int, kept: Array) -> EdgeId:
        """Some slices of a constant, as a constant of its own."""
        type_ = _taken_type(self.editor.type(edge), axis, kept)
        value = self.editor.constants[edge].take(kept, axis)
        return self.editor.add_constant(self.editor.edges[edge], value, type_)


def _taken_type(type_: TensorType, axis: int, kept: Array) -> TensorType:
    """The type of some slices of a tensor."""
    shape = tuple(len(kept) if a == axis else size for a, size in enumerate(type_.shape))
    says: Any = type_.quantization
    if says is not None and says.axis == axis:
        scale, zero_point = (tuple(v[i] for i in kept) for v in (says.scale, says.zero_point))
        says = Quantization(scale, zero_point, axis)
    return replace(type_, shape=shape, quantization=says)
