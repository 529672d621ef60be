"""ConvTranspose (ONNX ConvTranspose-1, -11): float32, and 8 and 16 bits with int32 accumulators."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.conv import exact_sums, integer_result, real_result
from mcu_deploy.operators.windows import Window


def transposed_window(
    x: TensorType, w: TensorType, y: TensorType, attributes: Mapping[str, Any]
) -> Window:
    """The window that steps over the output; x (N, C, spatial), w (C, M/group, kernel).

    The Window's `input` is the output of the transposed convolution, and the reverse: it is the
    convolution that this one transposes.
    """
    rank = x.rank - 2
    strides = tuple(int(s) for s in attributes.get("strides", (1,) * rank))
    dilations = tuple(int(d) for d in attributes.get("dilations", (1,) * rank))
    kernel = w.shape[2:]
    extra = tuple(int(p) for p in attributes.get("output_padding", (0,) * rank))
    pads = tuple(int(p) for p in attributes.get("pads", (0,) * 2 * rank))
    begin, end = list(pads[:rank]), list(pads[rank:])
    mode = attributes.get("auto_pad", "NOTSET")
    explicit = "output_shape" in attributes
    for axis in range(rank):
        full = (
            strides[axis] * (x.shape[2 + axis] - 1)
            + extra[axis]
            + (kernel[axis] - 1) * dilations[axis]
            + 1
        )
        if mode == "VALID":
            begin[axis] = end[axis] = 0
        elif explicit or mode in ("SAME_UPPER", "SAME_LOWER"):
            total = full - y.shape[2 + axis]
            small, large = total // 2, total - total // 2
            upper = mode == "SAME_UPPER"
            begin[axis], end[axis] = (small, large) if upper else (large, small)
    return Window(kernel, strides, dilations, tuple(begin), tuple(end), y.shape[2:], x.shape[2:])


def transposed_sums(call: Call, x: Array, w: Array) -> Array:
    """The sums of a call's transposed convolution of `x` by `w`, without the bias; of x's type."""
    y_type = call.results[0]
    group = int(call.attributes.get("group", 1))
    geometry = transposed_window(call.type(0), call.type(1), y_type, call.attributes)
    batch, channels = x.shape[:2]
    filters = w.shape[1]
    spatial = x.shape[2:]
    flat = x.reshape(batch, group, channels // group, -1)
    weights = w.reshape(group, channels // group, filters, *w.shape[2:])
    result = np.zeros((batch, group, filters, *y_type.shape[2:]), dtype=x.dtype)
    for tap in geometry.taps():
        at: tuple[Any, ...] = (slice(None), slice(None), slice(None), *tap)
        part = np.matmul(weights[at].transpose(0, 2, 1)[None], flat)
        source, target = geometry.slices(tap)
        shaped = part.reshape(batch, group, filters, *spatial)
        result[source] += shaped[target]
    return result.reshape(y_type.shape)


def integer_sums(call: Call) -> Array:
    """The accumulators of a quantized one with its bias, in int64; exact in float64."""
    return exact_sums(call, transposed_sums, "float64")


def _conv_transpose(call: Call) -> list[Array]:
    if not call.is_quantized:
        return real_result(call, transposed_sums(call, call.value(0), call.value(1)))
    return integer_result(call, integer_sums(call))


def macs(call: Call) -> int:
    """Of a transposed convolution: one for each weight and each input that meets it."""
    return call.type(0).elements * math.prod(call.type(1).shape[1:])


OPERATORS = (
    Operator(
        "ConvTranspose", _conv_transpose, macs, quantized="native", takes_clamp=True,
        has_weights=True,
    ),
)  # fmt: skip
