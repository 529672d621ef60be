"""Quantize and Requantize of TFLite models."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render
from mcu_deploy.backends.interface import YES, CFunction, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import CLAMP, MULTIPLY, ROUND_AWAY
from mcu_deploy.backends.kit.literals import float_literal, signed
from mcu_deploy.backends.kit.loops import counter, plus
from mcu_deploy.backends.kit.requantization import is_per_tensor, multiplied, saturated
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.ir import DType
from mcu_deploy.operators.tflite_quantize import requantization

_INTEGERS = (DType.INT8, DType.UINT8, DType.INT16)


def _supports(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    wanted: tuple[DType, ...] = (DType.FLOAT32,)
    made: tuple[DType, ...] = _INTEGERS
    if layer.op == "Requantize":
        wanted = made = (*_INTEGERS, DType.INT32)
    if x.dtype not in wanted or y.dtype not in made:
        return no(f"it does not make {y} of {x}")
    if not is_per_tensor(y) or (layer.op == "Requantize" and not is_per_tensor(x)):
        return no("a computed tensor is not quantized per tensor")
    for type_ in (x, y):
        if type_.dtype is DType.INT32 and scalar(type_)[1]:
            return no(f"its integers of 32 bits lie around 0, unlike {type_}")
    return YES


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    i = counter("i", x.type.elements)
    given = f"x[{plus(i)}]"
    if layer.op == "Quantize":
        scale, zero = scalar(y.type)
        low, high = (float_literal(bound - zero) for bound in y.type.dtype.range)
        rounded = f"$round_away({given} / {float_literal(scale)}, {low}, {high})"
        element = f"({y.type.dtype.c_type})({rounded}{signed(zero)})"
        helpers: tuple[CFunction, ...] = (ROUND_AWAY,)
    else:
        value = without_zero(given, scalar(x.type)[1])
        element, helpers = multiplied(value, requantization(layer.call)), (MULTIPLY,)
        if y.type.dtype is not DType.INT32:  # which holds whatever is multiplied
            element, helpers = saturated(layer, element), (MULTIPLY, CLAMP)
    return compute(
        layer, stem(layer.op.lower(), y.type.dtype.value, x.type.elements),
        render("element.c.j2", i=i, element=element), helpers=helpers,
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


KERNELS = (
    Kernel("Quantize", _supports, _create, LayoutRule.SAME, "tflite"),
    Kernel("Requantize", _supports, _create, LayoutRule.SAME, "tflite"),
)
