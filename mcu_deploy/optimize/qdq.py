"""Lowers QDQ sandwiches: DequantizeLinear, operator, QuantizeLinear become one integer node
between quantized edges.

The sandwich stays as the node's body. What cannot be lowered (computed scales, 16-bit types,
accumulators that could overflow) stays in float32, which is the ONNX meaning of it, only slower.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mcu_deploy import operators
from mcu_deploy.arithmetic import dequantize
from mcu_deploy.ir import (
    DType,
    EdgeId,
    Graph,
    GraphEditor,
    Node,
    NodeId,
    Quantization,
    TensorType,
)
from mcu_deploy.optimize.quantization import stated

_BYTES = (DType.INT8, DType.UINT8)
_MATRIX = {"Conv", "Gemm", "MatMul"}
# Their inputs behind the first are parameters, which the operator reads as real numbers.
_REAL_PARAMETERS = {"Clip"}


def lower(graph: Graph) -> Graph:
    """The graph with every sandwich that has an integer form replaced by it."""
    editor = GraphEditor(graph)
    for source in graph.nodes:
        node = editor.nodes.get(source.id)
        if node is None:
            continue
        operator = operators.find(node.domain, node.op)
        if operator is not None and operator.quantized is not None:
            if node.op in _REAL_PARAMETERS:
                _with_real_parameters(editor, node)
            _lower_one(editor, editor.nodes[node.id], operator.quantized)
        elif node.op == "QuantizeLinear" and not node.domain:
            _lower_pair(editor, node)
    return editor.finish()


def _with_real_parameters(graph: GraphEditor, node: Node) -> None:
    """Replaces dequantized constants behind the first input by their real values."""
    inputs = list(node.inputs)
    for index, edge in enumerate(inputs):
        source = _dequantized(graph, edge) if index else None
        value = None if source is None else graph.constant(source.inputs[0])
        if source is None or value is None or source.inputs[0] is None:
            continue
        real = dequantize(value, graph.type(source.inputs[0]))
        type_ = TensorType(DType.FLOAT32, real.shape)
        inputs[index] = graph.add_constant(graph.edge_name(source.inputs[0]), real, type_)
    graph.set_inputs(node.id, inputs)


def _dequantized(graph: GraphEditor, edge: EdgeId | None) -> Node | None:
    """The DequantizeLinear that writes an edge, if it states what its integer edge says."""
    producer = None if edge is None else graph.producer(edge)
    if producer is None or producer.op != "DequantizeLinear" or producer.domain:
        return None
    source = producer.inputs[0]
    assert source is not None
    if graph.type(source).quantization != stated(graph, producer):
        return None
    return producer


def _quantized(graph: GraphEditor, node: Node) -> Node | None:
    """The one QuantizeLinear behind a node, to 8 bits, with one constant scale."""
    if len([e for e in node.outputs if e is not None]) != 1 or node.outputs[0] is None:
        return None
    reader = graph.sole_consumer(node.outputs[0])
    if reader is None or reader.op != "QuantizeLinear" or reader.domain:
        return None
    result = reader.outputs[0]
    assert result is not None
    type_ = graph.type(result)
    stated_here = stated(graph, reader)
    if type_.dtype not in _BYTES or stated_here is None or not stated_here.per_tensor:
        return None
    return reader if type_.quantization == stated_here else None


def _lower_one(graph: GraphEditor, node: Node, kind: str) -> None:
    quantize = _quantized(graph, node)
    if quantize is None or not node.inputs:
        return
    result = quantize.outputs[0]
    assert result is not None
    inputs: list[EdgeId | None] = []
    shared: list[NodeId] = []
    integer_inputs = 0
    for index, edge in enumerate(node.inputs):
        source = _dequantized(graph, edge)
        if source is None:
            if edge is not None and graph.constant(edge) is None:
                return
            inputs.append(edge)
            continue
        integer = source.inputs[0]
        assert integer is not None
        is_bias = index == 2 and node.op in ("Conv", "Gemm")
        if not is_bias and graph.type(integer).dtype not in _BYTES:
            return
        integer_inputs += 0 if is_bias else 1
        inputs.append(integer)
        shared.append(source.id)
    if integer_inputs == 0:
        return
    if node.op in _MATRIX:
        if not _matrix_fits(graph, node, inputs):
            return
        bias = _bias(graph, node, inputs)
        if bias is False:
            return
        inputs = [*inputs[:2], *([bias] if bias is not None else [])]
    elif not _moves_alike(graph, inputs, result, kind):
        return
    attributes = dict(graph.attributes(node.id))
    members = [node.id, quantize.id]
    graph.fuse(members, node.op, inputs, [result], attributes, node.name, shared)


def _moves_alike(
    graph: GraphEditor, inputs: list[EdgeId | None], result: EdgeId, kind: str
) -> bool:
    """Per-tensor activations; and for operators that move elements, one quantization throughout."""
    target = graph.type(result)
    for edge in inputs:
        type_ = None if edge is None else graph.types.get(edge)
        if type_ is None or type_.quantization is None:
            continue
        if not type_.quantization.per_tensor:
            return False
        if kind == "same" and (type_.quantization, type_.dtype) != (
            target.quantization,
            target.dtype,
        ):
            return False
    return True


def _matrix_fits(graph: GraphEditor, node: Node, inputs: list[EdgeId | None]) -> bool:
    """Whether both factors are quantized the way the integer form knows."""
    x, w = inputs[0], inputs[1]
    if x is None or w is None:
        return False
    xq, wq = graph.type(x).quantization, graph.type(w).quantization
    attributes = graph.attributes(node.id)
    if xq is None or wq is None or not xq.per_tensor:
        return False
    if attributes.get("alpha", 1.0) != 1.0 or attributes.get("beta", 1.0) != 1.0:
        return False
    if attributes.get("transA", 0):
        return False
    if len(set(wq.zero_point)) > 1:
        return False
    axis = 0 if node.op == "Conv" or attributes.get("transB", 0) else graph.type(w).rank - 1
    if not wq.per_tensor and wq.axis != axis:
        return False
    if graph.constant(w) is None:
        return node.op == "MatMul" and wq.per_tensor
    return True


def _bias(graph: GraphEditor, node: Node, inputs: list[EdgeId | None]) -> EdgeId | bool | None:
    """The bias as int32 at the accumulator's scale; False where the accumulator could overflow."""
    x, w = inputs[0], inputs[1]
    assert x is not None
    assert w is not None
    w_type = graph.type(w)
    xq, wq = graph.type(x).quantization, w_type.quantization
    assert xq is not None
    assert wq is not None
    edge = inputs[2] if len(inputs) > 2 else None
    value: np.ndarray | None = None
    if edge is not None:
        value = _integer_bias(graph, edge, xq, wq)
        if value is None:
            return False
    if _worst_sum(graph, node, inputs, value) >= 2**31:
        return False
    if value is None or edge is None:
        return None
    scale = (xq.scales * wq.scales).astype(np.float32)
    quantization = Quantization.from_arrays(scale, [0] * scale.size, 0)
    type_ = TensorType(DType.INT32, value.shape, quantization)
    return graph.add_constant(graph.edge_name(edge), value.astype(np.int32), type_)


