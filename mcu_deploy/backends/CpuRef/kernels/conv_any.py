"""Conv over any number of axes in ONNX's order, whose weights may be computed when it runs; and
ConvInteger.

Order of the sums: from the bias, input channel, then the taps in index order.
"""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import BYTES, Kernel, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.CpuRef.kernels.window_any import loops, tap_index
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.ir import DType
from mcu_deploy.operators.conv import conv_window


def supports(layer: Layer) -> Support:
    """Whether a Conv of float32 or float64 is computed."""
    dtype = layer.output.type.dtype
    for operand in layer.inputs:
        if operand is not None and (operand.type.dtype is not dtype or not dtype.is_float):
            return no(f"it computes float32 with weights that are computed, not {operand.type}")
    return YES


def _supports_integer(layer: Layer) -> Support:
    for k in (0, 1):
        if layer.input(k).type.dtype not in BYTES:
            return no(f"it multiplies 8-bit integers, not {layer.input(k).type}")
        zero = layer.optional(k + 2)
        if zero is not None and zero.type.elements not in (1, layer.input(1).type.shape[0] * k):
            return no("it has one zero point, and for its weights one a filter")
    y = layer.output.type
    return YES if y.dtype is DType.INT32 else no(f"it sums in int32, not {y.dtype.value}")


def create(layer: Layer) -> Workload:
    """One output after another."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    geometry = conv_window(x, w, y, layer.attributes)
    group = int(layer.attributes.get("group", 1))
    filters, depth = w.shape[:2]
    found, plane = loops(geometry), math.prod(geometry.input)
    m, c = counter("m", filters), counter("c", depth)
    g = m if group == filters else f"{m} / {filters // group}"
    first = times(g, depth * plane) if group > 1 else ""
    kernel = math.prod(geometry.kernel)
    at = plus(first, times(c, plane), found.place)
    tap = plus(times(m, depth * kernel), times(c, kernel), tap_index(geometry, found.taps))
    integer = layer.op == "ConvInteger"
    start = "0" if integer or layer.optional(2) is None else f"x2[{plus(m)}]"
    product = f"x0[{at}] * x1[{tap}]"
    if integer:
        product = " * ".join(
            _without_zero(layer, k, f"x{k}[{place}]", plus(m)) for k, place in ((0, at), (1, tap))
        )
    body = render(
        "conv_any.c.j2", n=counter("n", x.shape[0]), m=m, c=c, w=found, start=start,
        ctype=y.dtype.c_type, product=product, size=x.shape[1] * plane,
        clamp="" if integer else clamp_lines(layer, "sum"),
    )  # fmt: skip
    return whole(layer, body)


def _without_zero(layer: Layer, k: int, element: str, row: str) -> str:
    """An integer of input k without its zero point, which is input k + 2."""
    zero = layer.optional(k + 2)
    if zero is None:
        return element
    return f"({element} - x{k + 2}[{row if zero.type.elements > 1 else 0}])"


KERNELS = (Kernel("ConvInteger", _supports_integer, create),)
