"""CONV_2D, DEPTHWISE_CONV_2D, AVERAGE_POOL_2D and MAX_POOL_2D: what slides a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import NCHW, GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import (
    Bounds,
    add_clamped,
    clamp_attribute,
    fused_activation,
    is_float,
    require_float,
)
from mcu_deploy.ir import DType, EdgeId

_OIHW = (0, 3, 1, 2)
# A window that is larger than this and twice its input reads nothing but padding in most taps; a
# damaged file may ask for 2**31 of them.
_LARGEST_WINDOW = 256
_NOT_MIXED = "Convert the model with int8 activations, or without quantization."
# Depthwise weights are (1, kH, kW, channels * multiplier); ONNX has one filter an output channel.
_DEPTHWISE = (3, 0, 1, 2)


def geometry(
    operation: Operation, padding: int, strides: tuple[int, ...], extent: tuple[int, ...]
) -> dict[str, Any]:
    """Strides and explicit pads; extent: the kernel with its dilation, along each spatial axis.

    SAME pads so that an output position stands for each stride, the odd one at the end.
    """
    x = operation.input(0)
    if x.type.rank != 2 + len(strides):
        raise operation.damaged(f"its input has not {2 + len(strides)} axes")
    if min(strides) < 1 or min(extent) < 1:
        raise operation.damaged(f"its strides are {list(strides)}, its window {list(extent)}")
    begins, ends = [], []
    for size, stride, reach in zip(x.type.shape[1:-1], strides, extent, strict=True):
        if reach > max(2 * size, _LARGEST_WINDOW):
            raise operation.damaged(f"its window of {reach} slides over {size} positions")
        total = 0
        if padding == tflite.Padding.SAME:
            total = max(0, (-(-size // stride) - 1) * stride + reach - size)
        elif padding != tflite.Padding.VALID:
            raise operation.damaged(f"its padding is number {padding}")
        begins.append(total // 2)
        ends.append(total - total // 2)
    return {"strides": strides, "pads": (*begins, *ends)}


def _conv_2d(operation: Operation, graph: GraphBuilder) -> None:
    options = operation.options(tflite.Conv2DOptions)
    weights = operation.input(1)
    depth = weights.type.shape[-1] if weights.type.rank == 4 else 0
    channels = operation.image(0).type.shape[-1]
    if depth < 1 or channels % depth:
        raise operation.damaged(f"its weights have {depth} channels, its input {channels}")
    _convolution(operation, graph, options, _OIHW, channels // depth)


def _depthwise_conv_2d(operation: Operation, graph: GraphBuilder) -> None:
    # The option depth_multiplier is redundant; TFLite-Micro goes by the shapes.
    options = operation.options(tflite.DepthwiseConv2DOptions)
    _convolution(operation, graph, options, _DEPTHWISE, operation.image(0).type.shape[-1])


def _convolution(
    operation: Operation, graph: GraphBuilder, options: Any, order: tuple[int, ...], group: int
) -> None:
    weights, bias, y = operation.weights(1), operation.optional(2), operation.output
    if weights.type.rank != 4:
        raise operation.damaged("its weights have not four axes")
    kernel = weights.type.shape[1:3]
    dilations = (int(options.DilationHFactor()), int(options.DilationWFactor()))
    if min(dilations) < 1:
        raise operation.damaged(f"its dilations are {list(dilations)}")
    extent = tuple(d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True))
    strides = (int(options.StrideH()), int(options.StrideW()))
    attributes = {
        **geometry(operation, options.Padding(), strides, (extent[0], extent[1])),
        "dilations": dilations,
        "kernel_shape": kernel,
        "group": group,
    }
    bounds = fused_activation(operation, options.FusedActivationFunction())
    x = graph.read(operation.input(0), NCHW)
    inputs = [x, graph.read(weights, order), graph.read_optional(bias)]
    if weights.type.is_quantized and operation.input(0).type.dtype is DType.FLOAT32:
        # Weights with one scale alone leave the activations without a zero point.
        is_plain = operation.kind == "CONV_2D" and weights.type.scaling.per_tensor
        attributes |= {"asymmetric": int(not is_plain)} | clamp_attribute(bounds)
        add_hybrid(operation, graph, inputs, y, attributes)
        return
    if is_float(operation, operation.input(0), weights, y, wide=True):
        add_clamped(operation, graph, "Conv", inputs, attributes, bounds, NCHW)
        return
    narrow = operation.kind == "CONV_2D" and options.QuantizedBiasType() == tflite.TensorType.INT32
    inputs[2] = read_bias(operation, graph, bias, narrow)
    attributes |= clamp_attribute(bounds)
    graph.add(operation, "Conv", inputs, y, attributes, DOMAIN, NCHW)


def add_hybrid(
    operation: Operation,
    graph: GraphBuilder,
    inputs: Sequence[EdgeId | None],
    y: TfliteTensor | EdgeId,
    attributes: dict[str, Any],
) -> None:
    """A node of float32 activations and int8 weights, as LiteRT computes it: the activations are
    quantized at run time."""
    weights = operation.input(1).type
    if weights.dtype is not DType.INT8 or any(weights.scaling.zero_point):
        raise operation.unsupported(
            f"has float32 activations and weights of {weights}, not of int8 with the zero point 0",
            _NOT_MIXED,
        )
    graph.add(operation, "HybridConv", inputs, y, attributes, DOMAIN, NCHW)


# What TFLite-Micro's kernels for int16 assume of their sums of 64 bits.
_LARGEST_BIAS = 1 << 46


def read_bias(
    operation: Operation, graph: GraphBuilder, bias: TfliteTensor | None, narrow: bool = False
) -> EdgeId | None:
    """The bias of a quantized operator: int32, and of one with int16 activations the type that its
    sums have, int64 or int32. One that is absent stands there as zeros of int64; narrow: where it
    would be int32, it need not."""
    if operation.output.type.dtype is not DType.INT16:
        check_bias(operation, bias)
        return graph.read_optional(bias)
    filters = operation.input(1).type.shape[0 if operation.kind != "DEPTHWISE_CONV_2D" else 3]
    if bias is None:
        zeros = np.zeros(filters, np.int64)
        return None if narrow else graph.constant(f"{operation.name} bias", zeros)
    known = {DType.INT64}
    if operation.kind in ("CONV_2D", "FULLY_CONNECTED"):
        known.add(DType.INT32)
    if (
        operation.kind == "TRANSPOSE_CONV"
        and bias.type.dtype in (DType.INT16, DType.INT32)
        and bias.value is not None
    ):
        # TFLite-Micro widens int16, and LiteRT int32.
        return graph.integers(f"{bias.name} as int64", bias.value)
    if bias.value is None or bias.type.dtype not in known:
        raise operation.unsupported(
            f"has the bias {bias.name!r} of the type {bias.type}, which is no constant of int64",
            "Convert the model with int16 activations and int8 weights.",
        )
    if bias.value.size and int(np.abs(bias.value.astype(np.float64)).max()) >= _LARGEST_BIAS:
        raise operation.damaged("its bias is beyond 46 bits")
    return graph.read(bias)


def check_bias(operation: Operation, bias: TfliteTensor | None) -> None:
    """The bias of a quantized operator is int32 and a constant."""
    if bias is None:
        return
    if bias.type.dtype.value != "int32" or bias.value is None:
        raise operation.unsupported(
            f"has the bias {bias.name!r} of the type {bias.type}, which is no constant of int32",
            "Convert the model with int8 activations.",
        )


def _pool_options(operation: Operation) -> tuple[dict[str, Any], Bounds]:
    """The window of a pool as attributes, and the activation behind it."""
    options = operation.options(tflite.Pool2DOptions)
    kernel = (int(options.FilterHeight()), int(options.FilterWidth()))
    strides = (int(options.StrideH()), int(options.StrideW()))
    attributes = geometry(operation, options.Padding(), strides, kernel)
    bounds = fused_activation(operation, options.FusedActivationFunction())
    return attributes | {"kernel_shape": kernel}, bounds


def _pool(op: str) -> Any:
    def convert(operation: Operation, graph: GraphBuilder) -> None:
        attributes, bounds = _pool_options(operation)
        x, y = operation.input(0), operation.output
        inputs = [graph.read(x, NCHW)]
        if is_float(operation, x, y, wide=True):
            add_clamped(operation, graph, op, inputs, attributes, bounds, NCHW)
            return
        operation.require_alike(x, y)
        clamp = clamp_attribute(bounds)
        # A maximum of bytes without a clamp is ONNX's.
        is_plain = op == "MaxPool" and not clamp and x.type.dtype.bytes == 1
        domain = "" if is_plain else DOMAIN
        graph.add(operation, op, inputs, y, attributes | clamp, domain, NCHW)

    return convert


def _l2_pool(operation: Operation, graph: GraphBuilder) -> None:
    """The root of the mean of the squares."""
    x, y = operation.input(0), operation.output
    require_float(operation, x, y)
    attributes, bounds = _pool_options(operation)
    edge = graph.read(x, NCHW)
    squares = graph.edge(f"{y.name} squares", graph.ordered(x, NCHW))
    mean = graph.edge(f"{y.name} mean", graph.ordered(y, NCHW))
    graph.add(operation, "Mul", [edge, edge], squares)
    graph.add(operation, "AveragePool", [squares], mean, attributes)
    add_clamped(operation, graph, "Sqrt", [mean], {}, bounds, NCHW)


def _transpose_conv(operation: Operation, graph: GraphBuilder) -> None:
    """Inputs: the output's shape, weights (M, rows, columns, C), x."""
    options = operation.options(tflite.TransposeConvOptions)
    x, weights, bias = operation.input(2), operation.weights(1), operation.optional(3)
    strides = (int(options.StrideH()), int(options.StrideW()))
    bounds = fused_activation(operation, options.FusedActivationFunction())
    add_transpose_conv(operation, graph, (x, weights, bias), strides, bounds)


