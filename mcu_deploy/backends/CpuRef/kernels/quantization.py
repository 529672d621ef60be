"""QuantizeLinear and DequantizeLinear: the borders between float32 and 8-bit or 16-bit tensors."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import quantization_any
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, either, render
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal, signed
from mcu_deploy.backends.kit.loops import counter, plus
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.ir import DType
from mcu_deploy.operators.quantization import call_quantization, has_blocks

_INTEGERS = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)


def _supports(layer: Layer) -> Support:
    quantizes = layer.op == "QuantizeLinear"
    real = (layer.input(0) if quantizes else layer.output).type
    integer = (layer.output if quantizes else layer.input(0)).type
    if any(o is not None and o.constant is None for o in layer.inputs[1:]):
        return no("its scale is computed at run time")
    if real.dtype is not DType.FLOAT32 or integer.dtype not in _INTEGERS:
        return no(f"it converts between float32 and 8 or 16 bits, not {real} and {integer}")
    if has_blocks(layer.call) or not call_quantization(layer.call, integer.rank).per_tensor:
        return no("a computed tensor is quantized per axis")
    return YES


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    quantizes = layer.op == "QuantizeLinear"
    quantization = call_quantization(layer.call, x.type.rank)
    zero, scale = quantization.zero_point[0], float_literal(quantization.scale[0])
    i = counter("i", x.type.elements)
    given = f"x[{plus(i)}]"
    if quantizes:
        low, high = y.type.dtype.range
        rounded = (
            f"$quantize({given} / {scale}, {float_literal(low - zero)}, "
            f"{float_literal(high - zero)})"
        )
        element = f"({y.type.dtype.c_type})({rounded}{signed(zero)})"
    else:
        element = f"(float){without_zero(given, zero)} * {scale}"
    word, integer = ("quantize", y) if quantizes else ("dequantize", x)
    return compute(
        layer, stem(word, integer.type.dtype.value, x.type.elements),
        render("element.c.j2", i=i, element=element), helpers=(QUANTIZE,) if quantizes else (),
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


KERNELS = tuple(
    either(
        Kernel(op, _supports, _create, LayoutRule.SAME),
        Kernel(op, quantization_any.supports, quantization_any.create),
    )
    for op in ("QuantizeLinear", "DequantizeLinear")
)
