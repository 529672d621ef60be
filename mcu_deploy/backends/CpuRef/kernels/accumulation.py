"""CumSum and CumProd."""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.along_axis import running_axis


def _supports(layer: Layer) -> Support:
    x, axis, y = layer.input(0).type, layer.input(1), layer.output.type
    if axis.constant is None and (axis.type.elements != 1 or not axis.type.dtype.is_integer):
        return no("its axis is not one integer")
    if x.dtype is DType.BOOL or x.dtype is not y.dtype or x.shape != y.shape or not x.rank:
        return no(f"it does not compute {y} of {x}")
    return YES


def _create(layer: Layer) -> Workload:
    y = layer.output
    dtype, shape = y.type.dtype, y.type.shape
    is_integer = dtype.is_integer
    values = {
        "ctype": dtype.c_type, "symbol": "+" if layer.op == "CumSum" else "*",
        "accumulator": integers.unsigned(dtype) if is_integer else dtype.c_type,
        "first": "0" if layer.op == "CumSum" else "1",
        "stored": f"({dtype.c_type})total" if is_integer else "total",
        "reverse": bool(layer.attributes.get("reverse", 0)),
        "exclusive": bool(layer.attributes.get("exclusive", 0)),
    }  # fmt: skip
    if layer.input(1).constant is None:
        return whole(layer, render("cumulative_any.c.j2", shape=shape, **values))
    axis = running_axis(layer.call)
    body = render(
        "cumulative.c.j2", outer=math.prod(shape[:axis]), inner=math.prod(shape[axis + 1 :]),
        size=shape[axis], **values,
    )  # fmt: skip
    along = np.arange(shape[axis]) * math.prod(shape[axis + 1 :])
    if layer.attributes.get("reverse", 0):
        along = along[::-1]
    rows = np.arange(math.prod(shape[:axis])) * math.prod(shape[axis:])
    order = overlap.nested(rows, np.arange(math.prod(shape[axis + 1 :])), along)
    return compute(
        layer, stem(layer.op.lower(), dtype.value, *sizes(shape)), body,
        in_place=overlap.in_place(layer, order, written=order),
    )  # fmt: skip


KERNELS = tuple(Kernel(op, _supports, _create) for op in ("CumSum", "CumProd"))
