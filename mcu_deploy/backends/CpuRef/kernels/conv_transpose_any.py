"""ConvTranspose over any number of axes in ONNX's order, whose weights may be computed when it
runs, and whose pads may be negative.

Each output gathers the inputs that reach it. Order of the sums: from the bias, input channel, then
the taps in index order.
"""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.CpuRef.kernels.window_any import gathered, tap_index
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.operators.conv_transpose import transposed_window


def supports(layer: Layer) -> Support:
    """Whether a ConvTranspose of float32 or float64 is computed."""
    dtype = layer.output.type.dtype
    for operand in layer.inputs:
        if operand is not None and (operand.type.dtype is not dtype or not dtype.is_float):
            return no(f"it computes float32, not {operand.type}")
    return YES


def create(layer: Layer) -> Workload:
    """One output after another."""
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
    body = render(
        "conv_any.c.j2", n=counter("n", x.shape[0]), m=m, c=c, w=found, ctype=y.dtype.c_type,
        start="0" if layer.optional(2) is None else f"x2[{plus(m)}]",
        product=f"x0[{at}] * x1[{tap}]", size=x.shape[1] * plane,
        clamp=clamp_lines(layer, "sum"),
    )  # fmt: skip
    return whole(layer, body)
