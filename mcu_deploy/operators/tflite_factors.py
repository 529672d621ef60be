"""Whether the scales of an operator of the domain "tflite" make factors that its arithmetic has."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from mcu_deploy.arithmetic.tflite import (
    Integers,
    NoMultiplier,
    Sum,
    convolution_multipliers,
    fully_connected_multipliers,
    product_multiplier,
    quotient_multiplier,
    wide_factor,
)
from mcu_deploy.ir import Quantization, TensorType
from mcu_deploy.operators import tflite_softmax16
from mcu_deploy.operators.base import Call
from mcu_deploy.operators.tflite_arithmetic import is_wide, prelu_factors
from mcu_deploy.operators.tflite_functions import FUNCTIONS, function_factors
from mcu_deploy.operators.tflite_lstm import quantized_lstm
from mcu_deploy.operators.tflite_pool import reduction_multiplier
from mcu_deploy.operators.tflite_quantize import requantization
from mcu_deploy.operators.tflite_softmax import exponentials


def _scalings(call: Call) -> tuple[Quantization, Quantization, Quantization]:
    return call.type(0).scaling, call.type(1).scaling, call.results[0].scaling


def _types(call: Call) -> tuple[TensorType, TensorType, TensorType]:
    return call.type(0), call.type(1), call.results[0]


def _is_per_tensor(type_: TensorType | None) -> bool:
    return type_ is not None and type_.quantization is not None and type_.quantization.per_tensor


def _of_sums(call: Call, multiplier: Integers, shift: Integers) -> object:
    return wide_factor(multiplier, shift) if is_wide(call.op, call.types) else (multiplier, shift)


# What each operator makes of its scales, of the types alone.
_MADE: Mapping[str, Callable[[Call], object]] = {
    "Add": lambda call: Sum.of(*_types(call)),
    "Sub": lambda call: Sum.of(*_types(call)),
    "SquaredDifference": lambda call: Sum.squared(*_types(call)),
    "Mul": lambda call: product_multiplier(*_types(call)),
    "Div": lambda call: quotient_multiplier(*_types(call)),
    "PRelu": lambda call: prelu_factors(call),
    "Conv": lambda call: _of_sums(call, *convolution_multipliers(*_scalings(call))),
    "ConvTranspose": lambda call: _of_sums(call, *convolution_multipliers(*_scalings(call))),
    "FullyConnected": lambda call: _of_sums(call, *fully_connected_multipliers(*_scalings(call))),
    "MatMul": lambda call: _of_sums(call, *fully_connected_multipliers(*_scalings(call))),
    "ReduceMean": reduction_multiplier,
    "ReduceSum": reduction_multiplier,
    "Requantize": requantization,
    "Softmax": exponentials,
    "Softmax16": tflite_softmax16.factor,
    "UnidirectionalSequenceLstm": quantized_lstm,
    **dict.fromkeys(FUNCTIONS, function_factors),
}


def refusal(call: Call) -> str:
    """Why an operator cannot multiply by its factors, a clause; empty where it can, or where its
    tensors are not quantized as it wants them. The values of the call are not read."""
    make = _MADE.get(call.op)
    x, y = call.types[0], call.results[0]
    if make is None or not (_is_per_tensor(x) and _is_per_tensor(y)):
        return ""
    try:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            make(call)
    except NoMultiplier as reason:
        return str(reason)
    return ""
