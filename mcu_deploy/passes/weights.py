"""Keeps weights that are quantized, where the layer computes real numbers, as the bytes they are.

A DequantizeLinear of constant weights before a Conv, Gemm or MatMul of float32 becomes part of that
layer (`operators/weight_only.py`): its weights take a byte each, and no float32 copy is made of
them. So do those of both matrices of an LSTM, a GRU or an RNN.
"""

from __future__ import annotations

from mcu_deploy import operators
from mcu_deploy.ir import DType, Graph, GraphEditor, Node
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.weight_only import output_axis
from mcu_deploy.passes.quantization import BYTES, dequantizer


def keep(graph: Graph) -> Graph:
    """The graph with each such layer fused with the DequantizeLinear of its weights."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        operator = operators.find(node.domain, node.op)
        if operator is not None and operator.has_weights:
            _keep_one(editor, node)
        elif node.op in recurrent.GATES and not node.domain:
            _keep_recurrent(editor, node)
    return editor.finish()


def _keep_one(graph: GraphEditor, node: Node) -> None:
    x, weights, *others = node.inputs
    source = dequantizer(graph, weights)
    if x is None or source is None or graph.constant(source.inputs[0]) is None:
        return
    integers = source.reads[0]
    type_ = graph.type(integers)
    says = type_.scaling
    if graph.type(x).dtype is not DType.FLOAT32 or type_.dtype not in BYTES:
        return
    if len(set(says.zero_point)) > 1 or (node.op == "MatMul" and type_.rank != 2):
        return
    axis = output_axis(node.op, graph.attributes(node.id), type_.rank)
    if says.per_tensor or says.axis == axis:
        graph.fuse(
            [node.id], node.op, [x, integers, *others], node.outputs, graph.attributes(node.id),
            node.name, [source.id], "mcu",
        )  # fmt: skip


def _keep_recurrent(graph: GraphEditor, node: Node) -> None:
    """Of W and R, [directions, rows, ...], scales are of a row of all directions, or one."""
    inputs, sources = list(node.inputs), []
    bias = inputs[recurrent.BIAS] if len(inputs) > recurrent.BIAS else None
    if bias is not None and graph.constant(bias) is None:
        return
    for index in (recurrent.W, recurrent.R):
        source = dequantizer(graph, inputs[index])
        if source is None or graph.constant(source.inputs[0]) is None:
            return
        integers = source.reads[0]
        type_ = graph.type(integers)
        says = type_.scaling
        if type_.dtype is not DType.INT8 or any(says.zero_point):
            return
        if not says.per_tensor and says.axis != 1:
            return
        inputs[index] = integers
        sources.append(source.id)
    graph.fuse(
        [node.id], node.op, inputs, node.outputs, graph.attributes(node.id), node.name,
        sources, "mcu",
    )  # fmt: skip
