"""CONV_3D and CONV_3D_TRANSPOSE, float32 in TFLite: what slides a window along three axes."""

from __future__ import annotations

from typing import Any

import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_ops.activations import add_clamped, fused_activation, require_float
from mcu_deploy.formats.tflite_ops.windows import cropping, geometry

# The channels second, of tensors; and of weights, whose last two axes are ONNX's first two.
_NCDHW = (0, 4, 1, 2, 3)
_WEIGHTS = (4, 3, 0, 1, 2)

Triple = tuple[int, int, int]


def _options(operation: Operation, weights: TfliteTensor) -> tuple[Any, Triple, Triple, Triple]:
    """Options, strides, dilations, and how far the window reaches."""
    options = operation.options(tflite.Conv3DOptions)
    if weights.type.rank != 5:
        raise operation.damaged("its weights have not five axes")
    strides = (options.StrideD(), options.StrideH(), options.StrideW())
    dilations = (options.DilationDFactor(), options.DilationHFactor(), options.DilationWFactor())
    if min(*strides, *dilations) < 1:
        raise operation.damaged(f"its strides are {strides}, its dilations {dilations}")
    depth, rows, columns = (
        d * (k - 1) + 1 for d, k in zip(dilations, weights.type.shape[:3], strict=True)
    )
    return options, strides, dilations, (depth, rows, columns)


def _require_channels(operation: Operation, x: TfliteTensor, channels: int) -> None:
    if x.type.shape[4] != channels:
        raise operation.damaged(
            f"its weights have {channels} channels, its input {x.type.shape[4]}"
        )


def _conv_3d(operation: Operation, graph: GraphBuilder) -> None:
    """Inputs: x, weights (depth, rows, columns, C, M), bias."""
    x, weights, bias = operation.input(0), operation.input(1), operation.optional(2)
    require_float(operation, x, weights, operation.output)
    options, strides, dilations, extent = _options(operation, weights)
    attributes = {**geometry(operation, options.Padding(), strides, extent), "dilations": dilations}
    _require_channels(operation, x, weights.type.shape[3])
    inputs = [graph.read(x, _NCDHW), graph.read(weights, _WEIGHTS), graph.read_optional(bias)]
    bounds = fused_activation(operation, options.FusedActivationFunction())
    add_clamped(operation, graph, "Conv", inputs, attributes, bounds, _NCDHW)


def _conv_3d_transpose(operation: Operation, graph: GraphBuilder) -> None:
    """Inputs: the output's shape, weights (depth, rows, columns, M, C), x, bias."""
    weights, x, bias = operation.input(1), operation.input(2), operation.optional(3)
    require_float(operation, x, weights, operation.output)
    options, strides, dilations, extent = _options(operation, weights)
    attributes = {**cropping(operation, x, strides, extent), "dilations": dilations}
    _require_channels(operation, x, weights.type.shape[4])
    inputs = [graph.read(x, _NCDHW), graph.read(weights, _WEIGHTS), graph.read_optional(bias)]
    bounds = fused_activation(operation, options.FusedActivationFunction())
    add_clamped(operation, graph, "ConvTranspose", inputs, attributes, bounds, _NCDHW)


CONVERTERS = {"CONV_3D": _conv_3d, "CONV_3D_TRANSPOSE": _conv_3d_transpose}
