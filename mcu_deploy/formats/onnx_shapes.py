"""Static shapes for an ONNX model: inference, constant folding."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mcu_deploy.errors import ModelError
from mcu_deploy.formats.onnx_branches import inline, take_shapes
from mcu_deploy.formats.onnx_early import type_outputs, type_scalars
from mcu_deploy.formats.onnx_forms import is_special, rewrite_one
from mcu_deploy.formats.onnx_functions import inline_functions
from mcu_deploy.formats.onnx_loops import complete_loops
from mcu_deploy.formats.onnx_operators import domain_of, draws_values, opset_of
from mcu_deploy.formats.onnx_reasons import reason
from mcu_deploy.formats.onnx_sequences import expand_sequences
from mcu_deploy.formats.onnx_slices import size_windows
from mcu_deploy.formats.onnx_subgraphs import put, static_shapes, subgraphs_below, subgraphs_of

# Folding must not turn a small model into a large one (ConstantOfShape, Expand, Tile).
_LARGEST_FOLDED_BYTES = 16 << 20
# Kept as nodes: a constant DequantizeLinear carries the quantization of a weight.
_QUANTIZATION = {"DequantizeLinear", "QuantizeLinear"}
# Decide no shapes, and in some forms are not what ONNX says where its evaluator computes them (onnx
# 1.23: LSTM without its activations and clip, LRN, Resize of integers, global pools of three axes,
# ReduceSumSquare of integers with other types, Softmax and its like of opset 11 along one axis).
_DOUBTFUL = {
    "AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DFT", "DeformConv", "GRU",
    "GlobalAveragePool", "GlobalMaxPool", "GridSample", "Hardmax", "InstanceNormalization",
    "LRN", "LSTM", "LayerNormalization", "LogSoftmax", "LpPool", "MaxPool", "MaxUnpool", "RNN",
    "ReduceSumSquare", "Resize", "RoiAlign", "Softmax", "Upsample",
}  # fmt: skip
_NEVER_FOLDED = _QUANTIZATION | _DOUBTFUL
# May make much of little: folded where the size of the result is known before.
_GROWS = {"ConstantOfShape", "Expand", "Tile", "Range", "OneHot", "EyeLike"}


def forget_shapes(graph: onnx.GraphProto) -> None:
    """Removes the shapes that inference or the exporter wrote for computed tensors."""
    for scope in (graph, *subgraphs_below(graph)):
        del scope.value_info[:]
        for output in scope.output:
            if output.type.HasField("tensor_type"):  # asked for, a sequence would become one
                output.type.tensor_type.ClearField("shape")


def _forget_symbols(graph: onnx.GraphProto) -> None:
    """Removes shapes with sizes that inference has made names for: it would keep them, where
    constants that were evaluated since say more.
    """
    for scope in (graph, *subgraphs_below(graph)):
        known = [v for v in scope.value_info if not _has_symbols(v)]
        if len(known) < len(scope.value_info):
            put(scope.value_info, known)
        for output in filter(_has_symbols, scope.output):
            output.type.tensor_type.ClearField("shape")


def _has_symbols(value: onnx.ValueInfoProto) -> bool:
    return any(d.dim_param.startswith("unk__") for d in value.type.tensor_type.shape.dim)


def forget_negative_sizes(graph: onnx.GraphProto) -> None:
    """Makes sizes below 0 unknown ones: some exporters mean that, and onnx's inference counts
    with the number, up to an assertion that ends the process.
    """
    for scope in (graph, *subgraphs_below(graph)):
        for value in (*scope.input, *scope.value_info, *scope.output):
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_value < 0:
                    dim.Clear()


def infer_and_fold(model: onnx.ModelProto, strict: bool = True) -> None:
    """Infers all shapes and evaluates what depends on constants and shapes alone, to a fixpoint.

    Raises ModelError for what contradicts itself; without `strict` the inference passes by it.
    """
    _check_splits(model.graph)
    # Before any inference, which looks into bodies without the defaults of their attributes.
    inline_functions(model)
    _rewrite_forms(model)
    if any(node.op_type == "If" or domain_of(node.domain) for node in model.graph.node):
        # A branch that is never taken may well be wrong; those that are known to be go first. And
        # behind an operator that has no inference, but a body, Concat and others contradict it.
        _to_fixpoint(model, strict=False)
    _to_fixpoint(model, strict)


def _rewrite_forms(model: onnx.ModelProto) -> None:
    """Before shapes are taken for granted: a file that declares what onnxruntime computes of such
    a node contradicts the inference.
    """
    scopes = (model.graph, *subgraphs_below(model.graph))
    opset = opset_of(model.opset_import)
    if not any(is_special(node, opset) for scope in scopes for node in scope.node):
        return
    while _rewrite_one(model, _inferred(model, strict=False)):
        pass
    try:
        _inferred(model, strict=True)
    except ModelError:
        forget_shapes(model.graph)  # declared by such an inference


def _rewrite_one(model: onnx.ModelProto, inferred: onnx.ModelProto) -> bool:
    """Rewrites a node of `model` by the shapes of `inferred`; whether there was one."""
    shapes, opset = _all_shapes(inferred.graph), opset_of(model.opset_import)
    scopes = (model.graph, *subgraphs_below(model.graph))
    return any(rewrite_one(scope, shapes, opset) for scope in scopes)


def _inferred(model: onnx.ModelProto, strict: bool) -> onnx.ModelProto:
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True, strict_mode=strict)
    except Exception as error:  # onnx raises several unrelated types here
        raise ModelError(
            f"The shapes of the model cannot be inferred: {reason(error)}. Export the model again."
        ) from error


def _to_fixpoint(model: onnx.ModelProto, strict: bool) -> None:
    opset = opset_of(model.opset_import)
    while True:
        _forget_symbols(model.graph)
        model.CopyFrom(_inferred(model, strict))
        if inline_functions(model):
            continue
        if _rewrite_one(model, model):
            forget_shapes(model.graph)
        elif not (
            _fold(model.graph, {}, {}, model)
            or expand_sequences(model.graph, opset)
            or type_outputs(model.graph)
            or type_scalars(model.graph)
            or complete_loops(model.graph, opset)
            or size_windows(model.graph)
            or expand_sequences(model.graph, opset, cuts=True)
        ):
            return


def _check_splits(graph: onnx.GraphProto) -> None:
    """ONNX's inference allocates as many results as the attribute says, be it billions."""
    for node in graph.node:
        for attribute in node.attribute:
            wrong = attribute.name == "num_outputs" and attribute.i != len(node.output)
            if node.op_type == "Split" and wrong:
                raise ModelError(
                    f"Split {node.name[:80]!r} has {len(node.output)} outputs, but its attribute "
                    f"says {attribute.i}. The model is damaged; export it again."
                )


