"""Keeps weights that are quantized, where the layer computes real numbers, as the bytes they are.

A DequantizeLinear of constant weights before a Conv, Gemm or MatMul of float32 becomes part of that
layer (`operators/weight_only.py`): its weights take a byte each, and no float32 copy is made of
them. So do those of both matrices of an LSTM, a GRU or an RNN; and of a Gemm or MatMul those of 4
bits with a scale for each block along the depth, of which two take a byte.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy import operators
from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import DType, Graph, GraphEditor, Node, TensorType
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.weight_only import BLOCK, SCALES, output_axis
from mcu_deploy.passes.quantization import BYTES, converts, dequantizer


def keep(graph: Graph) -> Graph:
    """The graph with each such layer fused with the DequantizeLinear of its weights."""
    editor = GraphEditor(graph)
    for node in graph.nodes:
        operator = operators.find(node.domain, node.op)
        if operator is not None and operator.has_weights and operators.find("mcu", node.op):
            if not _keep_blocks(editor, node):
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


def _keep_blocks(graph: GraphEditor, node: Node) -> bool:
    """Of weights that a build has widened to bytes; whether there was anything to keep."""
    source = graph.producer(node.input(1))
    found = None if source is None else _blocks(graph, node, source)
    x, bias = node.input(0), node.inputs[2] if len(node.inputs) > 2 else None
    if source is None or found is None or graph.type(x).dtype is not DType.FLOAT32:
        return False
    if bias is not None and graph.constant(bias) is None:
        return False
    integers, scales, block = found
    name = graph.edge_name(source.input(0))
    weights = graph.add_constant(name, integers, TensorType(DType.INT8, integers.shape))
    scale = graph.add_constant(f"{name} scales", scales, TensorType(DType.FLOAT32, scales.shape))
    attributes = {**graph.attributes(node.id), BLOCK: block}
    graph.fuse(
        [node.id], node.op, [x, weights, bias, scale], node.outputs, attributes, node.name,
        [source.id], "mcu",
    )  # fmt: skip
    return True


def _blocks(
    graph: GraphEditor, node: Node, source: Node
) -> tuple[Array, Array, int] | None:  # fmt: skip
    """Integers without their zero points, of which those of a block lie within 15 of each other;
    their scales, and the elements of a block, of which the last may have fewer; None of what is not
    that."""
    if node.op not in ("Gemm", "MatMul") or not converts(source) or len(node.inputs) > SCALES:
        return None
    value, scales, zero = (graph.constant(e) for e in (*source.inputs, None)[:3])
    if value is None or scales is None or value.ndim != 2 or scales.ndim != 2:
        return None
    if len(source.reads) > 2 and zero is None:
        return None
    if graph.attributes(node.id).get("transA", 0) or graph.type(node.input(0)).rank < 2:
        return None
    given = graph.attributes(source.id)
    depth = 1 - output_axis(node.op, graph.attributes(node.id), 2)
    count, block = value.shape[depth], int(given.get("block_size", 0))
    if int(given.get("axis", 1)) % 2 != depth or not block or block % 2 or count % 2:
        return None
    integers = value.astype(np.int32)
    if not integers.size:
        return None
    if zero is not None:
        spread = np.repeat(zero.astype(np.int32), block, depth)
        integers = integers - spread.take(range(count), depth)
    begins = np.arange(0, count, block)
    least, most = (of.reduceat(integers, begins, depth) for of in (np.minimum, np.maximum))
    if (most - least).max() > 15 or np.abs(integers).max() > 127:
        return None
    return integers.astype(np.int8), scales.astype(np.float32), block
