"""Conv in channel-last order: general (groups, dilations) and depthwise, float32 and 8 bits.

Order of the float32 sums: kernel row, kernel column, input channel, starting from the bias.
"""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import conv_any, sums
from mcu_deploy.backends.CpuRef.kernels.base import (
    QUANTIZED,
    Kernel,
    check_types,
    check_weights,
    compute,
    either,
    element_kind,
    real_weight,
    render,
    weight_scaling,
)
from mcu_deploy.backends.interface import YES, Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Plane, plane
from mcu_deploy.operators.conv import conv_window


def fits(layer: Layer) -> Support:
    """Whether the kernel computes a convolution of these sizes and constants, of any types."""
    x, w, bias = layer.input(0), layer.input(1), layer.optional(2)
    if x.type.rank not in (3, 4):
        return no(f"it convolves over one or two spatial axes, not {x.type.rank - 2}")
    if w.constant is None or (bias is not None and bias.constant is None):
        return no("its weights or its bias are computed at run time; it packs constant ones")
    quantization = w.type.quantization
    if quantization is not None and len(set(quantization.zero_point)) > 1:
        return no("its weights have different zero points per channel")
    return YES


def _taps(window: Plane) -> dict[str, object]:
    """C expressions for the first tap inside of the input, and the one after the last."""

    def first_tap(start: str, axis: int) -> str:
        step = window.dilation[axis]
        count = f"-{start}" if step == 1 else f"(-{start} + {step - 1}) / {step}"
        return f"{start} < 0 ? {count} : 0"

    def last_tap(start: str, axis: int) -> str:
        step, size, taps = window.dilation[axis], window.input[axis], window.kernel[axis]
        room = f"{size} - {start}" if step == 1 else f"({size + step - 1} - {start}) / {step}"
        reach = size - (taps - 1) * step
        return f"{start} < {reach} ? {taps} : {room}"

    return {"first_tap": first_tap, "last_tap": last_tap}


def create(layer: Layer) -> Workload:
    """The workload of a Conv, of ONNX or of the domains "tflite" and "mcu"."""
    x, w, y = layer.input(0), layer.input(1), layer.output
    geometry = conv_window(x.type, w.type, y.type, layer.attributes)
    group = int(layer.attributes.get("group", 1))
    filters, depth = w.type.shape[0], w.type.shape[1]
    channels = x.type.shape[1]
    weights = w.value if x.type.rank == 4 else w.value[:, :, None, :]
    depthwise = depth == 1 and group == channels and group > 1
    window = plane(geometry)
    rows, columns = window.padded
    contiguous = group == 1 and geometry.dilations[-1] == 1
    # A product of matrices: no pixel's neighbours are read, and none is skipped.
    pixelwise = group == 1 and {*window.kernel, *window.stride} == {1} and not geometry.padded
    m = counter("n" if pixelwise else "m", filters)
    taps = window.kernel[1] * depth if contiguous else depth
    c = counter("c", times("kx_end - kx_begin", depth) if contiguous and columns else taps)
    k = counter("k", depth)
    values: dict[str, object] = {
        "channels": channels,
        "filters": filters,
        "depth": depth,
        "m": m,
        "c": c,
        **window.values(x.type.shape[0]),
        **({"ky": counter("ky", "ky_end", "ky_begin")} if rows else {}),
        **({"kx": counter("kx", "kx_end", "kx_begin")} if columns else {}),
        **_taps(window),
        "depthwise": depthwise,
        "contiguous": contiguous,
        "quantized": y.type.is_quantized,
        "x_ctype": x.type.dtype.c_type,
        "w_ctype": w.type.dtype.c_type,
        "group_offset": "" if group == 1 else f"m / {filters // group} * {depth}",
        "start": f"bias[{plus(m)}]",
        "scaling": "",
        "bias_step": "",
        "channel": "m" if filters == channels else f"m / {filters // channels}",
    }
    packed = weights.transpose((2, 3, 1, 0) if depthwise else (0, 2, 3, 1))
    constants = [Constant("weights", packed)]
    names = ("x", "row") if pixelwise else ("pixel", "tap")
    left, right = (f"{name}[{plus(k if pixelwise else c)}]" for name in names)
    if depthwise:
        kx = "kx" if columns or window.kernel[1] > 1 else ""
        left = f"x[{plus('at', times(kx, channels * window.dilation[1]))}]"
        right = f"tap[{plus(times(kx, filters))}]"
    # Taps that are skipped read no zero point.
    folded = None if geometry.padded else weights
    made = sums.of_convolution(layer, left, right, plus(m), folded)
    values |= made.values
    constants += made.constants
    if layer.domain == "mcu":
        scaling, scales = weight_scaling(w, plus(m))
        constants += scales
        values |= {
            "start": "0.0F",
            "product": f"{left} * {real_weight(w, right)}",
            "scaling": scaling,
            "bias_step": plus(m),
        }
    template = "conv.c.j2"
    if pixelwise:
        pixels = x.type.shape[0] * math.prod(window.output)
        values |= {"r": counter("r", pixels), "n": m, "k": k}
        template = "gemm.c.j2"
    kind = "weights8" if layer.domain == "mcu" else element_kind(layer)
    word = "depthwise" if depthwise else "conv" if group == 1 else f"conv_group{group}_"
    extents = (filters,) if depthwise and filters == channels else (channels, filters)
    # All channels of a group are read again for each of its filters.
    reads = np.arange(filters) // (filters // group) * depth
    lowest = overlap.window(x.type.shape[0], channels, window, reads)
    return compute(
        layer, stem(word, kind, *extents, window=window), render(template, **values),
        constants, made.helpers, in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


def supports(layer: Layer) -> Support:
    """Whether the kernel computes this Conv."""
    x, w = layer.input(0), layer.input(1)
    if layer.domain == "mcu":
        return fits(layer) and check_weights(layer, w)
    weights = check_types(layer, w)
    return fits(layer) and weights and check_types(layer, x, w, layer.output, known=QUANTIZED)


KERNELS = (
    either(
        Kernel("Conv", supports, create, LayoutRule.CHANNELS_LAST),
        Kernel("Conv", conv_any.supports, conv_any.create),
    ),
    Kernel("Conv", supports, create, LayoutRule.CHANNELS_LAST, "mcu"),
)
