"""Comparisons, IsNaN and IsInf: one byte, 0 or 1, for each element."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, broadcasts, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.ir import DType
from mcu_deploy.operators.comparison import infinities

_SYMBOLS = {"Less": "<", "LessOrEqual": "<=", "Greater": ">", "GreaterOrEqual": ">=", "Equal": "=="}


def _supports(layer: Layer) -> Support:
    kinds = {layer.input(index).type.dtype for index in range(len(layer.inputs))}
    if len(kinds) != 1:
        return no("it compares tensors of one type")
    if layer.output.type.dtype is not DType.BOOL or not broadcasts(layer):
        return no("its shapes do not fit together")
    if layer.op.startswith("Is") and not layer.input(0).type.dtype.is_float:
        return no(f"it computes floats, not {layer.input(0).type}")
    return YES


def _compare(layer: Layer) -> Workload:
    kind = layer.input(0).type.dtype.value
    return pointwise(layer, kind, Expression(f"(uint8_t)(a {_SYMBOLS[layer.op]} b)"))


def _is_nan(layer: Layer) -> Workload:
    return pointwise(
        layer, layer.input(0).type.dtype.value,
        Expression("(uint8_t)(isnan(a) ? 1 : 0)", headers=("math.h",)),
    )  # fmt: skip


def _is_inf(layer: Layer) -> Workload:
    negative, positive = infinities(layer.call)
    side = "" if negative and positive else " && a < 0" if negative else " && a > 0"
    condition = f"isinf(a){side}" if negative or positive else "isinf(a) && isnan(a)"
    return pointwise(
        layer, layer.input(0).type.dtype.value,
        Expression(f"(uint8_t)({condition} ? 1 : 0)", headers=("math.h",)),
    )  # fmt: skip


KERNELS = (
    *(Kernel(op, _supports, _compare, LayoutRule.SAME) for op in _SYMBOLS),
    Kernel("IsNaN", _supports, _is_nan, LayoutRule.SAME),
    Kernel("IsInf", _supports, _is_inf, LayoutRule.SAME),
)
