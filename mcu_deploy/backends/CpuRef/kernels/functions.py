"""Functions of one float, PRelu and LogSoftmax."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, broadcasts, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap, reals
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.functions import FUNCTIONS
from mcu_deploy.operators.normalization import softmax_extent


def _supports(layer: Layer) -> Support:
    types = [layer.input(k).type for k in range(len(layer.inputs))]
    dtype = layer.output.type.dtype
    for type_ in (*types, layer.output.type):
        known = dtype is DType.FLOAT32 or (dtype is DType.FLOAT64 and layer.op in reals.PLAIN)
        if type_.dtype is not dtype or not known:
            return no(f"it computes float32, not {type_}")
    return YES if broadcasts(layer) else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    dtype = layer.output.type.dtype
    result = reals.function(layer.op, layer.attributes)
    headers = ("math.h",) if "f(" in result else ()
    result = reals.in_double(result) if dtype is DType.FLOAT64 else result
    return pointwise(layer, dtype.value, Expression(result, headers=headers))


def _supports_log_softmax(layer: Layer) -> Support:
    x, y = layer.input(0), layer.output.type
    if x.type.dtype is not DType.FLOAT32:
        return no(f"it computes float32, not {x.type}")
    if x.constant is not None or not y.elements:
        return no("its input is a constant or has no elements")
    return YES if x.type.shape == y.shape else no("its shapes do not fit together")


def _log_softmax(layer: Layer) -> Workload:
    outer, size, inner = softmax_extent(layer.call)
    body = render("log_softmax.c.j2", outer=outer, size=size, inner=inner)
    order = overlap.nested(
        np.arange(outer) * size * inner, np.arange(inner), np.arange(size) * inner
    )
    return compute(
        layer, stem("log_softmax", "float32", size), body, headers=("math.h",),
        in_place=overlap.in_place(layer, order, written=order),
    )  # fmt: skip


KERNELS = (
    *(Kernel(op, _supports, _create, LayoutRule.SAME) for op in (*FUNCTIONS, "PRelu")),
    Kernel("LogSoftmax", _supports_log_softmax, _log_softmax),
)