def _integer_bias(
    graph: GraphEditor, edge: EdgeId, xq: Quantization, wq: Quantization
) -> np.ndarray | None:
    value = graph.constant(edge)
    if value is None or value.ndim != 1:
        return None
    scale = xq.scales.astype(np.float64) * wq.scales.astype(np.float64)
    type_ = graph.type(edge)
    if type_.dtype is DType.FLOAT32:
        real = value.astype(np.float64)
    else:
        own = type_.quantization
        if own is None or any(own.zero_point):
            return None
        # Converters store float32(sx * sw): the integers are then the accumulator's own.
        if np.allclose(own.scales, scale, rtol=1e-5, atol=0):
            return value.astype(np.int64)
        real = value.astype(np.float64) * own.scales.astype(np.float64)
    rounded = np.rint(real / scale)
    if not np.all(np.abs(rounded) < 2**31):
        return None
    return np.asarray(rounded.astype(np.int64))


def _worst_sum(
    graph: GraphEditor, node: Node, inputs: list[EdgeId | None], bias: np.ndarray | None
) -> int:
    """The largest magnitude that an accumulator can reach, over all inputs and channels."""
    x, w = inputs[0], inputs[1]
    assert x is not None
    assert w is not None
    x_type, w_type = graph.type(x), graph.type(w)
    weights = graph.constant(w)
    assert w_type.quantization is not None
    largest = _largest(x_type)
    if weights is None:
        return x_type.shape[-1] * largest * _largest(w_type)
    _, w_zero = w_type.quantization.broadcast(w_type.rank)
    magnitude = np.abs(weights.astype(np.int64) - w_zero)
    transposed = bool(graph.attributes(node.id).get("transB", 0))
    channel = 0 if node.op == "Conv" or transposed else w_type.rank - 1
    sums = magnitude.sum(axis=tuple(a for a in range(w_type.rank) if a != channel))
    total = sums * largest + (0 if bias is None else np.abs(bias))
    return int(total.max()) if total.size else 0


def _largest(type_: TensorType) -> int:
    """The largest magnitude of an element of a tensor quantized per tensor, zero point removed."""
    assert type_.quantization is not None
    zero = type_.quantization.zero_point[0]
    return max(abs(bound - zero) for bound in type_.dtype.range)


def _lower_pair(graph: GraphEditor, quantize: Node) -> None:
    """DequantizeLinear directly before QuantizeLinear: a change of scale, or nothing at all."""
    source = _dequantized(graph, quantize.inputs[0])
    result = quantize.outputs[0]
    assert result is not None
    if source is None or stated(graph, quantize) != graph.type(result).quantization:
        return
    integer = source.inputs[0]
    assert integer is not None
    x, y = graph.type(integer), graph.type(result)
    if x.dtype not in _BYTES or y.dtype not in _BYTES:
        return
    if x.quantization is None or y.quantization is None:
        return
    if not x.quantization.per_tensor or not y.quantization.per_tensor:
        return
    empty: Mapping[str, object] = {}
    graph.fuse([quantize.id], "Identity", [integer], [result], empty, quantize.name, [source.id])
