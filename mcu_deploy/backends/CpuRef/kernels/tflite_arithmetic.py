"""Add, Sub, Mul, Div, SquaredDifference and PRelu of TFLite models: integers scaled to one another,
with broadcasting."""

from __future__ import annotations

from mcu_deploy.arithmetic.tflite import Sum, product_multiplier, quotient_multiplier, scalar
from mcu_deploy.backends.CpuRef.kernels.base import BYTES, Kernel, compute, render
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import CLAMP, MULTIPLY, RECIPROCAL
from mcu_deploy.backends.kit.requantization import is_per_tensor, multiplied, saturated
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import broadcast_loops
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.ir import DType
from mcu_deploy.operators.tflite_arithmetic import prelu_factors


def _supports(layer: Layer) -> Support:
    for operand in (layer.input(0), layer.input(1), layer.output):
        if operand.type.dtype not in (*BYTES, DType.INT16) or not is_per_tensor(operand.type):
            return no(f"it computes int8/uint8/int16 quantized per tensor, not {operand.type}")
    if layer.op == "PRelu":
        wide = layer.input(0).type.dtype is DType.INT16
        fits = layer.output.type.dtype is layer.input(0).type.dtype
        if not fits or (wide and layer.input(1).type.dtype not in BYTES):
            return no("its input and output have different types, or its slopes 16 bits")
    elif (
        len({operand.type.dtype.bytes for operand in (*layer.inputs, layer.output) if operand}) > 1
    ):
        return no("its operands have 8 and 16 bits")
    if layer.input(0).constant is not None and layer.input(1).constant is not None:
        return no("its operands are constants, both")
    return YES


def _create(layer: Layer) -> Workload:
    a, b, y = layer.input(0), layer.input(1), layer.output
    loops = broadcast_loops(y.type, (a.type, b.type))
    elements = [
        without_zero(f"{'ab'[k]}[{loops.index(k)}]", scalar(operand.type)[1])
        for k, operand in enumerate((a, b))
    ]
    if layer.op == "Mul":
        left, right = elements
        scaled = multiplied("left * right", product_multiplier(a.type, b.type, y.type))
    elif layer.op == "PRelu":
        left, right = elements
        identity, negative = prelu_factors(layer.call)
        scaled = f"left >= 0 ? {multiplied('left', identity)} : "
        scaled += multiplied("left * right", negative)
    else:
        is_square = layer.op == "SquaredDifference"
        factors = (Sum.squared if is_square else Sum.of)(a.type, b.type, y.type)
        left, right = (
            multiplied(f"{element} * {1 << factors.before}", factor)
            for element, factor in zip(elements, (factors.left, factors.right), strict=True)
        )
        total = "left + right" if layer.op == "Add" else "left - right"
        if is_square:
            total = f"({total}) * ({total})"
        scaled = multiplied(total, factors.result)
    name = stem(layer.op.lower(), y.type.dtype.value, *loops.extents)
    body = render(
        "tflite_binary.c.j2", extents=loops.extents, left=left, right=right, scaled=scaled,
        element=saturated(layer, "scaled"),
    )  # fmt: skip
    lowest = [overlap.strided(loops.extents, steps) for steps in loops.steps]
    return compute(
        layer, name, body, helpers=(MULTIPLY, CLAMP),
        in_place=overlap.in_place(layer, *lowest), operands={"a": 0, "b": 1},
    )  # fmt: skip


def _supports_quotient(layer: Layer) -> Support:
    support = _supports(layer)
    if support and layer.output.type.dtype not in BYTES:
        return no("it divides int8 and uint8")
    return support


def _create_quotient(layer: Layer) -> Workload:
    a, b, y = layer.input(0), layer.input(1), layer.output
    loops = broadcast_loops(y.type, (a.type, b.type))
    left, right = (
        without_zero(f"{name}[{loops.index(k)}]", scalar(operand.type)[1])
        for k, (name, operand) in enumerate((("a", a), ("b", b)))
    )
    multiplier, shift = quotient_multiplier(a.type, b.type, y.type)
    body = render(
        "tflite_quotient.c.j2", extents=loops.extents, left=left, right=right,
        multiplier=multiplier, shift=31 - shift, element=saturated(layer, "scaled"),
    )  # fmt: skip
    lowest = [overlap.strided(loops.extents, steps) for steps in loops.steps]
    return compute(
        layer, stem("div", y.type.dtype.value, *loops.extents), body,
        helpers=(MULTIPLY, RECIPROCAL, CLAMP),
        in_place=overlap.in_place(layer, *lowest), operands={"a": 0, "b": 1},
    )  # fmt: skip


KERNELS = (
    *(
        Kernel(op, _supports, _create, LayoutRule.SAME, "tflite")
        for op in ("Add", "Sub", "Mul", "SquaredDifference", "PRelu")
    ),
    Kernel("Div", _supports_quotient, _create_quotient, LayoutRule.SAME, "tflite"),
)
