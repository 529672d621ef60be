"""Functions of one float32 `a`, in C."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from mcu_deploy.backends.interface import CFunction
from mcu_deploy.backends.kit.c_functions import EXPONENTIAL
from mcu_deploy.backends.kit.literals import float_literal

_OF_THE_LIBRARY = {
    "Log": "logf", "Round": "rintf", "Sin": "sinf", "Cos": "cosf", "Tan": "tanf",
    "Asin": "asinf", "Acos": "acosf", "Atan": "atanf", "Sinh": "sinhf", "Cosh": "coshf",
    "Asinh": "asinhf", "Acosh": "acoshf", "Atanh": "atanhf",
}  # fmt: skip

# Those of a float64 too: without a number that float32 would round.
PLAIN = {
    "Relu": "a < 0.0F ? 0.0F : a",
    "Sigmoid": "1.0F / (1.0F + expf(-a))",
    "Tanh": "tanhf(a)",
    "Erf": "erff(a)",
    "Exp": "expf(a)",
    "Abs": "fabsf(a)",
    "Neg": "-a",
    "Floor": "floorf(a)",
    "Ceil": "ceilf(a)",
    "Sqrt": "sqrtf(a)",
    "Sign": "a > 0.0F ? 1.0F : a < 0.0F ? -1.0F : a",
    "Reciprocal": "1.0F / a",
    "Softsign": "a / (1.0F + fabsf(a))",
    "Softplus": "(a > 0.0F ? a : 0.0F) + log1pf(expf(-fabsf(a)))",
    "Identity": "a",
    **{op: f"{function}(a)" for op, function in _OF_THE_LIBRARY.items()},
}


def _clamped(real: str) -> str:
    """A real number clamped to 0 ... 1; NaN stays NaN, which fminf would drop."""
    return f"{real} < 0.0F ? 0.0F : {real} > 1.0F ? 1.0F : {real}"


# The rest, with the names of attributes for their numbers, and these numbers' defaults. PRelu's
# slope is `b`.
_WITH_NUMBERS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "LeakyRelu": ("a < 0.0F ? alpha * a : a", {"alpha": 0.01}),
    "PRelu": ("a < 0.0F ? a * b : a", {}),
    "ThresholdedRelu": ("a > alpha ? a : 0.0F", {"alpha": 1.0}),
    "Elu": ("a < 0.0F ? alpha * expm1f(a) : a", {"alpha": 1.0}),
    "Celu": ("a > 0.0F ? a : alpha * expm1f(a / alpha)", {"alpha": 1.0}),
    "Selu": (
        "gamma * (a > 0.0F ? a : alpha * expm1f(a))",
        {"alpha": 1.6732631921768188, "gamma": 1.0507010221481323},
    ),
    "Shrink": (
        "a < -(lambd) ? a + bias : a > lambd ? a - bias : 0.0F",
        {"lambd": 0.5, "bias": 0.0},
    ),
    "Swish": ("a / (1.0F + expf(-(alpha) * a))", {"alpha": 1.0}),
    "Mish": ("a * tanhf(fmaxf(a, 0.0F) + log1pf(expf(-fabsf(a))))", {}),
    "HardSigmoid": (_clamped("alpha * a + beta"), {"alpha": 0.2, "beta": 0.5}),
    "HardSwish": (f"a * ({_clamped(f'a * {float_literal(1 / 6)} + 0.5F')})", {}),
    "Gelu": (f"0.5F * a * (1.0F + erff(a * {float_literal(math.sqrt(0.5))}))", {}),
}

_GELU_BY_TANH = (
    f"0.5F * a * (1.0F + tanhf({float_literal(math.sqrt(2 / math.pi))}"
    " * (a + 0.044715F * a * a * a)))"
)


def function(op: str, attributes: Mapping[str, Any]) -> str:
    """The function of a node with these attributes."""
    if op in PLAIN:
        return PLAIN[op]
    if attributes.get("approximate") == "tanh":
        return _GELU_BY_TANH
    text, defaults = _WITH_NUMBERS[op]
    for name, default in defaults.items():
        text = re.sub(rf"\b{name}\b", float_literal(attributes.get(name, default)), text)
    return text


def of_value(op: str) -> str:
    """The function of `v`, with the names of attributes."""
    text = PLAIN[op] if op in PLAIN else _WITH_NUMBERS[op][0]
    return re.sub(r"\ba\b", "v", text)


_OWN = {"expf": "exponential", "tanhf": "hyperbolic_tangent"}


def own(expression: str) -> tuple[str, tuple[CFunction, ...]]:
    """The same without the C library's functions that the kit has quicker ones of, and these."""
    text = re.sub(r"\b(expf|tanhf)\(", lambda found: f"${_OWN[found[1]]}(", expression)
    count = 2 if "$hyperbolic_tangent" in text else 1 if "$exponential" in text else 0
    return text, EXPONENTIAL[:count]


def in_double(expression: str) -> str:
    """The same of a float64: numbers without F, and functions of C's library without their f."""
    return re.sub(r"(?<=\d)F|(?<=\w)f(?=\()", "", expression)
