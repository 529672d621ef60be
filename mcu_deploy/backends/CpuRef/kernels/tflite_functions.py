"""Functions of one element of TFLite models: of int8 a table of 256 entries; LeakyRelu, Sigmoid and
Tanh of int16 are computed."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, either, render
from mcu_deploy.backends.CpuRef.kernels.elementwise import table
from mcu_deploy.backends.CpuRef.kernels.tflite_conv import supports_bytes
from mcu_deploy.backends.interface import YES, Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import CLAMP, LSTM, MULTIPLY
from mcu_deploy.backends.kit.loops import counter, plus
from mcu_deploy.backends.kit.requantization import is_per_tensor, multiplied, saturated
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.ir import DType
from mcu_deploy.operators.tflite_functions import (
    OPERATORS,
    LeakyRelu,
    function_table,
    sixteen_bit_factor,
)
from mcu_deploy.operators.tflite_lstm import sigmoid_table


def _create(layer: Layer) -> Workload:
    return table(layer, function_table(layer.call))


def _supports_sixteen(layer: Layer) -> Support:
    for type_ in (layer.input(0).type, layer.output.type):
        if type_.dtype is not DType.INT16 or not is_per_tensor(type_):
            return no(f"it computes int8/uint8, or int16 quantized per tensor, not {type_}")
    return YES


def _leaky_relu(layer: Layer) -> Workload:
    x = layer.input(0).type
    factors, i = LeakyRelu.of(layer.call), counter("i", x.elements)
    value = without_zero(f"x[{plus(i)}]", scalar(x)[1])
    below = ("-" if factors.negates else "") + multiplied(value, factors.slope)
    scaled = f"({value} >= 0 ? {multiplied(value, factors.identity)} : {below})"
    return compute(
        layer, stem("leaky_relu", layer.output.type.dtype.value, x.elements),
        render("element.c.j2", i=i, element=saturated(layer, scaled)), helpers=(MULTIPLY, CLAMP),
        in_place=overlap.in_place(layer, np.arange(x.elements)),
    )  # fmt: skip


def _interpolated(layer: Layer) -> Workload:
    """Sigmoid and Tanh, from the table that an LSTM's gates have."""
    x, y = layer.input(0).type, layer.output.type
    multiplier, shift = sixteen_bit_factor(layer.call)
    i, word = counter("i", x.elements), layer.op.lower()
    value = without_zero(f"x[{plus(i)}]", scalar(x)[1])
    scaled = f"{value} * {multiplier}"
    if shift:
        scaled = f"({scaled} + {1 << shift - 1}) >> {shift}"
    body = render(
        "tflite_interpolated.c.j2", i=i, value=value, multiplier=multiplier, shift=shift,
        scaled=scaled, is_tanh=layer.op == "Tanh", y_ctype=y.dtype.c_type,
    )  # fmt: skip
    return compute(
        layer, stem(word, y.dtype.value, x.elements), body,
        (Constant("table", sigmoid_table()),), LSTM,
        in_place=overlap.in_place(layer, np.arange(x.elements)),
    )  # fmt: skip


_SIXTEEN = {"LeakyRelu": _leaky_relu, "Sigmoid": _interpolated, "Tanh": _interpolated}

KERNELS = (
    *(
        Kernel(operator.name, supports_bytes, _create, LayoutRule.SAME, "tflite")
        for operator in OPERATORS
        if operator.name not in _SIXTEEN
    ),
    *(
        either(
            Kernel(name, supports_bytes, _create, LayoutRule.SAME, "tflite"),
            Kernel(name, _supports_sixteen, create, LayoutRule.SAME, "tflite"),
        )
        for name, create in _SIXTEEN.items()
    ),
)
