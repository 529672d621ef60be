"""Elementwise arithmetic on integers that stand for themselves, and on float64."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, broadcasts, pointwise
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit import reals
from mcu_deploy.ir import DType
from mcu_deploy.operators.elementwise import INTEGER_UNARY

_SYMBOLS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}


def is_exact(layer: Layer) -> bool:
    """Whether a layer computes integers without a scale, or float64."""
    y = layer.output.type
    if y.dtype.is_integer:
        return not y.is_quantized
    return y.dtype is DType.FLOAT64 and "activation" not in layer.attributes


def supports(layer: Layer) -> Support:
    """Whether its operands are of the output's type, and broadcast to it."""
    y = layer.output.type
    given = [operand.type for operand in layer.inputs if operand is not None]
    if any(t.dtype is not y.dtype for t in given):
        return no(f"it does not compute {y.dtype.value} of {', '.join(str(t) for t in given)}")
    if layer.op == "Clip":
        fits = layer.input(0).type.shape == y.shape and all(t.elements == 1 for t in given[1:])
        return YES if fits else no("its bounds are not one number each")
    return YES if broadcasts(layer) else no("its shapes do not fit together")


def has_unary(layer: Layer) -> bool:
    """Whether a unary function is known for the type."""
    return layer.op in (INTEGER_UNARY if layer.output.type.dtype.is_integer else reals.PLAIN)


def binary(layer: Layer) -> Workload:
    """Add, Sub, Mul and Div."""
    dtype = layer.output.type.dtype
    if not dtype.is_integer:
        result = f"a {_SYMBOLS[layer.op]} b"
    elif layer.op == "Div":
        result = integers.divide(dtype)
    else:
        result = integers.wrapped(dtype, "a", _SYMBOLS[layer.op], "b")
    return pointwise(layer, dtype.value, Expression(result))


def unary(layer: Layer) -> Workload:
    """Abs, Neg, Relu and Sign; of float64 a few more."""
    dtype = layer.output.type.dtype
    if dtype.is_integer:
        expression = Expression(integers.unary(layer.op, dtype))
    else:
        expression = Expression(reals.in_double(reals.PLAIN[layer.op]), headers=("math.h",))
    return pointwise(layer, dtype.value, expression)


def clip(layer: Layer) -> Workload:
    """Clip between numbers of the type, which may be computed at run time."""
    ctype, lines, result = layer.output.type.dtype.c_type, [], "a"
    chosen = [k for k in (1, 2) if layer.optional(k) is not None]
    for bound, index in zip("bc", chosen, strict=False):
        beyond = f"{result} {'<>'[index - 1]} {bound}"
        lines.append(f"const {ctype} v{index} = {beyond} ? {bound} : {result};")
        result = f"v{index}"
    kind = layer.output.type.dtype.value
    return pointwise(layer, kind, Expression(result, tuple(lines)), (0, *chosen))
