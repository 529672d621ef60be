"""Binary arithmetic with broadcasting, and unary functions (a table of 256 for quantized ones)."""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.CpuRef.kernels import exact
from mcu_deploy.backends.CpuRef.kernels.base import (
    BYTES,
    QUANTIZED,
    Kernel,
    call,
    compute,
    render,
    view,
)
from mcu_deploy.backends.interface import (
    YES,
    Constant,
    Layer,
    LayoutRule,
    Operand,
    Parameter,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit import overlap, reals
from mcu_deploy.backends.kit.arguments import OUTPUT, Prototype, constant_argument
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus
from mcu_deploy.backends.kit.requantization import clamp_lines, output_quantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import broadcast_loops
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.ir import DType
from mcu_deploy.operators.elementwise import UNARY, clip_bounds, unary_table
from mcu_deploy.operators.tables import answers

_SYMBOLS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}


def real_operand(operand: Operand, name: str) -> str | None:
    """C for an operand's element as a float; None where its type is not known."""
    type_ = operand.type
    if type_.dtype is DType.FLOAT32:
        return name
    if type_.dtype in QUANTIZED and type_.quantization is not None:
        quantization = type_.quantization
        scale = float_literal(quantization.scale[0])
        return f"(float){_parenthesize(without_zero(name, quantization.zero_point[0]))} * {scale}"
    return None


def _parenthesize(text: str) -> str:
    return (
        text if text.startswith("(") or text.isidentifier() or text.endswith("]") else f"({text})"
    )


def _supports_binary(layer: Layer) -> Support:
    if exact.is_exact(layer):
        return exact.supports(layer)
    for operand in (layer.input(0), layer.input(1), layer.output):
        type_ = operand.type
        if type_.dtype is DType.FLOAT32:
            continue
        if type_.dtype not in QUANTIZED or type_.quantization is None:
            return no(f"it computes float32 and quantized int8/uint8/int16, not {type_}")
        if not type_.quantization.per_tensor:
            return no("an operand is quantized per axis")
    if layer.input(0).constant is not None and layer.input(1).constant is not None:
        return no("its operands are constants, both")
    return YES


def _binary(layer: Layer) -> Workload:
    if exact.is_exact(layer):
        return exact.binary(layer)
    a, b, y = layer.input(0), layer.input(1), layer.output
    loops = broadcast_loops(y.type, (a.type, b.type))
    left, right = real_operand(a, f"a[{loops.index(0)}]"), real_operand(b, f"b[{loops.index(1)}]")
    quantized = y.type.is_quantized
    values: dict[str, object] = {
        "extents": loops.extents,
        "left": left,
        "right": right,
        "symbol": _SYMBOLS[layer.op],
        "clamp": clamp_lines(layer, "value"),
        "quantized": quantized,
    }
    if quantized:
        out = output_quantization(layer)
        values |= {"store": out.store, "scale": out.scale, "clamp": ""}
    name = stem(layer.op.lower(), y.type.dtype.value, *loops.extents)
    lowest = [overlap.strided(loops.extents, steps) for steps in loops.steps]
    helpers = (QUANTIZE,) if quantized else ()
    return compute(
        layer, name, render("binary.c.j2", **values), helpers=helpers,
        in_place=overlap.in_place(layer, *lowest), operands={"a": 0, "b": 1},
    )  # fmt: skip


def _clipped(layer: Layer) -> str:
    """The float `a` between constant bounds."""
    low, high = clip_bounds(layer.call)
    text = "a"
    if math.isfinite(low):
        text = f"(a < {float_literal(low)} ? {float_literal(low)} : a)"
    if math.isfinite(high):
        text = f"({text} > {float_literal(high)} ? {float_literal(high)} : {text})"
    return text


def _has_computed_bounds(layer: Layer) -> bool:
    computed = (o is not None and o.constant is None for o in layer.inputs[1:])
    return layer.op == "Clip" and any(computed)


def _supports_unary(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    bounded = not {"min", "max"} & set(layer.attributes)  # by inputs, since opset 11
    if layer.op == "Clip" and exact.is_exact(layer) and (y.dtype.is_integer or bounded):
        return exact.supports(layer)
    if _has_computed_bounds(layer):
        is_plain = y.dtype.is_float and "activation" not in layer.attributes
        return exact.supports(layer) if is_plain else no("its bounds are computed at run time")
    if layer.op == "Identity" and x == y:
        return YES
    if exact.is_exact(layer) and exact.has_unary(layer):
        return exact.supports(layer)
    if x.dtype in BYTES and y.dtype in BYTES and x.is_quantized and y.is_quantized:
        per_tensor = x.scaling.per_tensor
        return YES if per_tensor else no("its input is quantized per axis")
    if x.dtype is DType.FLOAT32 and y.dtype is DType.FLOAT32:
        return YES
    return no(f"it computes float32 and quantized int8/uint8, not {x}")


def _unary(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    if layer.op == "Identity" and x.type.quantization == y.type.quantization:
        if x.constant is None:
            return view()
        return _copy_constant(layer)
    if layer.op == "Clip" and (exact.is_exact(layer) or _has_computed_bounds(layer)):
        return exact.clip(layer)
    if exact.is_exact(layer):
        return exact.unary(layer)
    if y.type.is_quantized:
        return table(layer, unary_table(layer.call))
    clips = layer.op == "Clip"
    expression = _clipped(layer) if clips else reals.function(layer.op, layer.attributes)
    expression, helpers = reals.own(expression)
    body = render(
        "unary.c.j2", elements=x.type.elements, expression=expression,
        clamp=clamp_lines(layer, "value"),
    )  # fmt: skip
    headers = ("math.h", "string.h") if helpers or "f(" in expression else ()
    in_place = overlap.in_place(layer, np.arange(x.type.elements))
    name = stem(layer.op.lower(), "float32", x.type.elements)
    return compute(layer, name, body, (), helpers, headers, in_place)


def table(layer: Layer, elements: Array) -> Workload:
    """A function of a byte. elements [256]: the output's element for each byte of the input."""
    x, y = layer.input(0), layer.output
    i = counter("i", x.type.elements)
    return compute(
        layer, stem("table", f"{x.type.dtype.value}_{y.type.dtype.value}", x.type.elements),
        render("element.c.j2", i=i, element=f"table[(uint8_t)x[{plus(i)}]]"),
        (Constant("table", elements, 1),),
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


def _looked_up(layer: Layer) -> Workload:
    return table(layer, answers(layer.call))


def _copy_constant(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    given = Prototype(layer, [Constant("value", x.memory)])
    given.add(Parameter("const void *", "x"), constant_argument(0))
    given.add(Parameter("void *", "y"), OUTPUT)
    body = f"{{\n    memcpy(y, x, {y.type.bytes});\n}}"
    return call(stem("copy", "", y.type.bytes), body, given, headers=("string.h",))


KERNELS = (
    *(Kernel(op, _supports_binary, _binary, LayoutRule.SAME) for op in _SYMBOLS),
    *(
        Kernel(op, _supports_unary, _unary, LayoutRule.SAME)
        for op in (*UNARY, "Clip", "Identity")
    ),
    Kernel("Table", lambda layer: YES, _looked_up, LayoutRule.SAME, "mcu"),
)  # fmt: skip
