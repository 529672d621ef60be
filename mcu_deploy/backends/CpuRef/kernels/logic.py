"""Operators on truth values (bytes of 0 and 1) and on the bits of integers, and Where."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, broadcasts, narrow, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.ir import DType

_EXPRESSIONS = {
    "And": "(uint8_t)(a && b)",
    "Or": "(uint8_t)(a || b)",
    "Xor": "(uint8_t)(a != b)",
    "Not": "(uint8_t)(!a)",
    "Where": "a ? b : c",
    "BitwiseAnd": "a & b",
    "BitwiseOr": "a | b",
    "BitwiseXor": "a ^ b",
    "BitwiseNot": "~a",
}


def _supports(layer: Layer) -> Support:
    y = layer.output.type.dtype
    given = [layer.input(index).type.dtype for index in range(len(layer.inputs))]
    if layer.op == "Where":
        wanted = len(given) == 3 and given[0] is DType.BOOL and {*given[1:]} == {y}
    elif layer.op.startswith("Bit"):
        wanted = {*given} == {y} and y.is_integer
    else:
        wanted = {*given, y} == {DType.BOOL}
    if not wanted:
        return no(f"it does not compute {', '.join(d.value for d in given)}")
    return YES if broadcasts(layer) else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    result = _EXPRESSIONS[layer.op]
    dtype = layer.output.type.dtype
    if dtype is not DType.BOOL:
        result = narrow(dtype, result)
    return pointwise(layer, dtype.value, Expression(result))


def _bit_shift(layer: Layer) -> Workload:
    """C leaves shifts by the width or more open, and those by less than nothing."""
    dtype = layer.output.type.dtype
    width, is_signed = 8 * dtype.bytes, dtype.value.startswith("int")
    wide = "uint64_t" if dtype.bytes == 8 else "uint32_t"
    inside = f"b >= 0 && b < {width}" if is_signed else f"b < {width}"
    if layer.attributes.get("direction") == "LEFT":
        result = f"({dtype.c_type})({inside} ? ({wide})a << b : 0)"
    else:
        # gcc fills the right shift of a negative number with ones.
        result = narrow(dtype, f"{inside} ? a >> b : {'a < 0 ? -1 : 0' if is_signed else '0'}")
    return pointwise(layer, dtype.value, Expression(result))


KERNELS = (
    *(Kernel(op, _supports, _create, LayoutRule.SAME) for op in _EXPRESSIONS),
    Kernel("BitShift", _supports, _bit_shift, LayoutRule.SAME),
)
