"""SVDF: a layer of filters over the last inputs, each a vector of weights times one of times.

It is made of what there is: a convolution of one position gives the features of this run; joined to
those of the runs before, which are a state, they are a window that a grouped convolution sums up,
`rank` filters a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import NCHW, GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import Bounds, add_clamp, fused_activation
from mcu_deploy.formats.tflite_ops.windows import check_bias
from mcu_deploy.ir import DType, EdgeId, Quantization, TensorType

_INPUT, _FEATURE_WEIGHTS, _TIME_WEIGHTS, _BIAS, _STATE = range(5)
_UNBOUNDED: Bounds = (-np.inf, np.inf)


def _svdf(operation: Operation, graph: GraphBuilder) -> None:
    options = operation.options(tflite.SVDFOptions)
    x, y, state = operation.input(_INPUT), operation.output, operation.input(_STATE)
    rank = int(options.Rank())
    _check_shapes(operation, rank)
    is_float = x.type.dtype is DType.FLOAT32
    features, times = operation.input(_FEATURE_WEIGHTS), operation.input(_TIME_WEIGHTS)
    feature_scale = time_scale = None
    if is_float:
        _require_float(operation)
    else:
        _check_integers(operation)
        # TFLite-Micro rounds both factors to float32: of the weights' scales are taken those that
        # give just these factors.
        feature_scale = _scale(x, features, state)
        time_scale = _scale(state, times, y)
    (filters, depth), memory = features.type.shape, times.type.shape[1]
    state_type = replace(state.type, shape=(1, memory, 1, filters))
    weights = operation.constant(_FEATURE_WEIGHTS).reshape(filters, depth, 1, 1)
    column = graph.reshaped(operation, graph.read(x), (1, depth, 1, 1))
    domain = "" if is_float else DOMAIN
    kernel = graph.constant(features.name, weights, feature_scale)
    new = _features(operation, graph, [column, kernel], domain)
    window = _window(operation, graph, new, state_type)
    seen = graph.edge(f"{operation.name} seen", replace(state_type, shape=(1, filters, memory, 1)))
    graph.add(operation, "Transpose", [window], seen, {"perm": NCHW})
    units = filters // rank
    weights = operation.constant(_TIME_WEIGHTS).reshape(units, rank, memory, 1)
    kernel = graph.constant(times.name, weights, time_scale)
    inputs = [seen, kernel, graph.read_optional(operation.optional(_BIAS))]
    total = graph.edge(f"{y.name} of all units", replace(y.type, shape=(1, units, 1, 1)))
    attributes = {"kernel_shape": (memory, 1), "group": units}
    graph.add(operation, "Conv", inputs, total, attributes, domain)
    # The integers' clamp is that of their type, as TFLite-Micro has it.
    bounds = fused_activation(operation, options.FusedActivationFunction())
    if is_float and bounds != _UNBOUNDED:
        add_clamp(operation, graph, graph.reshaped(operation, total, y.type.shape), bounds)
    else:
        graph.add_reshape(operation, total, y)


def _features(
    operation: Operation, graph: GraphBuilder, inputs: Sequence[EdgeId], domain: str
) -> EdgeId:
    """What the new input adds to the state, (1, filters, 1, 1).

    TFLite-Micro clamps integers before it adds the state's zero point, and what leaves 8 bits then
    wraps; so these are two steps.
    """
    state, filters = operation.input(_STATE).type, operation.input(_FEATURE_WEIGHTS).type.shape[0]
    type_ = replace(state, shape=(1, filters, 1, 1))
    point = 0 if state.quantization is None else state.scaling.zero_point[0]
    centred = type_ if not point else replace(
        type_, quantization=Quantization(state.scaling.scale, (0,))
    )  # fmt: skip
    found = graph.edge(f"{operation.name} features", centred)
    graph.add(operation, "Conv", inputs, found, {"kernel_shape": (1, 1)}, domain)
    if not point:
        return found
    stored = graph.edge(f"{operation.name} stored", type_)
    graph.add(operation, "AddZeroPoint", [found], stored, domain=domain)
    return stored


def _window(operation: Operation, graph: GraphBuilder, new: EdgeId, type_: TensorType) -> EdgeId:
    """The features of the last runs, oldest first, with the new ones behind: an edge of a type
    (1, memory, 1, filters). All but the oldest are the state's next value."""
    memory, filters = type_.shape[1], type_.shape[3]
    row = graph.edge(f"{operation.name} row", replace(type_, shape=(1, 1, 1, filters)))
    graph.add(operation, "Transpose", [new], row, {"perm": (0, 2, 3, 1)})
    if memory == 1:
        return row
    kept = replace(type_, shape=(1, memory - 1, 1, filters))
    variable = graph.variables.new(operation.input(_STATE).name)
    before = graph.read_state(variable, kept)
    window = graph.edge(f"{operation.name} window", type_)
    graph.add(operation, "Concat", [before, row], window, {"axis": 1})
    bounds = [
        graph.integers(f"{operation.name} {name}", [value])
        for name, value in (("starts", 1), ("ends", memory), ("axes", 1))
    ]
    variable.now = graph.edge(f"{operation.name} kept", kept)
    graph.add(operation, "Slice", [window, *bounds], variable.now)
    return window


