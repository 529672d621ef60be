"""Functions of one float by the C library, PRelu and LogSoftmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render
from mcu_deploy.backends.CpuRef.kernels.exact import in_double
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, broadcasts, pointwise
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.functions import rows_of

_LIBRARY = {
    "Log": "logf", "Round": "rintf", "Sin": "sinf", "Cos": "cosf", "Tan": "tanf",
    "Asin": "asinf", "Acos": "acosf", "Atan": "atanf", "Sinh": "sinhf", "Cosh": "coshf",
    "Asinh": "asinhf", "Acosh": "acoshf", "Atanh": "atanhf",
}  # fmt: skip


def _number(attributes: Mapping[str, Any], name: str, default: float) -> str:
    return float_literal(float(attributes.get(name, default)))


def _selu(a: Mapping[str, Any]) -> str:
    alpha, gamma = _number(a, "alpha", 1.6732631921768188), _number(a, "gamma", 1.0507010221481323)
    return f"{gamma} * (a > 0.0F ? a : {alpha} * expm1f(a))"


def _celu(a: Mapping[str, Any]) -> str:
    alpha = _number(a, "alpha", 1.0)
    return f"a > 0.0F ? a : {alpha} * expm1f(a / {alpha})"


def _thresholded(a: Mapping[str, Any]) -> str:
    return f"a > {_number(a, 'alpha', 1.0)} ? a : 0.0F"


def _shrink(a: Mapping[str, Any]) -> str:
    lambd, bias = _number(a, "lambd", 0.5), _number(a, "bias", 0.0)
    return f"a < -({lambd}) ? a + {bias} : a > {lambd} ? a - {bias} : 0.0F"


def _swish(a: Mapping[str, Any]) -> str:
    return f"a / (1.0F + expf(-({_number(a, 'alpha', 1.0)}) * a))"


_EXPRESSIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "Mish": lambda a: "a * tanhf(fmaxf(a, 0.0F) + log1pf(expf(-fabsf(a))))",
    "Selu": _selu,
    "Celu": _celu,
    "ThresholdedRelu": _thresholded,
    "Shrink": _shrink,
    "Swish": _swish,
    "PRelu": lambda a: "a < 0.0F ? a * b : a",
}


def _supports(layer: Layer) -> Support:
    types = [layer.input(k).type for k in range(len(layer.inputs))]
    dtype = layer.output.type.dtype
    for type_ in (*types, layer.output.type):
        known = dtype is DType.FLOAT32 or (dtype is DType.FLOAT64 and layer.op in _LIBRARY)
        if type_.dtype is not dtype or not known:
            return no(f"it computes float32, not {type_}")
    return YES if broadcasts(layer) else no("its shapes do not fit together")


def _create(layer: Layer) -> Workload:
    dtype = layer.output.type.dtype
    if layer.op in _LIBRARY:
        result = f"{_LIBRARY[layer.op]}(a)"
    else:
        result = _EXPRESSIONS[layer.op](layer.attributes)
    headers = ("math.h",) if "f(" in result else ()
    result = in_double(result) if dtype is DType.FLOAT64 else result
    return pointwise(layer, dtype.value, Expression(result, headers=headers))


def _supports_log_softmax(layer: Layer) -> Support:
    x, y = layer.input(0), layer.output.type
    if x.type.dtype is not DType.FLOAT32:
        return no(f"it computes float32, not {x.type}")
    if x.constant is not None or not y.elements:
        return no("its input is a constant or has no elements")
    return YES if x.type.shape == y.shape else no("its shapes do not fit together")


def _log_softmax(layer: Layer) -> Workload:
    outer, size, inner = rows_of(layer.call)
    body = render("log_softmax.c.j2", outer=outer, size=size, inner=inner)
    order = overlap.nested(
        np.arange(outer) * size * inner, np.arange(inner), np.arange(size) * inner
    )
    return compute(
        layer, stem("log_softmax", "float32", size), body, headers=("math.h",),
        in_place=overlap.in_place(layer, order, written=order),
    )  # fmt: skip


KERNELS = (
    *(Kernel(op, _supports, _create, LayoutRule.SAME) for op in (*_LIBRARY, *_EXPRESSIONS)),
    Kernel("LogSoftmax", _supports_log_softmax, _log_softmax),
)
