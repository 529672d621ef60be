"""Max, Min, Sum and Mean of any number of tensors."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import BYTES, Kernel
from mcu_deploy.backends.CpuRef.kernels.elementwise import real_operand
from mcu_deploy.backends.CpuRef.kernels.pointwise import (
    Expression,
    broadcasts,
    element_names,
    pointwise,
)
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.requantization import output_quantization
from mcu_deploy.ir import DType

_SYMBOLS = {"Max": ">=", "Min": "<="}


def picks(layer: Layer) -> bool:
    """Whether the output is one of the integers of the inputs, which mean the same numbers."""
    types = [operand.type for operand in (*layer.inputs, layer.output) if operand is not None]
    kinds = {(type_.dtype, type_.quantization) for type_ in types}
    return layer.op in _SYMBOLS and len(kinds) == 1 and types[0].scaling.per_tensor


def _supports(layer: Layer) -> Support:
    y = layer.output.type
    if y.is_quantized and picks(layer):
        return YES if broadcasts(layer) else no("its shapes do not fit together")
    for index in range(len(layer.inputs)):
        type_ = layer.input(index).type
        if not y.is_quantized and type_.dtype is not y.dtype:
            return no(f"it does not compute {y} of {type_}")
        if y.is_quantized and real_operand(layer.input(index), "a") is None:
            return no(f"it computes quantized int8/uint8, not {type_}")
        if y.is_quantized and type_.quantization and not type_.quantization.per_tensor:
            return no("an operand is quantized per axis")
    if y.is_quantized and y.dtype not in BYTES:
        return no(f"it computes quantized int8/uint8, not {y}")
    if y.dtype is DType.BOOL or (layer.op in ("Sum", "Mean") and not _is_real(layer)):
        return no(f"it does not compute {y}")
    return YES if broadcasts(layer) else no("its shapes do not fit together")


def _is_real(layer: Layer) -> bool:
    return layer.output.type.dtype.is_float or layer.output.type.is_quantized


def _create(layer: Layer) -> Workload:
    y = layer.output.type
    is_scaled = y.is_quantized and not picks(layer)
    ctype = "float" if is_scaled else y.dtype.c_type
    names = element_names(len(layer.inputs))
    values = [
        real_operand(layer.input(index), name) if is_scaled else name
        for index, name in enumerate(names)
    ]
    lines = [f"{ctype} value = {values[0]};"]
    for index, value in enumerate(values[1:], 1):
        if layer.op in ("Sum", "Mean"):
            lines.append(f"value += {value};")
            continue
        if is_scaled:
            lines.append(f"const float v{index} = {value};")
            value = f"v{index}"
        nan = " || value != value" if y.dtype.is_float else ""
        lines.append(f"value = value {_SYMBOLS[layer.op]} {value}{nan} ? value : {value};")
    if layer.op == "Mean" and len(values) > 1:
        lines.append(f"value /= {float_literal(len(values))};")
    if not is_scaled:
        return pointwise(layer, y.dtype.value, Expression("value", tuple(lines)))
    out = output_quantization(layer)
    result = out.store(f"value / {out.scale}")
    return pointwise(layer, y.dtype.value, Expression(result, tuple(lines), (QUANTIZE,)))


KERNELS = tuple(
    Kernel(op, _supports, _create, LayoutRule.SAME) for op in ("Max", "Min", "Sum", "Mean")
)
