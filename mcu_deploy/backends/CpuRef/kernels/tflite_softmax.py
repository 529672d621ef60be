"""Softmax of TFLite models in gemmlowp's fixed point: its exp of every distance from the maximum
is a table, made at compile time in integers; sums and the division run on the device."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render, rule
from mcu_deploy.backends.CpuRef.kernels.tflite_conv import supports_bytes
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import CLAMP, MULTIPLY, RECIPROCAL
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.tflite_softmax import SUM_BITS, terms


def _supports(layer: Layer) -> Support:
    x = layer.input(0).type
    if x.dtype is not DType.INT8 or layer.output.type.dtype is not DType.INT8:
        return no(f"it computes int8, not {x}")
    if x.shape[-1] >= 1 << SUM_BITS:
        return no(f"it sums fewer than {1 << SUM_BITS} terms, not {x.shape[-1]}")
    return supports_bytes(layer)


def _create(layer: Layer) -> Workload:
    x = layer.input(0)
    size = x.type.shape[-1]
    rows = x.type.elements // size
    table = terms(layer.call).astype(np.int32)
    body = render("tflite_softmax.c.j2", rows=rows, size=size, distances=len(table))
    # A row is read once more while it is written, element by element.
    lowest = np.arange(x.type.elements)
    return compute(
        layer, stem("softmax", "int8", size), body, (Constant("exponential", table),),
        (CLAMP, MULTIPLY, RECIPROCAL), in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


KERNELS = (Kernel("Softmax", _supports, rule(LayoutRule.NATURAL), _create, "tflite"),)
