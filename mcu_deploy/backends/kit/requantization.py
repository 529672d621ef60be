"""How a kernel makes the output's element of an accumulator, or of a float.

ONNX's operators multiply by a float32 factor and round once; those of the domain "tflite" multiply
by a 31-bit integer and shift, and round twice (docs/arithmetic.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array, activation_bounds, largest_sums, multiplier
from mcu_deploy.arithmetic import tflite as arithmetic_tflite
from mcu_deploy.backends.interface import CFunction, Constant, Layer
from mcu_deploy.backends.kit.c_functions import CLAMP, MULTIPLY, MULTIPLY_WIDE, QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal, signed
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.tflite_arithmetic import is_wide


@dataclass(frozen=True)
class OutputQuantization:
    """How a kernel ends: the numbers that `quantize` and the store need."""

    low: str
    high: str
    zero_point: int
    scale: str
    ctype: str

    def store(self, scaled: str) -> str:
        """C for the output element of a float that was divided by the output's scale."""
        rounded = f"$quantize({scaled}, {self.low}, {self.high})"
        return f"({self.ctype})({rounded}{signed(self.zero_point)})"


def output_quantization(layer: Layer) -> OutputQuantization:
    """For a layer with a quantized output: clamp bounds without the zero point, as C literals."""
    y = layer.output.type
    zero = y.scaling.zero_point[0]
    low, high = activation_bounds(layer.call.activation, y)
    return OutputQuantization(
        float_literal(low - zero),
        float_literal(high - zero),
        zero,
        float_literal(y.scaling.scale[0]),
        y.dtype.c_type,
    )


def clamp_lines(layer: Layer, name: str) -> str:
    """C statements that clamp a float variable to the layer's fused activation."""
    low, high = layer.call.activation
    lines = []
    if math.isfinite(low):
        bound = float_literal(low)
        lines.append(f"{name} = {name} < {bound} ? {bound} : {name};")
    if math.isfinite(high):
        bound = float_literal(high)
        lines.append(f"{name} = {name} > {bound} ? {bound} : {name};")
    return "\n".join(lines)


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
    xq, wq = layer.input(0).type.scaling, layer.input(1).type.scaling
    yq = layer.output.type.scaling
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
        if layer.op in ("FullyConnected", "MatMul")
        else arithmetic_tflite.convolution_multipliers
    )
    return _fixed_point(layer, *multipliers(xq, wq, yq), channel)


def sums_are_wide(layer: Layer) -> bool:
    """Whether a layer of TFLite sums products up in 64 bits."""
    return layer.domain == "tflite" and is_wide(layer.op, layer.call.types)


def may_wrap(layer: Layer) -> bool:
    """Whether a sum of TFLite's of 32 bits, of an int16 x, has no room for what some x would give:
    it loses its upper bits then, as the oracle does, which C leaves undefined for its int32_t."""
    x, w, bias = layer.input(0), layer.input(1), layer.optional(2)
    if layer.domain != "tflite" or sums_are_wide(layer) or x.type.dtype is not DType.INT16:
        return False
    if w.constant is None:
        return False
    outputs = 1 if layer.op == "ConvTranspose" else 0
    sums = largest_sums(w.constant, outputs, 2**15, None if bias is None else bias.constant)
    return bool((sums >= 2**31).any())


def _fixed_point(layer: Layer, factors: Array, shifts: Array, channel: str) -> Requantization:
    index = channel if factors.size > 1 else "0"
    if sums_are_wide(layer):
        factors, shifts = arithmetic_tflite.wide_factor(factors, shifts)
        return Requantization(
            (
                Constant("multiplier", factors.astype(np.int16)),
                Constant("shift", shifts.astype(np.int8), 1),
            ),
            (MULTIPLY_WIDE, CLAMP),
            f"const int32_t scaled = $multiply_wide(sum, multiplier[{index}], shift[{index}]);",
            saturated(layer, "scaled"),
        )
    constants = [
        Constant("multiplier", factors.astype(np.int32)),
        Constant("shift", np.maximum(-shifts, 0).astype(np.int8), 1),
    ]
    value, amounts = "sum", f"multiplier[{index}], shift[{index}]"
    if shifts.max() > 0:
        constants.append(Constant("left_shift", np.maximum(shifts, 0).astype(np.int8), 1))
        value = f"(int32_t)((uint32_t)sum << left_shift[{index}])"
    elif may_wrap(layer):
        value = "(int32_t)sum"
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
