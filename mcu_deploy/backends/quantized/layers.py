"""Quantized layers with constant weights as the kernels see them, and why one is none of theirs."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array, activation_bounds, multiplier, tflite
from mcu_deploy.backends.interface import Layer, Operand, Target
from mcu_deploy.backends.layer import HOST, kept
from mcu_deploy.backends.quantized import requantization
from mcu_deploy.backends.quantized.loops import loop_bytes, waits_for_weights
from mcu_deploy.backends.quantized.requantization import reach
from mcu_deploy.backends.quantized.staircases import Channel, elements
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.windows import Window

BYTES = (DType.INT8, DType.UINT8)
# Below this a scaled sum and a zero point are a halfword.
_HALFWORD = 32_000


def saturate(y: TensorType) -> str:
    """The instruction that brings a word into the range of an output."""
    return "ssat" if y.dtype is DType.INT8 else "usat"


@dataclass(frozen=True, eq=False)
class Linear:
    """weights: of each filter, which is an output of a fully connected layer, and of each of its
    taps, without their zero point. bias: of sums of the input's elements as they are, or without
    theirs (depthwise). factors: float32 of each filter. reach: the least and greatest sum of each.
    fixed: [filter, 2], TFLite's multipliers and shifts, which say what the factors do; None for
    ONNX.
    target: what its kernels run on.

    A filter whose output is the same for all inputs has weights of 0: networks that were trained
    to be sparse have many of these, with biases that no 24 bits hold.
    """

    weights: Array
    bias: Array
    factors: Array
    reach: tuple[Array, Array]
    x: TensorType
    y: TensorType
    fixed: Array | None
    target: Target = field(default=HOST, kw_only=True)

    @functools.cached_property
    def known(self) -> dict[object, Any]:
        """What was found out of it, kept for those who ask again."""
        return {}

    @property
    def loop_bytes(self) -> int | None:
        """How long a kernel's hot loop may be, as loops.py has it."""
        return loop_bytes(self.target)

    @property
    def is_waited_for(self) -> bool:
        """Whether reading weights once for several tiles is worth code and scratch."""
        return waits_for_weights(self.target)

    @property
    def is_uniform(self) -> bool:
        """Whether all filters have one factor."""
        of = self.factors if self.fixed is None else self.fixed
        return bool((of == of[:1]).all())

    @property
    def leaves_halfwords(self) -> bool:
        """Whether a scaled sum may be no halfword."""
        low, high = self.reach
        most = np.maximum(np.abs(low), np.abs(high)) * self.factors.astype(np.float64)
        return bool(most.max() >= _HALFWORD)

    @property
    def zero_points(self) -> tuple[int, int]:
        """The input's and the output's."""
        return self.x.scaling.zero_point[0], self.y.scaling.zero_point[0]

    @property
    def extend(self) -> str:
        """The instruction that widens bytes 0 and 2 of the input."""
        return "sxtb16" if self.x.dtype is DType.INT8 else "uxtb16"

    @property
    def extend_and_add(self) -> str:
        return "sxtab16" if self.x.dtype is DType.INT8 else "uxtab16"

    @property
    def saturate(self) -> str:
        return saturate(self.y)

    def channel(self, first: int, count: int = 1) -> Channel:
        """Filters of one factor, and all that their sums reach."""
        low, high = (ends[first : first + count] for ends in self.reach)
        fixed = None if self.fixed is None else tuple(map(int, self.fixed[first]))
        return Channel(
            self.factors[first], self.zero_points[1], self.y.dtype.range,
            (int(low.min()), int(high.max())), fixed,  # type: ignore[arg-type]
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Convolution(Linear):
    """weights: [filter, channel, row, column], of a depthwise one [filter, 1, row, column], whose
    padding is 0; of the channels of its group, where there are some: that is 1 of a depthwise one.
    One of one spatial axis is that of an image of one row here."""

    window: Window
    is_depthwise: bool
    is_pixelwise: bool
    groups: int

    @property
    def pixels(self) -> int:
        """Of the output, all of the batch."""
        return self.y.shape[0] * math.prod(self.y.shape[2:])

    @property
    def form(self) -> Hashable:
        """All of it but its weights, biases and scales."""
        return (
            self.x.dtype, self.x.shape, self.y.dtype, self.y.shape, self.zero_points,
            self.weights.shape, self.window, self.is_depthwise, self.is_pixelwise, self.groups,
            self.fixed is None, self.target,
        )  # fmt: skip


@kept
def read(layer: Layer) -> Convolution | str:
    """A layer as a convolution, or why it is none for this backend, a clause."""
    if layer.op != "Conv" or layer.domain not in ("", "tflite"):
        return "it computes no convolution but Conv"
    x, w, y = layer.input(0), layer.input(1), layer.output
    if x.type.rank not in (3, 4):
        return f"it convolves over one or two spatial axes, not {x.type.rank - 2}"
    if reason := refusal(layer):
        return reason
    assert w.constant is not None
    window = of_rows(conv_window(x.type, w.type, y.type, layer.attributes))
    depth = w.type.shape[1]
    group = int(layer.attributes.get("group", 1))
    is_depthwise = depth == 1 and group == x.type.shape[1] and group > 1
    is_small = {*window.kernel, *window.strides} == {1} and not window.padded
    is_pixelwise = is_small and not is_depthwise
    weights = centred(w).reshape(*w.type.shape[:2], *window.kernel)
    found = linear(layer, weights, is_centred=is_depthwise)
    if isinstance(found, str):
        return found
    x_type, y_type = (
        replace(type_, shape=(*type_.shape[:2], *size))
        for type_, size in ((x.type, window.input), (y.type, window.output))
    )
    return Convolution(
        **{**vars(found), "x": x_type, "y": y_type},
        window=window, is_depthwise=is_depthwise, is_pixelwise=is_pixelwise,
        groups=1 if is_depthwise else group,
    )  # fmt: skip


def of_rows(window: Window) -> Window:
    """Of one spatial axis: an image of one row."""
    if len(window.kernel) == 2:
        return window
    along = (window.kernel, window.strides, window.dilations, window.input, window.output)
    kernel, strides, dilations, input_, output = ((1, *pair) for pair in along)
    return Window(kernel, strides, dilations, (0, *window.begin), (0, *window.end), input_, output)


def refusal(layer: Layer) -> str:
    """Why no kernel takes a layer with such weights, types and activation, a clause; empty where
    one may."""
    x, w, y, bias = layer.input(0), layer.input(1), layer.output, layer.optional(2)
    if w.constant is None or (bias is not None and bias.constant is None):
        return "its weights or its bias are computed at run time"
    if reason := types_refusal(x.type, y.type):
        return reason
    if w.type.dtype not in BYTES or w.type.quantization is None:
        return f"it takes weights of int8 and uint8 that have a scale, not {w.type}"
    return clamp_refusal(layer)


def image_refusal(layer: Convolution) -> str:
    """Why no kernel takes the image of a convolution, a clause; empty where one may."""
    if layer.x.shape[0] != 1:
        return f"it convolves one image, and the batch has {layer.x.shape[0]}"
    if min(*layer.window.begin, *layer.window.end) < 0:
        return "its padding is negative"
    return ""


def centred(weights: Operand) -> Array:
    """Constant weights without their zero points, int64."""
    assert weights.constant is not None
    _, zeros = weights.type.scaling.broadcast(weights.type.rank)
    return weights.constant.astype(np.int64) - zeros


def bytes_refusal(layer: Linear) -> str:
    """Why no kernel takes a layer whose words have a byte for each weight, a clause; empty where
    one may. Those of uint8 need a bit more, unless their zero point is about the middle."""
    low, high = DType.INT8.range
    if layer.weights.min(initial=0) < low or layer.weights.max(initial=0) > high:
        return "its weights, without their zero point, are no int8"
    return ""


def types_refusal(*types: TensorType) -> str:
    """Why no kernel takes tensors of such types, a clause; empty where one may."""
    for type_ in types:
        if type_.dtype not in BYTES or type_.quantization is None:
            bare = " without one" if type_.dtype in BYTES else ""
            return f"it computes int8 and uint8 that have a scale, not {type_}{bare}"
    return ""


def clamp_refusal(layer: Layer) -> str:
    """Why no kernel takes a layer's activation, a clause; empty where one may. clamp.py opens the
    layers that it clamps itself before a kernel sees them."""
    if clamp(layer) != layer.output.type.dtype.range:
        return "it clamps to the range of 8 bits, and the activation is narrower"
    return ""


def clamp(layer: Layer) -> tuple[int, int]:
    """The bounds that a layer's activation has on its quantized output."""
    bounds = tflite.activation_bounds if layer.domain else activation_bounds
    return bounds(layer.call.activation, layer.output.type)


def linear(layer: Layer, weights: Array, is_centred: bool = False) -> Linear | str:
    """A layer that `refusal` lets pass, by its weights [filter, ...]; or why it is none for this
    backend, a clause. is_centred: the sums are of elements without their zero point."""
    x, w, y, offset = layer.input(0).type, layer.input(1).type, layer.output.type, layer.optional(2)
    filters, zero = len(weights), x.scaling.zero_point[0]
    given = np.zeros(1, np.int64) if offset is None else np.asarray(offset.constant, np.int64)
    if given.size not in (1, filters):
        return "it takes a bias for each output, not one for each row too"
    bias = np.array(np.broadcast_to(given.reshape(-1), (filters,)))
    low, high = x.dtype.range
    if is_centred:
        low, high = low - zero, high - zero
    else:
        bias -= zero * weights.reshape(filters, -1).sum(axis=1)
    scalings, fixed = (x.scaling, w.scaling, y.scaling), None
    if layer.domain:
        is_dense = layer.op == "FullyConnected"
        of = tflite.fully_connected_multipliers if is_dense else tflite.convolution_multipliers
        fixed = np.array(np.broadcast_to(np.stack(of(*scalings), 1), (filters, 2)))
        factors = np.ldexp(fixed[:, 0].astype(np.float64), fixed[:, 1] - 31).astype(np.float32)
    else:
        factors = np.array(np.broadcast_to(multiplier(*scalings), (filters,)))
    # What rounds twice at run time shifts at least by one, but for the depthwise kernels.
    if layer.domain and factors.max() >= (1 if is_centred else 0.5):
        return "a factor of it is too large"
    sums = reach(weights, bias, low, high)
    sums = _without_constants(weights, bias, factors, sums, y, fixed)
    if reason := requantization.refusal(factors):
        return reason
    if layer.domain and max(-sums[0].min(), sums[1].max()) >= 2**30:
        return "a sum of its weights could leave 31 bits"
    return Linear(weights, bias, factors, sums, x, y, fixed, target=layer.target)


def _without_constants(
    weights: Array,
    bias: Array,
    factors: Array,
    sums: tuple[Array, Array],
    y: TensorType,
    fixed: Array | None,
) -> tuple[Array, Array]:
    """Makes the filters constant whose output is, and gives the sums that are left to reach.

    They get the factor of another, so that a layer's range of factors is that of the rest.
    """
    zero, bounds = y.scaling.zero_point[0], y.dtype.range
    pairs = None if fixed is None else fixed.T
    ends = [elements(of, factors, pairs, zero, bounds) for of in sums]
    constant = ends[0] == ends[1]
    most = int(np.where(constant & ~constant.all(), 0, factors).argmax())
    if not factors[most]:
        return sums
    starts = np.rint((ends[0] - zero) / float(factors[most])).astype(np.int64)
    like = None if fixed is None else fixed[most]
    constant &= elements(starts, factors[most], like, zero, bounds) == ends[0]
    weights[constant], bias[constant], factors[constant] = 0, starts[constant], factors[most]
    if fixed is not None:
        fixed[constant] = fixed[most]
    return tuple(np.where(constant, bias, sum_) for sum_ in sums)  # type: ignore[return-value]
