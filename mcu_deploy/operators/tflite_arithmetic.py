"""TFLite's quantized ADD, SUB and MUL, with broadcasting."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import (
    Integers,
    Sum,
    activation_bounds,
    multiply,
    product_multiplier,
    saturate,
    scalar,
)
from mcu_deploy.operators.base import Call, Operator


def _without_zero_point(call: Call, index: int) -> Integers:
    return call.value(index).astype(np.int64) - scalar(call.type(index))[1]


def _finish(call: Call, scaled: Integers) -> list[Array]:
    y = call.results[0]
    return [saturate(scaled, scalar(y)[1], activation_bounds(call.activation, y), y.dtype)]


def _sum(call: Call) -> list[Array]:
    factors = Sum.of(call.type(0), call.type(1), call.results[0])
    left = multiply(_without_zero_point(call, 0) << Sum.SHIFT, *factors.left)
    right = multiply(_without_zero_point(call, 1) << Sum.SHIFT, *factors.right)
    total = left + right if call.op == "Add" else left - right
    return _finish(call, multiply(total, *factors.result))


def _product(call: Call) -> list[Array]:
    factor = product_multiplier(call.type(0), call.type(1), call.results[0])
    product = _without_zero_point(call, 0) * _without_zero_point(call, 1)
    return _finish(call, multiply(product, *factor))


OPERATORS = (
    Operator("Add", _sum, domain="tflite"),
    Operator("Sub", _sum, domain="tflite"),
    Operator("Mul", _product, domain="tflite"),
)
