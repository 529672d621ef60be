"""A quantized convolution as the kernels see it, and why one is none of theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array, activation_bounds, multiplier, tflite
from mcu_deploy.backends.ArmDsp.requantization import Channel, reach
from mcu_deploy.backends.interface import Layer
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.windows import Window

_BYTES = (DType.INT8, DType.UINT8)


@dataclass(frozen=True)
class Convolution:
    """weights: [filter, channel of the group, row, column]. bias: of sums of the input's elements
    as they are (1x1), or without their zero point (depthwise, where padding is then 0). factors:
    float32 of each filter. reach: the least and greatest sum of each. fixed: [filter, 2], TFLite's
    multipliers and shifts, which say what the factors do; None for ONNX.

    A filter whose output is the same for all inputs has weights of 0: networks that were trained
    to be sparse have many of these, with biases that no 24 bits hold.
    """

    weights: Array
    bias: Array
    factors: Array
    reach: tuple[Array, Array]
    x: TensorType
    y: TensorType
    window: Window
    is_depthwise: bool
    is_pixelwise: bool
    fixed: Array | None = None

    @property
    def pixels(self) -> int:
        """Of the output, all of the batch."""
        return self.y.shape[0] * math.prod(self.y.shape[2:])

    @property
    def zero_points(self) -> tuple[int, int]:
        """The input's and the output's."""
        assert self.x.quantization is not None
        assert self.y.quantization is not None
        return self.x.quantization.zero_point[0], self.y.quantization.zero_point[0]

    @property
    def extend(self) -> str:
        """The instruction that widens bytes 0 and 2 of the input."""
        return "sxtb16" if self.x.dtype is DType.INT8 else "uxtb16"

    @property
    def extend_and_add(self) -> str:
        return "sxtab16" if self.x.dtype is DType.INT8 else "uxtab16"

    @property
    def saturate(self) -> str:
        return "ssat" if self.y.dtype is DType.INT8 else "usat"

    def add_zero_point(self, register: str) -> str:
        zero = self.zero_points[1]
        return f"{'sub' if zero < 0 else 'add'} {register}, {register}, #{abs(zero)}"

    def channel(self, index: int) -> Channel:
        low, high = self.reach
        return Channel(
            self.factors[index], self.zero_points[1], self.y.dtype.range,
            (int(low[index]), int(high[index])), _fixed(self.fixed, index),
        )  # fmt: skip


def _fixed(pairs: Array | None, index: int) -> tuple[int, int] | None:
    return None if pairs is None else (int(pairs[index, 0]), int(pairs[index, 1]))


def read(layer: Layer) -> Convolution | str:
    """A layer as a convolution, or why it is none for this backend, a clause."""
    if layer.op != "Conv" or layer.domain not in ("", "tflite"):
        return "it computes no convolution but Conv"
    x, w, y = layer.input(0), layer.input(1), layer.output
    offset = layer.optional(2)
    if x.type.rank != 4:
        return f"it convolves over two spatial axes, not {x.type.rank - 2}"
    if w.constant is None or (offset is not None and offset.constant is None):
        return "the weights or the bias are computed at run time"
    xq, wq, yq = x.type.quantization, w.type.quantization, y.type.quantization
    if x.type.dtype not in _BYTES or y.type.dtype not in _BYTES or xq is None or yq is None:
        return f"it computes int8 and uint8, not {x.type.dtype.value} to {y.type.dtype.value}"
    if w.type.dtype is not DType.INT8 or wq is None or any(wq.zero_point):
        return "it takes weights of int8 with the zero point 0"
    clamp = tflite.activation_bounds if layer.domain else activation_bounds
    if clamp(layer.call.activation, y.type) != y.type.dtype.range:
        return "its clamp is the range of 8 bits, and the activation is narrower"
    window = conv_window(x.type, w.type, y.type, layer.attributes)
    filters, depth = w.type.shape[:2]
    group = int(layer.attributes.get("group", 1))
    is_depthwise = depth == 1 and group == filters == x.type.shape[1] and group > 1
    is_pixelwise = group == 1 and {*window.kernel, *window.strides} == {1} and not window.padded
    weights = w.constant.astype(np.int64)
    zeros = np.zeros(filters, np.int64)
    bias = zeros if offset is None else np.asarray(offset.constant).astype(np.int64)
    low, high = x.type.dtype.range
    if is_depthwise:
        low, high = low - xq.zero_point[0], high - xq.zero_point[0]
    else:
        bias = bias - xq.zero_point[0] * weights.sum(axis=(1, 2, 3))
    fixed = None
    if layer.domain:
        pairs = np.stack(tflite.convolution_multipliers(xq, wq, yq), 1)
        fixed = np.array(np.broadcast_to(pairs, (filters, 2)))
        if fixed[:, 1].max() > 0 or not fixed[:, 0].all():
            return "a factor of it is 0, or 1 or more"
        factors = np.ldexp(fixed[:, 0].astype(np.float64), fixed[:, 1] - 31).astype(np.float32)
    else:
        factors = np.array(np.broadcast_to(multiplier(xq, wq, yq), (filters,)))
    sums = reach(weights, bias, low, high)
    sums = without_constants(weights, bias, factors, sums, y.type, fixed)
    return Convolution(
        weights, bias, factors, sums, x.type, y.type, window, is_depthwise, is_pixelwise, fixed
    )


def without_constants(
    weights: Array,
    bias: Array,
    factors: Array,
    sums: tuple[Array, Array],
    y: TensorType,
    fixed: Array | None = None,
) -> tuple[Array, Array]:
    """Makes the filters constant whose output is, and gives the sums that are left to reach.

    They get the factor of another, so that a layer's range of factors is that of the rest.
    """
    zero = y.scaling.zero_point[0]

    def element(like: int, sum_: int) -> int:
        channel = Channel(factors[like], zero, y.dtype.range, (0, 0), _fixed(fixed, like))
        return int(channel.element(np.array(sum_)))

    ends = np.array([[element(n, int(s)) for n, s in enumerate(of)] for of in sums])
    constant = ends[0] == ends[1]
    most = int(np.where(constant & ~constant.all(), 0, factors).argmax())
    starts = np.rint((ends[0] - zero) / float(factors[most])).astype(np.int64)
    for n in np.flatnonzero(constant):
        constant[n] = element(most, int(starts[n])) == ends[0, n]
    weights[constant], bias[constant], factors[constant] = 0, starts[constant], factors[most]
    if fixed is not None:
        fixed[constant] = fixed[most]
    return tuple(np.where(constant, bias, sum_) for sum_ in sums)  # type: ignore[return-value]