def cropping(
    operation: Operation, x: TfliteTensor, strides: tuple[int, ...], extent: tuple[int, ...]
) -> dict[str, Any]:
    """Strides, and what is cropped to get the shape of the output, the smaller half of it at the
    beginning; extent: as of `geometry`."""
    y, axes = operation.output, 2 + len(strides)
    if x.type.rank != axes or y.type.rank != axes:
        raise operation.damaged(f"its input or output have not {axes} axes")
    sizes = zip(x.type.shape[1:-1], y.type.shape[1:-1], strides, extent, strict=True)
    total = [(size - 1) * stride + reach - wanted for size, wanted, stride, reach in sizes]
    begin = [max(0, crop) // 2 for crop in total]
    return {
        "strides": strides,
        "pads": (*begin, *(max(0, crop) - b for crop, b in zip(total, begin, strict=True))),
        "output_padding": tuple(max(0, -crop) for crop in total),
    }


def add_transpose_conv(
    operation: Operation,
    graph: GraphBuilder,
    inputs: tuple[TfliteTensor, TfliteTensor, TfliteTensor | None],
    strides: tuple[int, int],
    bounds: Bounds,
) -> None:
    """A ConvTranspose to the output's shape. inputs: x, weights (M, rows, columns, C), bias."""
    (x, weights, bias), y = inputs, operation.output
    if weights.type.rank != 4:
        raise operation.damaged("its weights have not four axes")
    if weights.type.is_quantized and x.type.dtype is DType.FLOAT32:
        raise operation.unsupported("has float32 activations and quantized weights", _NOT_MIXED)
    attributes = cropping(operation, x, strides, weights.type.shape[1:3])
    given: list[EdgeId | None] = [graph.read(x, NCHW), graph.read(weights, (3, 0, 1, 2))]
    if not is_float(operation, x, weights, y, wide=True):
        given.append(read_bias(operation, graph, bias))
        attributes |= clamp_attribute(bounds)
        graph.add(operation, "ConvTranspose", given, y, attributes, DOMAIN, NCHW)
        return
    given.append(graph.read_optional(bias))
    add_clamped(operation, graph, "ConvTranspose", given, attributes, bounds, NCHW)


CONVERTERS = {
    "CONV_2D": _conv_2d,
    "DEPTHWISE_CONV_2D": _depthwise_conv_2d,
    "AVERAGE_POOL_2D": _pool("AveragePool"),
    "MAX_POOL_2D": _pool("MaxPool"),
    "L2_POOL_2D": _l2_pool,
    "TRANSPOSE_CONV": _transpose_conv,
}