def _fold(
    graph: onnx.GraphProto,
    outer_constants: Mapping[str, onnx.TensorProto],
    outer_shapes: Mapping[str, list[int]],
    model: onnx.ModelProto,
) -> bool:
    """Evaluates the constant nodes of a graph and of those inside of it, which get what they need
    of its constants; whether there was anything."""
    constants = {**outer_constants, **{t.name: t for t in graph.initializer}}
    shapes = {**outer_shapes, **static_shapes(graph)}
    kept: list[onnx.NodeProto] = []
    changed = folded = False
    for node in graph.node:
        inlined = inline(node, constants)
        if inlined is not None:
            kept.extend(inlined.node)
            graph.initializer.extend(inlined.initializer)
            graph.value_info.extend(inlined.value_info)
            changed = True
            continue
        for inner in subgraphs_of(node).values():
            folded = take_shapes(inner, constants) or folded
            folded = _fold(inner, constants, shapes, model) or folded
        values = _evaluate(node, constants, shapes, model)
        if values is None:
            kept.append(node)
            continue
        for name, value in zip(node.output, values, strict=True):
            tensor = numpy_helper.from_array(np.asarray(value), name)
            constants[name] = tensor
            graph.initializer.append(tensor)
        changed = True
    if changed:
        put(graph.node, kept)
    return changed or folded


def _all_shapes(graph: onnx.GraphProto) -> dict[str, list[int]]:
    """The shapes of a graph's tensors and of those inside of it; no two have one name."""
    found = static_shapes(graph)
    for scope in subgraphs_below(graph):
        found.update(static_shapes(scope))
    return found


def _is_short(node: onnx.NodeProto, constants: Mapping[str, onnx.TensorProto]) -> bool:
    """Whether a Range has no more elements than are folded: ONNX's inference counts them only
    where it knows what the bounds were made of."""
    bounds = (numpy_helper.to_array(constants[name]).reshape(-1)[0] for name in node.input)
    start, limit, delta = map(float, bounds)
    return delta != 0 and abs((limit - start) / delta) <= _LARGEST_FOLDED_BYTES // 8


def _evaluate(
    node: onnx.NodeProto,
    constants: Mapping[str, onnx.TensorProto],
    shapes: Mapping[str, list[int]],
    model: onnx.ModelProto,
) -> list[np.ndarray] | None:
    """The values of a node that depends on nothing but constants; None where it is not such."""
    if domain_of(node.domain) or node.op_type in _NEVER_FOLDED or draws_values(node):
        return None
    if node.op_type == "Shape" and node.input[0] in shapes:
        start = next((a.i for a in node.attribute if a.name == "start"), 0)
        end = next((a.i for a in node.attribute if a.name == "end"), None)
        return [np.array(shapes[node.input[0]][start:end], dtype=np.int64)]
    if node.op_type == "Size" and node.input[0] in shapes:
        return [np.array(np.prod(shapes[node.input[0]], dtype=np.int64), dtype=np.int64)]
    if any(i and i not in constants for i in node.input) or not all(node.output):
        return None
    if any(a.HasField("g") or a.graphs for a in node.attribute):
        return None
    if any(math.prod(shapes.get(o, [0])) > _LARGEST_FOLDED_BYTES for o in node.output):
        return None
    is_known = node.op_type not in _GROWS or all(o in shapes for o in node.output)
    if not is_known and not (node.op_type == "Range" and _is_short(node, constants)):
        return None
    small = helper.make_model(
        helper.make_graph(
            [node],
            "constant",
            [],
            [onnx.ValueInfoProto(name=o) for o in node.output],
            [constants[i] for i in dict.fromkeys(node.input) if i],
        ),
        opset_imports=model.opset_import,
        ir_version=min(model.ir_version or 8, 10),
    )
    from onnx.reference import ReferenceEvaluator  # slow to import, and few models need it

    try:
        values = ReferenceEvaluator(small).run(None, {})
    except Exception:  # an operator that the reference evaluator lacks stays in the graph
        return None
    if any(value is None or isinstance(value, list) for value in values):
        return None  # an optional, a sequence
    arrays = [np.asarray(v) for v in values]
    if sum(a.nbytes for a in arrays) > _LARGEST_FOLDED_BYTES:
        return None
    return arrays
