"""DeformConv of float32: each tap is a bilinear sample, times its share and its weight.

Order of the sums: from the bias, input channel, then the taps in index order.
"""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, helper, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.ir import DType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.deform_conv import offset_groups

_SAMPLE = helper("sample.c.j2")


def _supports(layer: Layer) -> Support:
    for operand in (*layer.inputs, layer.output):
        if operand is not None and operand.type.dtype is not DType.FLOAT32:
            return no(f"it computes float32, not {operand.type}")
    x, w, offset, y = *(layer.input(k).type for k in range(3)), layer.output.type
    if x.rank != 4 or w.rank != 4 or offset.rank != 4:
        return no("it convolves planes, with two spatial axes")
    groups, group = offset_groups(layer.call), int(layer.attributes.get("group", 1))
    taps = math.prod(w.shape[2:])
    mask = layer.optional(4)
    fits = groups > 0 and group > 0 and x.shape[1] % groups == 0 and w.shape[0] % group == 0
    fits &= w.shape[1] * group == x.shape[1] and y.shape[:2] == (x.shape[0], w.shape[0])
    fits &= offset.shape == (x.shape[0], 2 * groups * taps, *y.shape[2:])
    fits &= mask is None or mask.type.shape == (x.shape[0], groups * taps, *y.shape[2:])
    return YES if fits else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    geometry = conv_window(x, w, y, layer.attributes)
    group, each = int(layer.attributes.get("group", 1)), x.shape[1] // offset_groups(layer.call)
    filters, depth = w.shape[:2]
    (height, width), (rows, columns) = x.shape[2:], y.shape[2:]
    kernel = w.shape[2:]
    taps, plane = math.prod(kernel), rows * columns
    m, c = counter("m", filters), counter("c", depth)
    oy, ox = counter("oy", rows), counter("ox", columns)
    ky, kx = counter("ky", kernel[0]), counter("kx", kernel[1])
    first = times(f"{m} / {filters // group}" if filters > group else m, depth) if group > 1 else ""
    channel = plus(first, c)
    of_group = channel if each == 1 else f"({channel}) / {each}"
    of_group = "" if each == x.shape[1] else of_group
    tap, pixel = plus(times(ky, kernel[1]), kx), plus(times(oy, columns), ox)
    at = plus(times(of_group, taps), tap)
    moved = times(f"({at})", 2 * plane) if at != "0" else ""
    base = [
        plus(times(o, stride), times(k, dilation), -begin)
        for o, k, stride, dilation, begin in zip(
            (oy, ox), (ky, kx), geometry.strides, geometry.dilations, geometry.begin, strict=True
        )
    ]
    bias, mask = layer.optional(3), layer.optional(4)
    body = render(
        "deform_conv.c.j2", n=counter("n", x.shape[0]), m=m, c=c, oy=oy, ox=ox, ky=ky, kx=kx,
        start="0.0F" if bias is None else f"x3[{plus(m)}]",
        image=plus("x0", times(channel, height * width) if channel != "0" else ""),
        height=height, width=width,
        v=base[0], u=base[1],
        dv=f"x2[{plus(moved, pixel)}]", du=f"x2[{plus(moved, pixel, plane)}]",
        share="" if mask is None else f" * x4[{plus(times(f'({at})', plane), pixel)}]",
        weight=f"x1[{plus(times(plus(times(m, depth), c), taps), tap)}]",
        sizes=(x.shape[1] * height * width, layer.input(2).type.elements // x.shape[0],
               0 if mask is None else mask.type.elements // x.shape[0]),
    )  # fmt: skip
    return whole(layer, body, headers=("math.h",), helpers=(_SAMPLE,))


KERNELS = (Kernel("DeformConv", _supports, _create),)
