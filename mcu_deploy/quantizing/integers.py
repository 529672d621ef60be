"""A prepared model with ranges becomes one of int8: onnxruntime's quantizer writes it.

QDQ, int8 activations with a zero point, int8 weights without, a scale a channel; biases in int32.
Activations of int16 lie around 0, so that sums of them have the most room.
Recurrent layers, which have no integer form in ONNX, compute in float32 with int8 weights.
"""

from __future__ import annotations

import contextlib
import copy
import logging
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import onnx

from mcu_deploy.agreement.reference import onnxruntime_package
from mcu_deploy.errors import RequestError, one_line
from mcu_deploy.files.arrays import Array
from mcu_deploy.formats.onnx_subgraphs import put
from mcu_deploy.quantizing import chains
from mcu_deploy.quantizing.decomposing import has_integer_form
from mcu_deploy.quantizing.net import Net, attributes_of
from mcu_deploy.quantizing.ranges import Range
from mcu_deploy.quantizing.weights_only import recurrent_weights

# Layers whose weights are quantized, and that may be kept in float.
LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


def quantized(
    net: Net,
    ranges: Mapping[str, Range],
    moments: Mapping[str, Array],
    in_float: Collection[str] = (),
    one_scale: Collection[str] = (),
    wide: Collection[str] = (),
) -> onnx.ModelProto:
    """The model in QDQ form, its inputs and outputs float32.

    ranges: of the float tensors. moments: `second_moments`. in_float: names of nodes that stay in
    float32, those of recurrent ones with their weights. one_scale: of those whose weights have one
    scale for all outputs. wide: tensors of int16, of a net whose opset has them.
    """
    onnxruntime_package()
    from onnxruntime.quantization import QuantType
    from onnxruntime.quantization.calibrate import TensorData
    from onnxruntime.quantization.qdq_quantizer import QDQQuantizer
    from onnxruntime.quantization.quant_utils import add_infer_metadata

    folded, parts = chains.take_out(net)
    kinds = {n.op_type for n in folded.nodes if not n.domain and _is_quantizable(n.op_type)}
    limits = {
        name: TensorData(lowest=np.float32(low), highest=np.float32(high))
        for name, (low, high) in ranges.items()
    }
    options: dict[str, Any] = {"ForceQuantizeNoInputCheck": True}  # what moves an input is integer
    # What says no axis is said of the whole tensor.
    whole = [n for n in folded.nodes if n.name in one_scale or _shares_scales(folded, n)]
    weights = [n.input[1] for n in whole]
    overrides: dict[str, Any] = {name: [{"symmetric": True}] for name in weights}
    int16 = {"quant_type": QuantType.QInt16, "symmetric": True}
    overrides |= {name: [dict(int16)] for name in sorted(wide) if name in limits}
    if overrides:
        options["TensorQuantOverrides"] = overrides
    model = folded.model()
    model.ir_version = max(model.ir_version, 8)
    add_infer_metadata(model)  # shapes are inferred: without this it does that by way of files
    try:
        with silent():
            quantizer = QDQQuantizer(
                model, True, False, QuantType.QInt8, QuantType.QInt8, limits, [], list(in_float),
                [*sorted(kinds), "Chain"], options,
            )  # fmt: skip
            quantizer.quantize_model()
    except Exception as error:  # its own are ValueError, KeyError, AssertionError and more
        raise RequestError(
            f"onnxruntime's quantizer cannot quantize this model "
            f"({type(error).__name__}: {one_line(str(error), 200)}). Export it again without what "
            "that names, or quantize it in its own framework (docs/quantizing.md)."
        ) from error
    made: onnx.ModelProto = quantizer.model.model
    chains.put_back(made, parts, net.constants)
    _clamp_again(made, net, ranges, wide)
    _sort(made)
    del made.graph.value_info[:]  # of tensors that are gone
    return recurrent_weights(made, moments, in_float)


def _clamp_again(
    model: onnx.ModelProto, net: Net, ranges: Mapping[str, Range], wide: Collection[str]
) -> None:
    """Puts each Relu and Clip back that the quantizer took for the end of its output's range, where
    that goes on: a Concat gives all its inputs one range, and int16 lies around 0."""
    there = {node.name for node in model.graph.node}
    for node in net.nodes:
        if node.op_type not in ("Relu", "Clip") or node.name in there:
            continue
        low, high = (-np.inf, np.inf) if node.op_type == "Clip" else (0.0, np.inf)
        for index, name in enumerate(node.input[1:]):
            if name:
                end = float(net.constants[name].reshape(-1)[0])
                low, high = (end, high) if index == 0 else (low, end)
        y = node.output[0]
        if ranges[y][0] >= low and ranges[y][1] <= high and y not in wide:
            continue
        layer = next(n for n in model.graph.node if y in n.output)
        if layer.op_type == "DequantizeLinear":  # of an output: the layer is before the pair
            pair = next(n for n in model.graph.node if layer.input[0] in n.output)
            y = pair.input[0]
            layer = next(n for n in model.graph.node if y in n.output)
        inside = net.fresh(f"{y}.unclamped")
        layer.output[list(layer.output).index(y)] = inside
        kept = copy.deepcopy(node)
        kept.input[0] = inside
        kept.output[0] = y
        known = {t.name for t in model.graph.initializer}
        model.graph.initializer.extend(
            onnx.numpy_helper.from_array(net.constants[name], name)
            for name in node.input[1:]
            if name and name not in known
        )
        model.graph.node.append(kept)


def _sort(model: onnx.ModelProto) -> None:
    """Puts each node behind those whose tensors it reads, and these as late as that allows: the
    quantizer appends its own at the end."""
    producers = {name: node for node in model.graph.node for name in node.output}
    order: list[onnx.NodeProto] = []
    placed: set[str] = set()
    for last in model.graph.node:
        pending = [last]
        while pending:
            node = pending[-1]
            missing = [producers[n] for n in node.input if n in producers and n not in placed]
            if missing:
                pending.append(missing[0])
                continue
            pending.pop()
            if node.output[0] not in placed:
                order.append(node)
                placed |= set(node.output)
    put(model.graph.node, order)


def _shares_scales(net: Net, node: onnx.NodeProto) -> bool:
    """Whether a scale of a slice of the weights would be that of several outputs, or of an input:
    onnxruntime takes the second axis of a MatMul's, also of a stack of matrices."""
    if node.op_type == "MatMul":
        weights = net.constants.get(node.input[1])
        return weights is not None and weights.ndim > 2
    return node.op_type == "ConvTranspose" and attributes_of(node).get("group", 1) != 1


def _is_quantizable(op: str) -> bool:
    return has_integer_form(op) or chains.is_elementwise(op)


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Its warnings are of what the report says, and go through the root's logger."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
