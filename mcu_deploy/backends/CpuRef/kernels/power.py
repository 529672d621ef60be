"""Pow and Mod on floats and integers."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.base import Kernel
from mcu_deploy.backends.CpuRef.kernels.casting import from_real
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, broadcasts, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.ir import DType


def _supports(layer: Layer) -> Support:
    base, exponent, y = layer.input(0).type, layer.input(1).type, layer.output.type
    if base.dtype is not y.dtype or DType.BOOL in (base.dtype, exponent.dtype):
        return no(f"it does not compute {y} of {base} and {exponent}")
    if layer.op == "Mod" and base.dtype is not exponent.dtype:
        return no("its operands have different element types")
    return YES if broadcasts(layer) else no("its shapes do not fit together")


def _pow(layer: Layer) -> Workload:
    base, exponent = layer.input(0), layer.input(1)
    kind = f"{base.type.dtype.value}_{exponent.type.dtype.value}"
    return pointwise(layer, kind, _power(layer))


def _power(layer: Layer) -> Expression:
    base, exponent = layer.input(0).type.dtype, layer.input(1)
    if base.is_integer and exponent.type.dtype.is_integer:
        return integers.power(base, exponent.type.dtype)
    if base.is_integer:
        real = "const double real = pow((double)a, (double)b);"
        result = from_real(DType.FLOAT64, base, "real")
        return Expression(result, (real,), headers=("math.h", "stdint.h"))
    function = "powf" if base is DType.FLOAT32 else "pow"
    return Expression(f"{function}(a, ({base.c_type})b)", headers=("math.h",))


def _mod(layer: Layer) -> Workload:
    dtype = layer.output.type.dtype
    of_dividend = bool(layer.attributes.get("fmod", 0))
    if dtype.is_float:
        expression = _real_remainder(dtype, of_dividend)
    else:
        expression = integers.remainder(dtype, of_dividend)
    return pointwise(layer, dtype.value, expression)


def _real_remainder(dtype: DType, sign_of_dividend: bool) -> Expression:
    """The remainder of C's fmod, or the one that lies on the divisor's side of zero."""
    suffix, zero = ("f", "0.0F") if dtype is DType.FLOAT32 else ("", "0.0")
    rest = f"fmod{suffix}(a, b)"
    if sign_of_dividend:
        return Expression(rest, headers=("math.h",))
    return Expression(
        f"rest == {zero} ? copysign{suffix}({zero}, b) : "
        f"(rest < {zero}) != (b < {zero}) ? rest + b : rest",
        (f"const {dtype.c_type} rest = {rest};",),
        headers=("math.h",),
    )


KERNELS = (
    Kernel("Pow", _supports, _pow, LayoutRule.SAME),
    Kernel("Mod", _supports, _mod, LayoutRule.SAME),
)