def _scale(x: TfliteTensor, weights: TfliteTensor, y: TfliteTensor) -> Quantization:
    """The scale of the weights that makes a Conv's factor x * weights / y what TFLite-Micro's is:
    of float32, after each operation."""
    sx, sw, sy = (t.type.scaling.scale[0] for t in (x, weights, y))
    factor = np.float32(sx) * np.float32(sw) / np.float32(sy)
    return Quantization((float(factor) * sy / sx,), (0,))


def _check_shapes(operation: Operation, rank: int) -> None:
    x, y, state = operation.input(_INPUT), operation.output, operation.input(_STATE)
    features, times = operation.input(_FEATURE_WEIGHTS), operation.input(_TIME_WEIGHTS)
    shapes = [t.type.shape for t in (x, features, times, y)]
    if any(len(s) != 2 or min(s) < 1 for s in shapes) or rank < 1 or shapes[1][0] % rank:
        raise operation.damaged(f"it has the rank {rank} and operands of {shapes}")
    (batch, depth), (filters, width), (rows, memory), result = shapes
    if batch != 1:
        raise operation.unsupported(
            f"computes a batch of {batch}", "Convert the model for a batch of one."
        )
    fits = width == depth and rows == filters and result == (1, filters // rank)
    bias = operation.optional(_BIAS)
    if bias is not None:
        fits = fits and bias.type.shape == (filters // rank,)
    if not fits or state.type.elements != memory * filters:
        raise operation.damaged(
            f"its operands of {shapes}, its bias and its state of {list(state.type.shape)} do not "
            "fit together"
        )
    operation.state(_STATE)


def _require_float(operation: Operation) -> None:
    for tensor in (*operation.inputs, operation.output):
        if tensor is not None and tensor.type.dtype is not DType.FLOAT32:
            raise operation.unsupported(
                f"has float32 inputs and the tensor {tensor.name!r} of the type {tensor.type}",
                "Convert the model with int8 activations, or without quantization.",
            )
    operation.constant(_FEATURE_WEIGHTS)
    operation.constant(_TIME_WEIGHTS)


def _check_integers(operation: Operation) -> None:
    """int8, but for the state and the weights of times, which may both be int16."""
    state, times = operation.input(_STATE), operation.input(_TIME_WEIGHTS)
    narrow = (operation.input(_INPUT), operation.input(_FEATURE_WEIGHTS), operation.output)
    for tensor in (*narrow, state, times):
        known = (DType.INT8,) if tensor in narrow else (DType.INT8, DType.INT16)
        quantization = tensor.type.quantization
        if tensor.type.dtype not in known or quantization is None or not quantization.per_tensor:
            raise operation.unsupported(
                f"has the tensor {tensor.name!r} of the type {tensor.type}",
                "TFLite-Micro computes it on float32, and on int8 with a state of int8 or int16; "
                "convert the model so.",
            )
        around_zero = tensor in (narrow[1], times) or tensor.type.dtype is DType.INT16
        if around_zero and quantization.zero_point != (0,):
            raise operation.unsupported(
                f"has the tensor {tensor.name!r} with the zero point {quantization.zero_point[0]}",
                "Quantize weights and state around 0.",
            )
    if state.type.dtype is not times.type.dtype:
        raise operation.damaged("its state and its weights of times have different types")
    check_bias(operation, operation.optional(_BIAS))


CONVERTERS = {"SVDF": _svdf}
