"""TopK: each element goes into its place among the best that were met, if it has one."""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.ir import DType


def _supports(layer: Layer) -> Support:
    x, values = layer.input(0).type, layer.outputs[0].type
    if len(layer.outputs) != 2 or layer.outputs[1].type.dtype is not DType.INT64:
        return no("it gives elements and their places, int64")
    if x.dtype is not values.dtype or not x.rank or values.shape != layer.outputs[1].type.shape:
        return no("its shapes do not fit together")
    axis = layer.call.axis(-1)
    others = x.shape[:axis] + x.shape[axis + 1 :]
    fits = others == values.shape[:axis] + values.shape[axis + 1 :]
    if not fits or values.shape[axis] > x.shape[axis]:
        return no("its shapes do not fit together")
    count = layer.optional(1)
    if count is not None and count.constant is None:
        return no("it takes a number of elements that is computed at run time")
    return YES


def _create(layer: Layer) -> Workload:
    x, axis = layer.input(0).type, layer.call.axis(-1)
    body = render(
        "top_k.c.j2", ctype=x.dtype.c_type, outer=math.prod(x.shape[:axis]), size=x.shape[axis],
        inner=math.prod(x.shape[axis + 1 :]), count=layer.output.type.shape[axis],
        is_float=x.dtype.is_float, largest=bool(layer.attributes.get("largest", 1)),
    )  # fmt: skip
    return whole(layer, body, reads=(0,))


KERNELS = (Kernel("TopK", _supports, _create),)
