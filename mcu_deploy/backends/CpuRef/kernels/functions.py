"""Functions of one float, and PRelu."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, broadcasts, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import reals
from mcu_deploy.ir import DType
from mcu_deploy.operators.functions import FUNCTIONS


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
    headers = ("math.h", "string.h") if "f(" in result else ()
    is_double = dtype is DType.FLOAT64
    result, helpers = (reals.in_double(result), ()) if is_double else reals.own(result)
    return pointwise(layer, dtype.value, Expression(result, helpers=helpers, headers=headers))


KERNELS = tuple(Kernel(op, _supports, _create, LayoutRule.SAME) for op in (*FUNCTIONS, "PRelu"))
