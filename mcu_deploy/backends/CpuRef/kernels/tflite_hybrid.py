"""HybridConv of TFLite models: what lies under the kernel is quantized into scratch memory, one
output position after the other; sums are integers."""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import sums
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, call, render
from mcu_deploy.backends.interface import YES, Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.c_functions import ROUND_AWAY
from mcu_deploy.backends.kit.dynamic_range import SCALED_BY_RANGE
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import plane
from mcu_deploy.ir import DType
from mcu_deploy.operators.conv import conv_window


def _supports(layer: Layer) -> Support:
    x, w, bias = layer.input(0), layer.input(1), layer.optional(2)
    if x.type.rank != 4:
        return no("it convolves over two spatial axes")
    if w.constant is None or (bias is not None and bias.constant is None):
        return no("its weights or its bias are computed at run time")
    if x.type.dtype is not DType.FLOAT32 or layer.output.type.dtype is not DType.FLOAT32:
        return no(f"it computes float32, not {x.type}")
    if w.type.dtype is not DType.INT8 or w.type.quantization is None:
        return no(f"its weights are int8 with a scale, not {w.type}")
    if any(w.type.quantization.zero_point):
        return no("its weights have a zero point")
    return YES


def _create(layer: Layer) -> Workload:
    x, w, y = layer.input(0), layer.input(1), layer.output
    geometry = conv_window(x.type, w.type, y.type, layer.attributes)
    window = plane(geometry)
    taps = math.prod(window.kernel)
    filters, depth = w.type.shape[:2]
    factor = w.type.scaling.scales
    given = Prototype(layer).input(0, "x").output().scratch("int8_t", "q")
    given.array(
        Constant("weights", w.value.transpose((0, 2, 3, 1))),
        Constant("factor", factor),
        Constant("bias", sums.bias_of(layer).astype(np.float32)),
    )
    asymmetric = bool(layer.attributes.get("asymmetric", 0))
    if asymmetric:
        # What the zero point adds to each sum.
        given.array(Constant("sums", w.value.sum(axis=(1, 2, 3), dtype=np.int32)))
    batch, channels = x.type.shape[:2]
    values: dict[str, object] = {
        "elements": x.type.elements // batch, "channels": channels,
        "filters": filters, "asymmetric": asymmetric,
        "depth": depth, "taps": taps, **window.values(batch), "padded": geometry.padded,
        "factor_index": "m" if factor.size > 1 else "0",
        "clamp": clamp_lines(layer, "real"), "scaled_by_range": SCALED_BY_RANGE,
    }  # fmt: skip
    # The first filter of a position waits for all that is read there, the others read nothing.
    reads = np.append(0, np.full(filters - 1, overlap.NOTHING))
    kind = "affine" if asymmetric else "float32"
    return call(
        stem("hybrid_conv", kind, channels, filters, window=window),
        render("tflite_hybrid.c.j2", **values), given, (ROUND_AWAY,),
        scratch_bytes=taps * channels,
        in_place=overlap.in_place(layer, overlap.window(batch, channels, window, reads)),
    )  # fmt: skip


KERNELS = (Kernel("HybridConv", _supports, _create, LayoutRule.CHANNELS_LAST, "tflite"),)
