"""Functions of one float: logarithm, trigonometry, rarer activations; PRelu-16 and LogSoftmax-13.

Between quantized tensors they stay float32 operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.normalization import softmax_extent

Real = Callable[[Array, Mapping[str, Any]], Array]


def _selu(x: Array, a: Mapping[str, Any]) -> Array:
    """Selu-6, with the default values that ONNX gives as float32."""
    alpha, gamma = a.get("alpha", 1.6732631921768188), a.get("gamma", 1.0507010221481323)
    return np.asarray(gamma * np.where(x > 0, x, alpha * np.expm1(x)))


def _celu(x: Array, a: Mapping[str, Any]) -> Array:
    alpha = a.get("alpha", 1.0)
    return np.where(x > 0, x, alpha * np.expm1(x / alpha))


def _shrink(x: Array, a: Mapping[str, Any]) -> Array:
    lambd, bias = a.get("lambd", 0.5), a.get("bias", 0.0)
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0.0))


def _swish(x: Array, a: Mapping[str, Any]) -> Array:
    return np.asarray(x / (1 + np.exp(-a.get("alpha", 1.0) * x)))


FUNCTIONS: Mapping[str, Real] = {
    "Log": lambda x, a: np.log(x),
    "Round": lambda x, a: np.rint(x),
    "Sin": lambda x, a: np.sin(x),
    "Cos": lambda x, a: np.cos(x),
    "Tan": lambda x, a: np.tan(x),
    "Asin": lambda x, a: np.arcsin(x),
    "Acos": lambda x, a: np.arccos(x),
    "Atan": lambda x, a: np.arctan(x),
    "Sinh": lambda x, a: np.sinh(x),
    "Cosh": lambda x, a: np.cosh(x),
    "Asinh": lambda x, a: np.arcsinh(x),
    "Acosh": lambda x, a: np.arccosh(x),
    "Atanh": lambda x, a: np.arctanh(x),
    "Mish": lambda x, a: x * np.tanh(np.logaddexp(x, 0)),
    "Selu": _selu,
    "Celu": _celu,
    "ThresholdedRelu": lambda x, a: np.where(x > a.get("alpha", 1.0), x, 0.0),
    "Shrink": _shrink,
    "Swish": _swish,
}


def _function(name: str) -> Operator:
    """In float64, rounded once to the element type."""

    def evaluate(call: Call) -> list[Array]:
        x = call.value(0)
        result = FUNCTIONS[name](x.astype(np.float64), call.attributes)
        return [np.asarray(result).astype(x.dtype)]

    return Operator(name, evaluate, elementwise=True, exact=name == "Round")


def _prelu(call: Call) -> list[Array]:
    x = call.value(0)
    return [np.where(x < 0, x * call.value(1), x)]


def _log_softmax(call: Call) -> list[Array]:
    x = call.value(0).reshape(softmax_extent(call)).astype(np.float64)
    shifted = x - x.max(axis=1, keepdims=True)
    result = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return [result.astype(call.value(0).dtype).reshape(call.results[0].shape)]


OPERATORS = (
    *(_function(name) for name in FUNCTIONS),
    Operator("PRelu", _prelu),
    Operator("LogSoftmax", _log_softmax),
)
