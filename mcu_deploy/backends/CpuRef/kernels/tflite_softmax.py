"""Softmax of TFLite models in gemmlowp's fixed point: its exp of every distance from the maximum
is a table, made at compile time in integers; sums and the division run on the device. Softmax16 is
that of int16, whose exp and reciprocal lie on lines between the entries of tables."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.CpuRef.kernels.base import BYTES, Kernel, compute, render
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import CLAMP, LOOKED_UP, MULTIPLY, QUANTIZE, RECIPROCAL
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.requantization import is_per_tensor
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.tflite_softmax import SUM_BITS, real_exponentials, terms
from mcu_deploy.operators.tflite_softmax16 import RANGE, exponentials, factor, reciprocals

_TYPES = (
    (DType.INT8, DType.INT8), (DType.INT8, DType.INT16), (DType.UINT8, DType.UINT8)
)  # fmt: skip


def _supports(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if (x.dtype, y.dtype) not in _TYPES:
        return no(f"it makes int8 or int16 of int8, and uint8 of uint8, not {y} of {x}")
    if not is_per_tensor(x) or not is_per_tensor(y):
        return no("a computed tensor is not quantized per tensor")
    if x.shape[-1] >= 1 << SUM_BITS:
        return no(f"it sums fewer than {1 << SUM_BITS} terms, not {x.shape[-1]}")
    return YES


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output.type.dtype
    size = x.type.shape[-1]
    rows = x.type.elements // size
    table = terms(layer.call).astype(np.int32)
    body = render(
        "tflite_softmax.c.j2", rows=rows, size=size, distances=len(table),
        y_ctype=y.c_type, low=y.range[0], high=y.range[1],
        shift=SUM_BITS + 31 - 8 * y.bytes,
    )  # fmt: skip
    # A row is read once more while it is written, element by element.
    lowest = np.arange(x.type.elements)
    return compute(
        layer, stem("softmax", y.value, size), body, (Constant("exponential", table),),
        (CLAMP, MULTIPLY, RECIPROCAL), in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


def _supports_16(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if x.dtype is not DType.INT16 or y.dtype is not DType.INT16 or not is_per_tensor(x):
        return no(f"it makes int16 of int16 with a scale, not {y} of {x}")
    if x.shape[-1] > RANGE:
        return no(f"it sums up to {RANGE} terms, not {x.shape[-1]}")
    return YES


def _create_16(layer: Layer) -> Workload:
    x = layer.input(0).type
    size = x.shape[-1]
    multiplier, shift = factor(layer.call)
    body = render(
        "tflite_softmax16.c.j2", rows=x.elements // size, size=size, multiplier=multiplier,
        left=1 << max(shift, 0), right=max(-shift, 0),
    )  # fmt: skip
    tables = {"exponential": exponentials(), "inverse": reciprocals()}
    return compute(
        layer, stem("softmax", "int16", size), body,
        tuple(Constant(name, table.astype(np.int16)) for name, table in tables.items()),
        (MULTIPLY, LOOKED_UP), in_place=overlap.in_place(layer, np.arange(x.elements)),
    )  # fmt: skip


def _supports_log(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if x.dtype not in BYTES or y.dtype is not x.dtype:
        return no(f"it makes int8 of int8, and uint8 of uint8, not {y} of {x}")
    if not is_per_tensor(x) or not is_per_tensor(y):
        return no("a computed tensor is not quantized per tensor")
    return YES


def _create_log(layer: Layer) -> Workload:
    x, y = layer.input(0).type, layer.output.type
    size, (low, high), zero = x.shape[-1], y.dtype.range, scalar(y)[1]
    step, scale = (np.float32(scalar(t)[0]) for t in (x, y))
    body = render(
        "tflite_log_softmax.c.j2", rows=x.elements // size, size=size, y_ctype=y.dtype.c_type,
        step=float_literal(float(step)), scale=float_literal(float(scale)),
        ratio=float_literal(float(step / scale)),
        low=float_literal(low - zero), high=float_literal(high - zero), zero=zero,
    )  # fmt: skip
    return compute(
        layer, stem("log_softmax", y.dtype.value, size), body,
        (Constant("exponential", real_exponentials(layer.call)),), (QUANTIZE,),
        headers=("math.h",), in_place=overlap.in_place(layer, np.arange(x.elements)),
    )  # fmt: skip


KERNELS = (
    Kernel("LogSoftmax", _supports_log, _create_log, domain="tflite"),
    Kernel("Softmax", _supports, _create, domain="tflite"),
    Kernel("Softmax16", _supports_16, _create_16, domain="tflite"),
)
