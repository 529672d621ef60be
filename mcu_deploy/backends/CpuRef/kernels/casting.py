"""Cast and CastLike between any two element types; BitCast, which leaves the bytes alone."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, view
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit.narrow import Access, write
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
    kind = f"{source.value}_{target.value}"
    # CastLike's other input says the type alone.
    if not target.is_narrow:
        return pointwise(layer, kind, _converted(source.wide, target), (0,), widens=True)
    middle = target.wide
    if middle is not DType.FLOAT32 and source.wide.is_float:
        middle = DType.INT32  # of which the low bits are kept
    saturate = target is not source and bool(layer.attributes.get("saturate", 1))
    mode = str(layer.attributes.get("round_mode", "up"))

    def store(index: str, value: str) -> Access:
        return write(target, "y", index, value, saturate, mode)

    return pointwise(layer, kind, _converted(source.wide, middle), (0,), store, widens=True)


def _converted(source: DType, target: DType) -> Expression:
    """`a` of one type that C has as another one."""
    if target is DType.BOOL and source is not DType.BOOL:
        return Expression("(uint8_t)(a != 0)")
    if source.is_float and target.is_integer:
        result = f"({target.c_type})({from_real(source, target, 'a')})"
        return Expression(result, headers=("stdint.h",))
    return Expression("a" if target is source else f"({target.c_type})a")


def _layout(layer: Layer) -> LayoutRule:
    """Packed elements have no other order than their own."""
    packed = layer.input(0).type.dtype.is_packed or layer.output.type.dtype.is_packed
    return LayoutRule.NATURAL if packed else LayoutRule.SAME


def _supports_bits(layer: Layer) -> Support:
    x, y = layer.input(0), layer.output.type
    if x.constant is not None or x.type.shape != y.shape or x.type.dtype.bytes != y.dtype.bytes:
        return no("its input is a constant, or of another width than its output")
    return YES


KERNELS = (
    *(Kernel(op, _supports, _cast, _layout) for op in ("Cast", "CastLike")),
    Kernel("BitCast", _supports_bits, lambda layer: view(), LayoutRule.SAME),
)
