"""Lowers QDQ sandwiches: DequantizeLinear, operator, QuantizeLinear become one integer node
between quantized edges.

The sandwich stays as the node's body. What cannot be lowered (computed scales, int16 where a table
is needed, accumulators that could overflow) stays in float32, which is the ONNX meaning of it, only
slower.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from mcu_deploy import operators
from mcu_deploy.arithmetic import dequantize, largest_sums
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, Node, NodeId, Quantization, TensorType
from mcu_deploy.operators.normalization import MOST_NORMALIZED
from mcu_deploy.operators.weight_only import output_axis
from mcu_deploy.passes.quantization import BYTES, INTEGERS, converts, dequantizer, quantizer, stated

# Of the output, that a rounded bias may be away: with more an element moves by over one.
_MOST_BIAS_STEPS = 0.5


# Whose integer forms compute int16 too; the others look bytes up, or are not written for it.
OF_16_BITS = (
    "Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Sub", "Mul", "AveragePool",
    "GlobalAveragePool", "ReduceMean",
)  # fmt: skip
# Their integer forms have one or two spatial axes.
_WINDOWS = ("Conv", "ConvTranspose", "AveragePool", "GlobalAveragePool")


class InFloat(Exception):
    """Why an operator stays in float32, as a clause."""


def lower(graph: Graph) -> Graph:
    """The graph with every sandwich that has an integer form replaced by it."""
    editor = GraphEditor(graph)
    for source in graph.nodes:
        node = editor.nodes.get(source.id)
        if node is None:
            continue
        operator = operators.find(node.domain, node.op)
        if node.op == "QuantizeLinear" and not node.domain:
            _lower_pair(editor, node)
        elif operator is not None and operator.quantized is not None:
            if operator.real_parameters:
                _with_real_parameters(editor, node)
            with suppress(InFloat):
                _lower_one(editor, editor.nodes[node.id])
    return editor.finish()


def why_in_float(graph: GraphEditor, node: Node) -> str:
    """Why a node of real numbers is no integer node, as a clause."""
    operator = operators.find(node.domain, node.op)
    readers = [reader for edge in node.writes for reader in graph.consumers(edge)]
    if not any(converts(reader) for reader in readers):
        return "the model has it in float: there is no QuantizeLinear behind it"
    if operator is None or operator.quantized is None:
        return f"there is no integer form of {operators.label(node.domain, node.op)}"
    try:
        _lower_one(graph, node)
    except InFloat as reason:
        return str(reason)
    return "it is between quantized tensors"


def _with_real_parameters(graph: GraphEditor, node: Node) -> None:
    """Replaces dequantized constants behind the first input by their real values."""
    inputs = list(node.inputs)
    for index, edge in enumerate(inputs):
        source = dequantizer(graph, edge) if index else None
        value = None if source is None else graph.constant(source.inputs[0])
        if source is None or value is None or source.inputs[0] is None:
            continue
        real = dequantize(value, graph.type(source.inputs[0]))
        type_ = TensorType(DType.FLOAT32, real.shape)
        inputs[index] = graph.add_constant(graph.edge_name(source.inputs[0]), real, type_)
    graph.set_inputs(node.id, inputs)


def _integers(graph: GraphEditor, edge: EdgeId) -> Node | None:
    """The DequantizeLinear behind an input; None where that is a constant of real numbers."""
    source = dequantizer(graph, edge)
    if source is not None or graph.constant(edge) is not None:
        return source
    name, producer = graph.edge_name(edge)[:80], graph.producer(edge)
    if producer is None or not converts(producer):
        raise InFloat(
            f"the model has its input {name!r} in float: there is no DequantizeLinear before it"
        )
    raise InFloat(f"the scale of its input {name!r} is computed at run time, or stands for a block")


def _quantizer(graph: GraphEditor, node: Node) -> Node:
    """The QuantizeLinear behind a node."""
    if len(node.writes) != 1:
        raise InFloat("it writes several tensors")
    result = node.writes[0]
    reader = graph.sole_consumer(result)
    if reader is None or reader.op != "QuantizeLinear" or reader.domain:
        raise InFloat("its output is read in float too, beside the QuantizeLinear behind it")
    found = quantizer(graph, result)
    if found is None:
        type_, says = graph.type(reader.writes[0]), stated(graph, reader)
        if type_.dtype not in INTEGERS:
            raise InFloat(f"its output is quantized to {type_.dtype.value}, not to 8 bits or int16")
        kind = "computed at run time, or of blocks" if says is None else "one for each slice"
        raise InFloat(f"the scale of its output is {kind}")
    return found


def _lower_one(graph: GraphEditor, node: Node) -> None:
    """Replaces a sandwich. Raises InFloat, and changes nothing, where there is none."""
    quantize = _quantizer(graph, node)
    result = quantize.writes[0]
    inputs: list[EdgeId | None] = []
    shared: list[NodeId] = []
    integer_inputs = 0
    for index, edge in enumerate(node.inputs):
        source = None if edge is None else _integers(graph, edge)
        if source is None:
            inputs.append(edge)
            continue
        integer = source.reads[0]
        is_bias = index == 2 and node.op in ("Conv", "ConvTranspose", "Gemm")
        dtype = graph.type(integer).dtype
        if not is_bias and dtype not in INTEGERS:
            raise InFloat(f"its input {graph.edge_name(integer)[:80]!r} is {dtype.value}")
        integer_inputs += 0 if is_bias else 1
        inputs.append(integer)
        shared.append(source.id)
    if integer_inputs == 0:
        raise InFloat("none of its inputs is quantized")
    _require_bytes(graph, node, inputs, quantize.writes[0])
    if node.op in _WINDOWS and graph.type(node.reads[0]).rank not in (3, 4):
        raise InFloat("its window has not one or two axes")
    if operators.lookup(node.domain, node.op).has_weights:
        x, w, *others = (e for e in inputs if e is not None)
        _require_matrix(graph, node, x, w)
        bias = _bias(graph, x, w, others[0], result) if others else None
        if _worst_sum(graph, node, x, w, bias) >= 2**31:
            raise InFloat("its sums could leave 32 bits")
        inputs = [x, w] if bias is None else [x, w, _accumulated(graph, x, w, others[0], bias)]
    elif node.op == "LayerNormalization":
        _require_parameters(graph, node, inputs)
    elif any(q is not None and not q.per_tensor for q in _quantizations(graph, inputs)):
        raise InFloat("an input has a scale for each slice")
    attributes = dict(graph.attributes(node.id))
    members = [node.id, quantize.id]
    graph.fuse(members, node.op, inputs, [result], attributes, node.name, shared, node.domain)


def _require_bytes(
    graph: GraphEditor, node: Node, inputs: list[EdgeId | None], result: EdgeId
) -> None:
    """Raises InFloat for int16 where there are only bytes: in most operators, and as weights."""
    types = [graph.type(edge) for edge in (*inputs[:2], result) if edge is not None]
    if all(type_.dtype is not DType.INT16 for type_ in types):
        return
    moves = operators.lookup(node.domain, node.op).moves is not None
    if node.op not in OF_16_BITS and not moves:
        raise InFloat(f"{node.op} has no integer form of 16 bits")
    if operators.lookup(node.domain, node.op).has_weights:
        w = inputs[1]
        if w is not None and graph.constant(w) is not None and graph.type(w).dtype is DType.INT16:
            raise InFloat("its weights are int16, not of 8 bits")


def _require_parameters(graph: GraphEditor, norm: Node, inputs: list[EdgeId | None]) -> None:
    """Raises InFloat for a LayerNormalization of which the integer form is not written."""
    if any(edge is not None and graph.constant(edge) is None for edge in inputs[1:]):
        raise InFloat("its gain or bias is computed at run time")
    shape = graph.type(norm.reads[0]).shape
    axis = int(graph.attributes(norm.id).get("axis", -1)) % len(shape)
    if math.prod(shape[axis:]) > MOST_NORMALIZED:
        raise InFloat(f"it normalizes more than {MOST_NORMALIZED:,} elements together")


def _quantizations(graph: GraphEditor, edges: list[EdgeId | None]) -> list[Quantization | None]:
    return [graph.type(e).quantization for e in edges if e is not None and e in graph.types]


def _require_matrix(graph: GraphEditor, node: Node, x: EdgeId, w: EdgeId) -> None:
    """Raises InFloat where the factors are not quantized the way the integer form knows."""
    xq, wq = graph.type(x).quantization, graph.type(w).quantization
    attributes = graph.attributes(node.id)
    if xq is None or wq is None:
        raise InFloat("one of its factors is quantized, the other is float")
    if not xq.per_tensor:
        raise InFloat("its input has a scale for each slice")
    if attributes.get("alpha", 1.0) != 1.0 or attributes.get("beta", 1.0) != 1.0:
        raise InFloat("its alpha or beta is not 1")
    if attributes.get("transA", 0):
        raise InFloat("it transposes its first matrix")
    if len(set(wq.zero_point)) > 1:
        raise InFloat("its weights have different zero points per channel")
    axis = output_axis(node.op, attributes, graph.type(w).rank)
    if not wq.per_tensor and wq.axis != axis:
        raise InFloat("its weights have a scale for each slice of another axis than its outputs'")
    if node.op == "ConvTranspose" and not wq.per_tensor and attributes.get("group", 1) != 1:
        raise InFloat("its weights have a scale for each slice, which several groups share")
    if graph.constant(w) is None and not (node.op == "MatMul" and wq.per_tensor):
        raise InFloat("its weights are computed at run time")


def _bias(graph: GraphEditor, x: EdgeId, w: EdgeId, edge: EdgeId, result: EdgeId) -> np.ndarray:
    """The bias as integers at the accumulator's scale.

    Raises InFloat where it is no constant of one axis that int32 holds, and where the output is so
    fine that what the rounding takes from it shows there.
    """
    refusal = InFloat("its bias is no constant of one axis that int32 holds")
    value = graph.constant(edge)
    if value is None or value.ndim != 1:
        raise refusal
    scale = _products(graph, x, w, np.float64)
    type_ = graph.type(edge)
    real = value.astype(np.float64)
    if type_.dtype is not DType.FLOAT32:
        own = type_.quantization
        if own is None or any(own.zero_point):
            raise refusal
        # Converters store float32(sx * sw): the integers are then the accumulator's own.
        if np.allclose(own.scales, scale, rtol=1e-5, atol=0):
            return value.astype(np.int64)
        real = real * own.scales.astype(np.float64)
    rounded = np.rint(real / scale)
    if not np.all(np.abs(rounded) < 2**31):
        raise refusal
    steps = np.abs(real - rounded * scale) / graph.type(result).scaling.scales.astype(np.float64)
    if steps.size and steps.max() > _MOST_BIAS_STEPS:
        raise InFloat(
            "its bias is no multiple of x_scale * w_scale, and rounded to one it would be "
            f"{steps.max():.3g} steps of the output away"
        )
    return np.asarray(rounded.astype(np.int64))


def _products(graph: GraphEditor, x: EdgeId, w: EdgeId, dtype: type[np.floating]) -> np.ndarray:
    """The scales of the accumulator."""
    scales = (graph.type(edge).scaling.scales.astype(dtype) for edge in (x, w))
    return np.multiply(*scales)


def _accumulated(
    graph: GraphEditor, x: EdgeId, w: EdgeId, edge: EdgeId, value: np.ndarray
) -> EdgeId:
    """The bias in int32, in place of that of an edge."""
    scale = _products(graph, x, w, np.float32)
    quantization = Quantization.from_arrays(scale, [0] * scale.size, 0)
    type_ = TensorType(DType.INT32, value.shape, quantization)
    return graph.add_constant(graph.edge_name(edge), value.astype(np.int32), type_)


def _worst_sum(
    graph: GraphEditor, node: Node, x: EdgeId, w: EdgeId, bias: np.ndarray | None
) -> int:
    """The largest magnitude that an accumulator can reach, over all inputs and channels."""
    x_type, w_type = graph.type(x), graph.type(w)
    weights, largest = graph.constant(w), _largest(x_type)
    if weights is None:
        return x_type.shape[-1] * largest * _largest(w_type)
    _, w_zero = w_type.scaling.broadcast(w_type.rank)
    channel = output_axis(node.op, graph.attributes(node.id), w_type.rank)
    return int(
        largest_sums(weights - w_zero.astype(np.int64), channel, largest, bias).max(initial=0)
    )


def _largest(type_: TensorType) -> int:
    """The largest magnitude of an element of a tensor quantized per tensor, zero point removed."""
    zero = type_.scaling.zero_point[0]
    return max(abs(bound - zero) for bound in type_.dtype.range)


def _lower_pair(graph: GraphEditor, quantize: Node) -> None:
    """DequantizeLinear directly before QuantizeLinear: a change of scale, or nothing at all."""
    source = dequantizer(graph, quantize.inputs[0])
    (result,) = quantize.writes
    if source is None or stated(graph, quantize) != graph.type(result).quantization:
        return
    integer = source.input(0)
    x, y = graph.type(integer), graph.type(result)
    if x.quantization is None or y.quantization is None:
        return
    is_same = (x.dtype, x.quantization) == (y.dtype, y.quantization)
    known = INTEGERS if is_same else BYTES
    if x.dtype not in known or y.dtype not in known:
        return
    if not x.quantization.per_tensor or not y.quantization.per_tensor:
        return
    graph.fuse([quantize.id], "Identity", [integer], [result], {}, quantize.name, [source.id])
