"""Pow-15 and Mod-13 (of floats with `fmod` 0 as well), with broadcasting."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators import integers
from mcu_deploy.operators.base import Call, Operator


def _pow(call: Call) -> list[Array]:
    """The base's type is the result's. Computed in float64 and rounded once, integers exactly."""
    base, exponent = call.value(0), call.value(1)
    if base.dtype.kind in "iu" and exponent.dtype.kind in "iu":
        return [integers.power(base, exponent)]
    real = np.power(base.astype(np.float64), exponent.astype(np.float64))
    if base.dtype.kind in "iu":
        return [integers.from_real(real, base.dtype)]
    return [real.astype(base.dtype)]


def _mod(call: Call) -> list[Array]:
    a, b, of_dividend = call.value(0), call.value(1), bool(call.attributes.get("fmod", 0))
    if call.type(0).dtype.is_integer:
        return [integers.remainder(a, b, of_dividend)]
    return [np.asarray(np.fmod(a, b) if of_dividend else np.mod(a, b))]


OPERATORS = (Operator("Pow", _pow), Operator("Mod", _mod))
