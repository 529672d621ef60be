"""TFLite's ATAN2 of float32."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, broadcasts, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.ir import DType


def _supports(layer: Layer) -> Support:
    for type_ in (layer.input(0).type, layer.input(1).type, layer.output.type):
        if type_.dtype is not DType.FLOAT32:
            return no(f"it computes float32, not {type_}")
    return YES if broadcasts(layer) else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    return pointwise(layer, "float32", Expression("atan2f(a, b)", headers=("math.h",)))


KERNELS = (Kernel("Atan2", _supports, _create, LayoutRule.SAME, "mcu"),)
