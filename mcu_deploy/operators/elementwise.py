"""Element by element: binary arithmetic with broadcasting, and unary functions.

Quantized binary operators dequantize in float32, compute one float32 operation, apply the fused
clamp, and quantize. Quantized unary operators are tables: the function of each of the 256 values is
computed in float64 at compile time, rounded to float32, and quantized as QuantizeLinear does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array, clip, dequantize, quantize
from mcu_deploy.ir import TensorType
from mcu_deploy.operators import integers
from mcu_deploy.operators.base import FIRST, Call, Operator

Real = Callable[[float, Mapping[str, Any]], float]


def _div(a: Array, b: Array) -> Array:
    return integers.divide(a, b) if a.dtype.kind in "iu" else np.asarray(a / b)


def binary(name: str, function: Callable[[Array, Array], Array]) -> Operator:
    """Add-14, Sub-14, Mul-14, Div-14 with multidirectional broadcasting."""

    def evaluate(call: Call) -> list[Array]:
        result = function(call.value(0), call.value(1))
        return [clip(result, call.activation) if call.results[0].dtype.is_float else result]

    return Operator(
        name, evaluate, quantized="real", broadcasts=True, monotone=name != "Div", exact=True,
        takes_clamp=True,
    )  # fmt: skip


def _sigmoid(x: float, _: Mapping[str, Any]) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def _single(x: float) -> float:
    """Rounded to float32, as ONNX Runtime does after each operation of the hard functions."""
    return float(np.float32(x))


def _hard_sigmoid(x: float, a: Mapping[str, Any]) -> float:
    alpha, beta = _single(a.get("alpha", 0.2)), _single(a.get("beta", 0.5))
    return _clamped(_single(_single(alpha * x) + beta), 0.0, 1.0)


def _clamped(x: float, low: float, high: float) -> float:
    """NaN stays NaN; where the bounds cross the upper one holds."""
    x = low if x < low else x
    return high if x > high else x


def _softplus(x: float, _: Mapping[str, Any]) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _gelu(x: float, a: Mapping[str, Any]) -> float:
    if a.get("approximate", "none") == "tanh":
        return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


# From here on the exponential is beyond float64.
_LARGEST_EXPONENT = 709.78

# These round once, as IEEE 754 says.
_EXACT: Mapping[str, Real] = {
    "Relu": lambda x, a: max(x, 0.0),
    "LeakyRelu": lambda x, a: x if x >= 0 else _single(a.get("alpha", 0.01)) * x,
    "Abs": lambda x, a: abs(x),
    "Neg": lambda x, a: -x,
    "Floor": lambda x, a: float(np.floor(x)),
    "Ceil": lambda x, a: float(np.ceil(x)),
    "Sqrt": lambda x, a: math.sqrt(x) if x >= 0 else math.nan,
    "Sign": lambda x, a: math.copysign(1.0, x) if x != 0 and x == x else x,
    "Reciprocal": lambda x, a: 1.0 / x if x != 0 else math.copysign(math.inf, x),
}
UNARY: Mapping[str, Real] = {
    **_EXACT,
    "Sigmoid": _sigmoid,
    "Tanh": lambda x, a: math.tanh(x),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda x, a: x * _hard_sigmoid(x, {"alpha": 1 / 6}),
    "Elu": lambda x, a: x if x >= 0 else a.get("alpha", 1.0) * math.expm1(x),
    "Softplus": _softplus,
    "Softsign": lambda x, a: x / (1 + abs(x)),
    "Gelu": _gelu,
    "Erf": lambda x, a: math.erf(x),
    "Exp": lambda x, a: math.inf if x > _LARGEST_EXPONENT else math.exp(x),
}


# Of integers the lowest is its own negation and magnitude: results wrap around.
INTEGER_UNARY: Mapping[str, Callable[[Array], Array]] = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "Sign": np.sign,
}


def unary(name: str) -> Operator:
    """A unary operator; its function on real numbers stands in `UNARY`."""
    real = UNARY[name]

    def evaluate(call: Call) -> list[Array]:
        x = call.value(0)
        function = np.vectorize(lambda v: real(float(v), call.attributes), otypes=[np.float64])
        if call.is_quantized:
            return [apply_table(x, unary_table(call))]
        if name in INTEGER_UNARY and x.dtype.kind in "iu":
            return [INTEGER_UNARY[name](x)]
        with np.errstate(over="ignore"):
            result = (function(x) if x.size else x).astype(call.results[0].dtype.numpy)
        return [clip(result, call.activation)]

    return Operator(name, evaluate, quantized="native", elementwise=True, exact=name in _EXACT)


def unary_table(call: Call) -> Array:
    """The quantized output for each of the 256 input bit patterns, indexed by the byte."""
    x_type, y_type = call.type(0), call.results[0]
    inputs = np.arange(x_type.dtype.range[0], x_type.dtype.range[1] + 1)
    reals = dequantize(inputs, TensorType(x_type.dtype, inputs.shape, x_type.quantization))
    with np.errstate(over="ignore"):
        values = np.array([real_function(call, float(x)) for x in reals], dtype=np.float64)
        rounded = clip(values.astype(np.float32), call.activation)
    table = np.zeros(256, dtype=y_type.dtype.numpy)
    table[inputs & 0xFF] = quantize(
        rounded, TensorType(y_type.dtype, inputs.shape, y_type.quantization), call.activation
    )
    return table


def real_function(call: Call, x: float) -> float:
    """The unary operator's value at a real number, in float64."""
    if call.op == "Clip":
        low, high = clip_bounds(call)
        return min(max(x, low), high)
    if call.op == "Identity":
        return x
    return UNARY[call.op](x, call.attributes)


def apply_table(x: Array, table: Array) -> Array:
    """Looks each byte of an 8-bit tensor up."""
    return np.asarray(table[x.view(np.uint8)])


def clip_bounds(call: Call) -> tuple[float, float]:
    """The bounds of Clip-6 (attributes) and Clip-11 (inputs); absent ones are infinite."""
    low, high = call.optional(1), call.optional(2)
    return (
        float(call.attributes.get("min", -math.inf)) if low is None else float(low.item()),
        float(call.attributes.get("max", math.inf)) if high is None else float(high.item()),
    )


def _clip(call: Call) -> list[Array]:
    if call.is_quantized:
        return [apply_table(call.value(0), unary_table(call))]
    x = call.value(0)
    if x.dtype.kind in "iu":
        for bound, choose in ((call.optional(1), np.maximum), (call.optional(2), np.minimum)):
            x = x if bound is None else choose(x, bound)
        return [x]
    return [clip(clip(x, clip_bounds(call)), call.activation)]


def _identity(call: Call) -> list[Array]:
    if call.is_quantized and call.type(0).quantization != call.results[0].quantization:
        return [apply_table(call.value(0), unary_table(call))]
    return [call.value(0)]


OPERATORS = (
    binary("Add", np.add),
    binary("Sub", np.subtract),
    binary("Mul", np.multiply),
    binary("Div", _div),
    *(unary(name) for name in UNARY),
    Operator("Clip", _clip, quantized="native", elementwise=True, exact=True, real_parameters=True),
    Operator(
        "Identity",
        _identity,
        quantized="native",
        moves=FIRST,
        view=True,
        elementwise=True,
        copies=True,
    ),
)
