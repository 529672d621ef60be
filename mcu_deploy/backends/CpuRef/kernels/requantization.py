"""How a quantized kernel makes the output's element of an accumulator.

ONNX's operators multiply by a float32 factor and round once; those of the domain "tflite" multiply
by a 31-bit integer and shift, and round twice (docs/arithmetic.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array, multiplier
from mcu_deploy.arithmetic import tflite as arithmetic_tflite
from mcu_deploy.backends.c_functions import helper
from mcu_deploy.backends.CpuRef.kernels.base import (
    FOLDER,
    QUANTIZE,
    output_quantization,
)
from mcu_deploy.backends.CpuRef.kernels.loops import signed
from mcu_deploy.backends.interface import CFunction, Constant, Layer
from mcu_deploy.ir import TensorType

MULTIPLY = helper(FOLDER, "c/multiply_quantized.c")
CLAMP = helper(FOLDER, "c/clamp.c")


@dataclass(frozen=True)
class Requantization:
    """What a kernel adds to its own: constants, helpers, and C that makes an element of `sum`.

    scaled: a C declaration of `scaled`; element: the C expression that is stored.
    """

    constants: tuple[Constant, ...]
    helpers: tuple[CFunction, ...]
    scaled: str
    element: str


def requantization(layer: Layer, channel: str) -> Requantization:
    """For an accumulator of inputs 0 and 1; `channel` is the C index of the output's channel."""
    xq, wq = layer.input(0).type.quantization, layer.input(1).type.quantization
    yq = layer.output.type.quantization
    assert xq is not None
    assert wq is not None
    assert yq is not None
    if layer.domain != "tflite":
        factor = multiplier(xq, wq, yq)
        index = channel if factor.size > 1 else "0"
        return Requantization(
            (Constant("factor", factor),),
            (QUANTIZE,),
            f"const float scaled = (float)sum * factor[{index}];",
            output_quantization(layer).store("scaled"),
        )
    multipliers = (
        arithmetic_tflite.fully_connected_multipliers
        if layer.op == "FullyConnected"
        else arithmetic_tflite.convolution_multipliers
    )
    return _fixed_point(layer, *multipliers(xq, wq, yq), channel)


def _fixed_point(layer: Layer, factors: Array, shifts: Array, channel: str) -> Requantization:
    index = channel if factors.size > 1 else "0"
    constants = [
        Constant("multiplier", factors.astype(np.int32)),
        Constant("shift", np.maximum(-shifts, 0).astype(np.int8), 1),
    ]
    value, amounts = "sum", f"multiplier[{index}], shift[{index}]"
    if shifts.max() > 0:
        constants.append(Constant("left_shift", np.maximum(shifts, 0).astype(np.int8), 1))
        value = f"(int32_t)((uint32_t)sum << left_shift[{index}])"
    return Requantization(
        tuple(constants),
        (MULTIPLY, CLAMP),
        f"const int32_t scaled = $multiply_quantized({value}, {amounts});",
        saturated(layer, "scaled"),
    )


def saturated(layer: Layer, scaled: str) -> str:
    """C for the output's element of a scaled integer: plus the zero point, clamped."""
    y = layer.output.type
    low, high = arithmetic_tflite.activation_bounds(layer.call.activation, y)
    zero_point = arithmetic_tflite.scalar(y)[1]
    return f"({y.dtype.c_type})$clamp({scaled}{signed(zero_point)}, {low}, {high})"


def multiplied(value: str, factor: tuple[int, int]) -> str:
    """C for a value times a constant multiplier and shift."""
    multiplier_value, shift = factor
    if shift > 0:
        value = f"(int32_t)((uint32_t)({value}) << {shift})"
    return f"$multiply_quantized({value}, {multiplier_value}, {max(-shift, 0)})"


def is_per_tensor(type_: TensorType) -> bool:
    """Whether a tensor is quantized with one scale."""
    return type_.quantization is not None and type_.quantization.per_tensor
