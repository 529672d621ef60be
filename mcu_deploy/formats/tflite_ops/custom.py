"""Operators that TFLite does not define, and that are known all the same."""

from __future__ import annotations

import struct

import numpy as np

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.formats.tflite_ops.windows import add_transpose_conv

# What TFLite's TfLiteTransposeConvParams begins with: the padding, the strides of columns and rows.
_OPTIONS = struct.Struct("<3i")


def _transpose_conv_with_bias(operation: Operation, graph: GraphBuilder) -> None:
    """MediaPipe's (util/tflite/operations/transpose_conv_bias.cc). Inputs: x, weights, bias."""
    if len(operation.custom_options) < _OPTIONS.size:
        raise operation.damaged("its options are cut short")
    _, width, height = _OPTIONS.unpack_from(operation.custom_options)
    if min(width, height) < 1:
        raise operation.damaged(f"its strides are {[height, width]}")
    inputs = operation.input(0), operation.weights(1), operation.optional(2)
    add_transpose_conv(operation, graph, inputs, (height, width), (-np.inf, np.inf))


def _ethos_u(operation: Operation, graph: GraphBuilder) -> None:
    raise operation.unsupported(
        "is a program for an Ethos-U, which Vela made of the model",
        "Give the file that Vela was given.",
    )


CONVERTERS = {"custom operator Convolution2DTransposeBias": _transpose_conv_with_bias}
REFUSED = {"custom operator ethos-u": _ethos_u}
