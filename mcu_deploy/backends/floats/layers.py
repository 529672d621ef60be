"""Layers of float32 as the kernels see them, and why one is none of theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer, Operand
from mcu_deploy.backends.layer import kept
from mcu_deploy.backends.quantized.layers import of_rows
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.weight_only import BLOCK
from mcu_deploy.operators.windows import Window

BYTES = 4  # of an element


@dataclass(frozen=True, eq=False)
class Product:
    """Windows of an image, in channel-last order, times filters; y = clamp(bias + sum).

    weights: [filter, channel of its group, row, column], float32, or int8 where there are scales,
    float32 [filter]: then y = clamp(sum * scale + bias). bias: float32 [filter]; channels: of the
    image; clamp: the bounds of the activation. Fully connected layers are 1x1 convolutions of an
    image with one row, whose pixels are their rows, and so are convolutions that read each pixel by
    itself.
    """

    weights: Array
    bias: Array
    channels: int
    groups: int
    window: Window
    clamp: tuple[float, float]
    scales: Array | None = None

    @property
    def filters(self) -> int:
        return len(self.weights)

    @property
    def depth(self) -> int:
        """Channels that a filter reads."""
        return int(self.weights.shape[1])

    @property
    def is_depthwise(self) -> bool:
        return self.groups > 1 and self.depth == 1 and self.filters == self.channels

    @property
    def kind(self) -> str:
        """Of what is computed, for the names of functions."""
        return "f32" if self.scales is None else "f32_weights8"

    @property
    def title(self) -> str:
        return "float32" if self.scales is None else "float32 by int8"

    @property
    def macs(self) -> int:
        return math.prod(self.window.output) * self.weights.size


def types_refusal(*types: TensorType) -> str:
    """Why no kernel of floats takes tensors of such types, a clause; empty where one may."""
    for type_ in types:
        if type_.dtype is not DType.FLOAT32 or type_.is_quantized:
            return f"it computes float32, not {type_}"
    return ""


def is_of_floats(layer: Layer) -> bool:
    """Whether its output has float32 elements: what else kernels of floats say nothing of."""
    return layer.output.type.dtype is DType.FLOAT32 and layer.domain == ""


@kept
def read(layer: Layer) -> Product | str:
    """A Conv, Gemm or MatMul with constant weights; or why it is none for these kernels, a clause,
    which is empty where kernels of integers are meant."""
    has_bytes = layer.domain == "mcu"
    if not (has_bytes or is_of_floats(layer)):
        return ""
    x, w, y, bias = layer.input(0), layer.input(1), layer.output, layer.optional(2)
    if w.constant is None or (bias is not None and bias.constant is None):
        return "its weights or its bias are computed at run time"
    if reason := types_refusal(x.type, *[w.type] * (not has_bytes), y.type):
        return reason
    if has_bytes and (reason := _bytes_refusal(layer)):
        return reason
    if not x.type.elements * y.type.elements * w.type.elements:
        return "there is nothing to compute"
    return _convolution(layer) if layer.op == "Conv" else _dense(layer)


def _bytes_refusal(layer: Layer) -> str:
    """Why weights of the domain "mcu" are no int8 with a scale for each filter, a clause."""
    if BLOCK in layer.attributes:
        return "its weights have 4 bits"
    values = _without_zero(layer.input(1))
    if values.min(initial=0) < -128 or values.max(initial=0) > 127:
        return "its weights without their zero point have 9 bits"
    return ""


def _without_zero(weights: Operand) -> Array:
    """int16, of bytes with one zero point; float32 as they are."""
    if weights.type.quantization is None:
        return weights.value
    return weights.value.astype(np.int16) - np.int16(weights.type.scaling.zero_point[0])


def _convolution(layer: Layer) -> Product | str:
    x, w, y, bias = layer.input(0).type, layer.input(1), layer.output.type, layer.optional(2)
    if x.rank not in (3, 4):
        return f"it convolves over one or two spatial axes, not {x.rank - 2}"
    window = of_rows(conv_window(x, w.type, y, layer.attributes))
    groups = int(layer.attributes.get("group", 1))
    is_pixelwise = {*window.kernel, *window.strides} == {1} and not window.padded
    if is_pixelwise:
        window = row_of(x.shape[0] * math.prod(window.input))
    elif x.shape[0] > 1:
        return "it takes one image"
    filters = w.type.shape[0]
    offsets = np.zeros(filters) if bias is None else bias.constant
    weights = _without_zero(w).reshape(*w.type.shape[:2], *window.kernel)
    return _product(layer, weights, np.asarray(offsets), x.shape[1], groups, window)


def _dense(layer: Layer) -> Product | str:
    x, w, bias = layer.input(0).type, layer.input(1), layer.optional(2)
    if w.type.rank != 2 or x.rank < 2 or layer.attributes.get("transA", 0):
        return "it multiplies rows with one matrix"
    if layer.attributes.get("alpha", 1.0) != 1.0:
        return "it has an alpha"
    matrix = _without_zero(w) if layer.attributes.get("transB", 0) else _without_zero(w).T
    outputs, taps = matrix.shape
    offsets = np.zeros(1, np.float32)
    if bias is not None and bias.constant is not None:
        offsets = bias.constant.astype(np.float32) * np.float32(layer.attributes.get("beta", 1.0))
    if offsets.size not in (1, outputs):
        return "it takes a bias for each output, not one for each row too"
    offsets = np.broadcast_to(offsets.reshape(-1), (outputs,))
    window = row_of(math.prod(x.shape[:-1]))
    return _product(layer, matrix[:, :, None, None], offsets, taps, 1, window)


def row_of(pixels: int) -> Window:
    """Of pixels that are read one by one."""
    one = (1, 1)
    return Window(one, one, one, (0, 0), (0, 0), (1, pixels), (1, pixels))


def _product(
    layer: Layer, weights: Array, bias: Array, channels: int, groups: int, window: Window
) -> Product:
    scales = None
    if layer.domain == "mcu":
        scales = np.broadcast_to(layer.input(1).type.scaling.scales, len(weights))
    packed = np.ascontiguousarray(weights, np.float32 if scales is None else np.int8)
    return Product(
        packed, np.array(bias, np.float32), channels, groups, window,
        layer.call.activation, scales,
    )  # fmt: skip
