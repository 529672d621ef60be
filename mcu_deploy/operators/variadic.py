"""Any number of tensors, element by element with broadcasting: Max-13, Min-13, Sum-13, Mean-13."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def _fold(call: Call, function: Callable[[Array, Array], Array]) -> Array:
    """The function of the first two, of that and the third, and so on."""
    return functools.reduce(function, [v for v in call.values if v is not None])


def _variadic(name: str, function: Callable[[Array, Array], Array], *, exact: bool) -> Operator:
    def evaluate(call: Call) -> list[Array]:
        return [np.broadcast_to(_fold(call, function), call.results[0].shape)]

    return Operator(name, evaluate, quantized="real", broadcasts=True, monotone=True, exact=exact)


def _mean(call: Call) -> list[Array]:
    total = _fold(call, np.add)
    return [np.asarray(total / total.dtype.type(len(call.values)))]


OPERATORS = (
    # NaN in any of them gives NaN.
    _variadic("Max", np.maximum, exact=True),
    _variadic("Min", np.minimum, exact=True),
    _variadic("Sum", np.add, exact=False),
    Operator("Mean", _mean, quantized="real", broadcasts=True, monotone=True),
)
