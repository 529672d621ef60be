"""What sums of products of two operands have in common: what they begin with, and their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import CFunction, Constant, Layer
from mcu_deploy.backends.kit.requantization import (
    clamp_lines,
    may_wrap,
    requantization,
    sums_are_wide,
)
from mcu_deploy.backends.kit.zero_points import folded_bias, without_zero


class Summed(NamedTuple):
    """values: for the template. constants: the bias, and what the sums are scaled by."""

    values: Mapping[str, object]
    constants: tuple[Constant, ...]
    helpers: tuple[CFunction, ...] = ()


def of_convolution(
    layer: Layer, left: str, right: str, channel: str, folded: Array | None
) -> Summed:
    """Of the layer's numbers, with its bias, zeros where it has none; the rest as `of_integers`."""
    bias = bias_of(layer)
    if layer.output.type.is_quantized:
        return of_integers(layer, left, right, channel, bias, folded)
    return of_floats(layer, left, right, bias)


def bias_of(layer: Layer) -> Array:
    """A convolution's constant bias, zeros where it has none."""
    bias = layer.optional(2)
    return np.zeros(layer.output.type.shape[1], np.float32) if bias is None else bias.value


def of_floats(layer: Layer, left: str, right: str, bias: Array) -> Summed:
    """left, right: C for an element of each operand."""
    clamp = clamp_lines(layer, "sum")
    values = {"acc": "float", "product": f"{left} * {right}", "clamp": clamp}
    return Summed(values, (Constant("bias", bias.astype(np.float32)),))


def of_integers(
    layer: Layer, left: str, right: str, channel: str, bias: Array, folded: Array | None
) -> Summed:
    """channel: C for the output's. folded: the weights, [channel, ...], if each sum has all of its
    channel's, so that the bias may take in the input's zero point."""
    wide, ending = sums_are_wide(layer), requantization(layer, channel)
    x, w = (layer.input(k).type for k in (0, 1))
    x_zero, w_zero = x.scaling.zero_point[0], w.scaling.zero_point[0]
    start = bias.astype(np.int64 if wide else np.int32)
    if folded is not None and not wide:
        taken_in, _ = folded_bias(start, folded, x, w_zero)
        start, x_zero = (start, x_zero) if taken_in is None else (taken_in, 0)
    values = {
        "acc": "int64_t" if wide or may_wrap(layer) else "int32_t",
        "product": f"{without_zero(left, x_zero)} * {without_zero(right, w_zero)}",
        "requantization": ending,
    }
    return Summed(values, (Constant("bias", start), *ending.constants), ending.helpers)
