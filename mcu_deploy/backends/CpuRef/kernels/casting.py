"""Cast and CastLike between any two element types; BitCast, which leaves the bytes alone."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, rule, view
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.ir import DType


def from_real(source: DType, target: DType, name: str) -> str:
    """C for a float as an integer: rounded towards zero, saturated, NaN as 0.

    The bounds are powers of two, which a float holds; C leaves open what is beyond them.
    """
    low, high = target.range
    upper, lower = (
        f"{float(v):.1f}{'F' if source is DType.FLOAT32 else ''}" for v in (high + 1, low)
    )
    macro = target.value.upper()
    smallest = f"{macro}_MIN" if low else "0"
    return (
        f"{name} != {name} ? 0 : {name} >= {upper} ? {macro}_MAX : "
        f"{name} < {lower} ? {smallest} : ({target.c_type}){name}"
    )


def _supports(layer: Layer) -> Support:
    if layer.input(0).type.shape != layer.output.type.shape:
        return no("its shapes do not fit together")
    return YES


def _cast(layer: Layer) -> Workload:
    source, target = layer.input(0).type.dtype, layer.output.type.dtype
    expression = Expression("a")
    if target is DType.BOOL and source is not DType.BOOL:
        expression = Expression("(uint8_t)(a != 0)")
    elif source.is_float and target.is_integer:
        result = f"({target.c_type})({from_real(source, target, 'a')})"
        expression = Expression(result, headers=("stdint.h",))
    elif target is not source:
        expression = Expression(f"({target.c_type})a")
    # CastLike's other input says the type alone.
    return pointwise(layer, f"{source.value}_{target.value}", expression, (0,))


def _supports_bits(layer: Layer) -> Support:
    x, y = layer.input(0), layer.output.type
    if x.constant is not None or x.type.shape != y.shape or x.type.dtype.bytes != y.dtype.bytes:
        return no("its input is a constant, or of another width than its output")
    return YES


KERNELS = (
    *(Kernel(op, _supports, rule(LayoutRule.SAME), _cast) for op in ("Cast", "CastLike")),
    Kernel("BitCast", _supports_bits, rule(LayoutRule.SAME), lambda layer: view()),
)
