"""ConvTranspose in channel-last order: float32 and integers, ONNX's and TFLite's.

Each output gathers the inputs that reach it. Order of the sums: from the bias, kernel row, kernel
column, input channel.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import conv, conv_any, sums
from mcu_deploy.backends.CpuRef.kernels.base import (
    QUANTIZED,
    Kernel,
    check_types,
    compute,
    either,
    element_kind,
    render,
)
from mcu_deploy.backends.CpuRef.kernels.tflite_conv import supports_products
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Support, Workload
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Plane, plane
from mcu_deploy.operators.conv_transpose import transposed_window


def _supports(layer: Layer) -> Support:
    x, w, y = layer.input(0), layer.input(1), layer.output
    weights = check_types(layer, w)
    return conv.fits(layer) and weights and check_types(layer, x, w, y, known=QUANTIZED)


def _supports_tflite(layer: Layer) -> Support:
    return supports_products(layer) and conv.fits(layer)


def _create(layer: Layer) -> Workload:
    x, w, y = layer.input(0), layer.input(1), layer.output
    geometry = transposed_window(x.type, w.type, y.type, layer.attributes)
    group = int(layer.attributes.get("group", 1))
    weights = w.value if x.type.rank == 4 else w.value[:, :, None, :]
    channels, per_group = weights.shape[:2]
    depth, filters = channels // group, per_group * group
    # (C, M/group, kernel) to (M, kernel, C/group)
    grouped = weights.reshape(group, depth, per_group, *weights.shape[2:])
    packed = grouped.transpose(0, 2, 3, 4, 1).reshape(filters, *weights.shape[2:], depth)
    taps = Constant("weights", np.ascontiguousarray(packed))
    m, c = counter("m", filters), counter("c", depth)
    left, right = f"pixel[{plus(c)}]", f"tap[{plus(c)}]"
    values: dict[str, object] = {
        "x_ctype": x.type.dtype.c_type, "w_ctype": w.type.dtype.c_type,
        "quantized": y.type.is_quantized, "scaling": "", "bias_step": "",
    }  # fmt: skip
    made = sums.of_convolution(layer, left, right, plus(m), None)
    # The window slides over the result: what it calls its output is this operator's input.
    window = plane(geometry)
    window = replace(window, input=window.output, output=window.input)
    body = render(
        "conv_transpose.c.j2",
        channels=channels, depth=depth, m=m, c=c, **values, **made.values,
        **(window.values(x.type.shape[0]) | _taps(window)),
        group_offset=times("m" if per_group == 1 else f"m / {per_group}", depth)
        if group > 1 else "",
    )  # fmt: skip
    name = stem("conv_transpose", element_kind(layer), channels, filters, window=window)
    reads = np.arange(filters) // per_group * depth
    lowest = overlap.transposed_window(x.type.shape[0], channels, window, reads)
    return compute(
        layer, name, body, (taps, *made.constants), made.helpers,
        in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


def _taps(window: Plane) -> dict[str, object]:
    """The loops over taps: where a stride leaves some out, only those that meet an input.
    stepped: by axis, whether they do."""
    found: dict[str, object] = {}
    stepped = []
    for axis, (name, place) in enumerate((("ky", "oy"), ("kx", "ox"))):
        stride, pad, taps = window.stride[axis], window.pad[axis], window.kernel[axis]
        is_stepped = stride > 1 and taps > 1 and window.dilation[axis] == 1 and pad >= 0
        is_stepped &= window.output[axis] > 1
        stepped.append(is_stepped)
        if is_stepped:
            first = f"({plus(place, pad)}) % {stride}" if pad else f"{place} % {stride}"
            found[name] = counter(name, taps, first, stride)
    return {**found, "stepped": stepped}


KERNELS = (
    either(
        Kernel("ConvTranspose", _supports, _create, LayoutRule.CHANNELS_LAST),
        Kernel("ConvTranspose", conv_any.supports, conv_any.create_transposed),
    ),
    Kernel("ConvTranspose", _supports_tflite, _create, LayoutRule.CHANNELS_LAST, "tflite"),
)  # fmt: skip
