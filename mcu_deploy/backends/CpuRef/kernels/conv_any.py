"""Conv and ConvTranspose over any number of axes in ONNX's order: weights may be computed when they
run, and pads may be negative. And ConvInteger.

Order of the sums: from the bias, input channel, then the taps in index order.
"""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.CpuRef.kernels.window_any import Loops, gathered, loops, tap_index
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import Counter, counter, plus, times
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.ir import DType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.conv_transpose import transposed_window


def supports(layer: Layer) -> Support:
    """Whether a convolution of float32 or float64 is computed."""
    dtype = layer.output.type.dtype
    for operand in layer.inputs:
        if operand is not None and (operand.type.dtype is not dtype or not dtype.is_float):
            return no(f"it computes float32 with weights that are computed, not {operand.type}")
    return YES


def _supports_integer(layer: Layer) -> Support:
    wrong = "it has one zero point, and for its weights one a filter"
    bytes_ = integers.check_zero_points(layer, (0, layer.input(1).type.shape[0]), wrong)
    y = layer.output.type.dtype
    return bytes_ and (YES if y is DType.INT32 else no(f"it sums in int32, not {y.value}"))


def create(layer: Layer) -> Workload:
    """One output after another."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    geometry = conv_window(x, w, y, layer.attributes)
    group = int(layer.attributes.get("group", 1))
    filters, depth = w.shape[:2]
    found, plane, kernel = loops(geometry), math.prod(geometry.input), math.prod(geometry.kernel)
    m, c = counter("m", filters), counter("c", depth)
    g = m if group == filters else f"{m} / {filters // group}"
    first = times(g, depth * plane) if group > 1 else ""
    at = plus(first, times(c, plane), found.place)
    tap = plus(times(m, depth * kernel), times(c, kernel), tap_index(geometry, found.taps))
    return _summed(layer, found, m, c, at, tap, plane)


def create_transposed(layer: Layer) -> Workload:
    """One output after another, of which each gathers the inputs that reach it."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    geometry = transposed_window(x, w, y, layer.attributes)
    group = int(layer.attributes.get("group", 1))
    channels, each = w.shape[:2]
    depth, filters = channels // group, each * group
    found, plane = gathered(geometry), math.prod(geometry.output)
    kernel = math.prod(geometry.kernel)
    m, c = counter("m", filters), counter("c", depth)
    of_group = f"{m} / {each}" if each > 1 else m
    within = f"{m} % {each}" if group > 1 and each > 1 else m if group == 1 else ""
    first = times(of_group, depth) if group > 1 else ""
    channel = plus(first, c)
    at = plus(times(channel, plane), found.place)
    tap = plus(
        times(channel, each * kernel), times(within, kernel), tap_index(geometry, found.taps)
    )
    return _summed(layer, found, m, c, at, tap, plane)


def _summed(
    layer: Layer, found: Loops, m: Counter, c: Counter, at: str, tap: str, plane: int
) -> Workload:
    """at, tap: C for the places of an element and of its weight."""
    x, is_integer = layer.input(0).type, layer.op == "ConvInteger"
    product = f"x0[{at}] * x1[{tap}]"
    if is_integer:
        left = integers.without_zero(layer, 0, f"x0[{at}]", plus(m))
        right = integers.without_zero(layer, 1, f"x1[{tap}]", plus(m))
        product = f"{left} * {right}"
    body = render(
        "conv_any.c.j2", n=counter("n", x.shape[0]), m=m, c=c, w=found,
        start="0" if is_integer or layer.optional(2) is None else f"x2[{plus(m)}]",
        ctype=layer.output.type.dtype.c_type, product=product, size=x.shape[1] * plane,
        clamp="" if is_integer else clamp_lines(layer, "sum"),
    )  # fmt: skip
    return whole(layer, body)


KERNELS = (Kernel("ConvInteger", _supports_integer, create),)
