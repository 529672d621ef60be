"""ResizeBilinear of TFLite models: sums of four integers, whose shares are a table an axis."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render
from mcu_deploy.backends.CpuRef.kernels.tflite_conv import supports_bytes
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.operators.tflite_resize import BITS, places


def _supports(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if x.rank != 4 or not x.elements or not y.elements:
        return no(f"it resizes images with elements, not {x}")
    if x.quantization != y.quantization or x.dtype is not y.dtype:
        return no("its output has another scale than its input")
    return supports_bytes(layer)


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0).type, layer.output.type
    (batch, channels, height, width), (rows, columns) = x.shape, y.shape[2:]
    body = render(
        "tflite_resize.c.j2", n=counter("n", batch), r=counter("r", rows),
        k=counter("k", columns), c=counter("c", channels), image=height * width * channels,
        line=width * channels, channels=channels, one=1 << BITS, bits=BITS, ctype=x.dtype.c_type,
    )  # fmt: skip
    constants = (
        Constant("rows", places(layer.call, 2).astype(np.int16).reshape(-1)),
        Constant("columns", places(layer.call, 3).astype(np.int16).reshape(-1)),
    )
    name = stem("resize_bilinear", y.dtype.value, height, width, rows, columns, channels)
    return compute(layer, name, body, constants)


KERNELS = (Kernel("ResizeBilinear", _supports, _create, LayoutRule.CHANNELS_LAST, "tflite"),)
