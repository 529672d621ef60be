"""ArgMax and ArgMin."""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.ir import DType


def _supports(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    if y.dtype is not DType.INT64 or not x.rank or not x.elements:
        return no(f"it does not compute {y} of {x}")
    axis = layer.call.axis()
    if y.elements != math.prod(x.shape[:axis]) * math.prod(x.shape[axis + 1 :]):
        return no("its shapes do not fit together")
    return YES


def _create(layer: Layer) -> Workload:
    x, axis = layer.input(0), layer.call.axis()
    shape, dtype = x.type.shape, x.type.dtype
    symbol = ">" if layer.op == "ArgMax" else "<"
    last = bool(layer.attributes.get("select_last_index", 0))
    # NaN is taken where it is met: the first one, or each one until the last.
    nan = "" if not dtype.is_float else " || v != v" if last else " || (v != v && best == best)"
    body = render(
        "extreme_position.c.j2", outer=math.prod(shape[:axis]), size=shape[axis],
        inner=math.prod(shape[axis + 1 :]), ctype=dtype.c_type, nan=nan,
        symbol=f"{symbol}=" if last else symbol,
    )  # fmt: skip
    return compute(layer, stem(layer.op.lower(), dtype.value, *sizes(shape)), body)


KERNELS = tuple(Kernel(op, _supports, _create) for op in ("ArgMax", "ArgMin"))
