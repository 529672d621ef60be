"""ResizeBilinear of TFLite models: sums of four elements, whose shares are a table an axis. Of
uint8 they are float32 where integers would give others."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render
from mcu_deploy.backends.CpuRef.kernels.tflite_conv import supports_integers
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.tflite_resize import BITS, integer_places, real_places


def _supports(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if x.rank != 4 or not x.elements or not y.elements:
        return no(f"it resizes images with elements, not {x}")
    if x.quantization != y.quantization or x.dtype is not y.dtype:
        return no("its output has another scale than its input")
    return supports_integers(layer)


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0).type, layer.output.type
    (batch, channels, height, width), (rows, columns) = x.shape, y.shape[2:]
    found, is_wide = integer_places(layer.call), x.dtype is DType.INT16
    constants = _shares(layer) if found is None else (
        Constant("rows", found[0].astype(np.int16).reshape(-1)),
        Constant("columns", found[1].astype(np.int16).reshape(-1)),
    )  # fmt: skip
    body = render(
        f"tflite_resize{'_real' if found is None else ''}.c.j2", n=counter("n", batch),
        r=counter("r", rows), k=counter("k", columns), c=counter("c", channels),
        image=height * width * channels, line=width * channels, channels=channels, one=1 << BITS,
        bits=BITS, ctype=x.dtype.c_type, sum_ctype="int64_t" if is_wide else "int32_t",
        widened="(int64_t)" if is_wide else "",
    )  # fmt: skip
    name = stem("resize_bilinear", y.dtype.value, height, width, rows, columns, channels)
    return compute(layer, name, body, constants)


def _shares(layer: Layer) -> tuple[Constant, ...]:
    """The places of rows and columns, and what their elements are multiplied by."""
    (rows, upper), (columns, left) = real_places(layer.call, 2), real_places(layer.call, 3)
    return (
        Constant("rows", rows.astype(np.int16).reshape(-1)),
        Constant("row_shares", upper.reshape(-1)),
        Constant("columns", columns.astype(np.int16).reshape(-1)),
        Constant("column_shares", left.reshape(-1)),
    )


KERNELS = (Kernel("ResizeBilinear", _supports, _create, LayoutRule.CHANNELS_LAST, "tflite"),)
