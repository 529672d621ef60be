"""The oracle's layers against another program's, each computed from that program's own tensors.

End to end, roundings add up in any two programs; layer by layer, each from the same inputs, they
must not be more than a step apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mcu_deploy import interpreter
from mcu_deploy.agreement.rules import ONE_STEP, Rule, judge_layer
from mcu_deploy.arithmetic import dequantize, quantize
from mcu_deploy.files.arrays import Array
from mcu_deploy.ir import EdgeId, Graph, Node, TensorType
from mcu_deploy.ir.types import channels_last
from mcu_deploy.passes.thinning import removed


@dataclass(frozen=True)
class Disagreement:
    """A layer of which another program has values that the oracle has not, from its own inputs."""

    short: str
    op: str
    tensor: str
    differing: int
    elements: int
    worst: float
    rule: Rule

    def __str__(self) -> str:
        unit = " steps" if self.rule == ONE_STEP else ""
        return (
            f"{self.short} ({self.op}), computed from the other program's own inputs: "
            f"{self.differing:,} of {self.elements:,} values differ, by up to "
            f"{self.worst:.3g}{unit}; allowed: {self.rule}"
        )


@dataclass(frozen=True)
class Opinion:
    """What came of a comparison with another program.

    compared: how many layers, some of them together with the one behind. left: the names of those
    that it has no tensors for.
    """

    compared: int
    left: tuple[str, ...]
    disagreements: tuple[Disagreement, ...]


def compare_with(graph: Graph, tensors: Mapping[str, Array], is_tflite: bool = False) -> Opinion:
    """Each node of which the other program has the inputs and the outputs.

    tensors: its values of one sample, by the names in the model file. is_tflite: these end in
    their channels, and the graph's need not.
    """
    nodes = list(_nodes(graph))
    known: dict[EdgeId, Array] = {}
    for each in {id(g): g for g in (graph, *(inner for inner, _, _ in nodes))}.values():
        known |= each.data.constants
        for edge, name in each.topology.edges.items():
            if edge not in known and name in tensors:
                value = _left(each, edge, tensors[name], is_tflite)
                if value is not None:
                    known[edge] = value
    found: list[Disagreement] = []
    compared, unseen = set[str](), dict[EdgeId, list[str]]()
    for inner, node, layer in nodes:
        behind = [unseen.pop(edge, []) for edge in node.reads]
        names = [layer.short, *(name for names in behind for name in names)]
        if not all(edge in known for edge in node.reads):
            unseen.update(dict.fromkeys(node.writes, names))
            continue
        theirs = {edge: known[edge] for edge in node.writes if edge in known}
        known.update(zip(node.writes, interpreter.run_node(inner, node, known), strict=True))
        for edge, value in theirs.items():
            found += _judge(inner, node, layer, edge, value, known)
        known.update(theirs)
        if theirs:
            compared.update(names)
        else:  # what reads it tells of both
            unseen.update(dict.fromkeys(node.writes, names))
    left = dict.fromkeys(name for names in unseen.values() for name in names)
    return Opinion(len(compared), tuple(left), tuple(found))


def _nodes(graph: Graph, layer: Node | None = None) -> Iterator[tuple[Graph, Node, Node]]:
    """Each node with its graph and the layer that it is: of a layer that is several of the model's
    these, since a step between the first and the second is more than one behind the second."""
    for node in graph.nodes:
        body = interpreter.merged(graph, node)
        if body is not None:
            yield from _nodes(body, layer or node)
        else:
            yield graph, node, layer or node


def _judge(
    graph: Graph, node: Node, layer: Node, edge: EdgeId, theirs: Array,
    known: Mapping[EdgeId, Array],
) -> list[Disagreement]:  # fmt: skip
    ours = known[edge]
    if node.op == "TopK" and not graph.attributes(node.id).get("sorted", 1):
        # In any order: what stands at a place says nothing.
        axis = int(graph.attributes(node.id).get("axis", -1))
        ours, theirs = np.sort(ours, axis), np.sort(theirs, axis)
    rule, wrong = judge_layer(graph, node, edge, {**known, edge: ours}, theirs)
    if not graph.type(edge).dtype.is_float and graph.type(edge).is_quantized:
        # The other program may compute in float what is integers here.
        rule, wrong = ONE_STEP, ONE_STEP.broken(ours, theirs)
    if not wrong.any():
        return []
    with np.errstate(invalid="ignore"):
        apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    count, worst = int(wrong.sum()), float(np.nanmax(apart))
    name = graph.edge_name(edge)
    return [Disagreement(layer.short, layer.op, name, count, ours.size, worst, rule)]


def _left(graph: Graph, edge: EdgeId, value: Array, is_tflite: bool) -> Array | None:
    """What an edge holds of another program's tensor, which has all channels of the model's."""
    type_, gone = graph.type(edge), removed(graph, edge)
    if gone is None:
        return _as(value, type_, is_tflite)
    whole = _as(value, gone.whole(type_), is_tflite)
    return None if whole is None else gone.taken(whole)


def _as(value: Array, type_: TensorType, is_tflite: bool) -> Array | None:
    """Another program's tensor as an edge holds it; None where it is none that the edge can hold.

    TFLite's tensors end in their channels; behind a DequantizeLinear that was moved the numbers of
    a file are integers here.
    """
    order = channels_last(type_.rank) if is_tflite and type_.rank > 2 else range(type_.rank)
    turned = tuple(type_.shape[axis] for axis in order)
    if value.shape not in (type_.shape, turned):
        return None
    if is_tflite and type_.rank > 2 and turned == type_.shape and max(turned) > 1:
        return None  # in which order it lies the shape does not tell
    if value.shape != type_.shape:
        value = np.transpose(value, np.argsort(order))
    if value.dtype == type_.dtype.numpy:
        return value
    if not type_.is_quantized or value.dtype != np.float32:
        return None
    integers = quantize(value, type_)
    return integers if np.array_equal(dequantize(integers, type_), value) else None
