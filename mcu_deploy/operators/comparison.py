"""Comparisons with broadcasting: Less-13, LessOrEqual-16, Greater-13, Equal-19 and their kin.

Between QDQ nodes real numbers are compared: no operator here takes part in a sandwich. Any relation
with NaN is false.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator, of_two


def _is_nan(call: Call) -> list[Array]:
    """IsNaN-20."""
    return [np.isnan(call.value(0))]


def infinities(call: Call) -> tuple[bool, bool]:
    """Whether IsInf looks for the negative and for the positive infinity."""
    return (
        bool(call.attributes.get("detect_negative", 1)),
        bool(call.attributes.get("detect_positive", 1)),
    )


def _is_inf(call: Call) -> list[Array]:
    """IsInf-20."""
    negative, positive = infinities(call)
    x = call.value(0)
    return [(np.isneginf(x) & negative) | (np.isposinf(x) & positive)]


OPERATORS = (
    of_two("Less", lambda a, b: a < b),
    of_two("LessOrEqual", lambda a, b: a <= b),
    of_two("Greater", lambda a, b: a > b),
    of_two("GreaterOrEqual", lambda a, b: a >= b),
    of_two("Equal", lambda a, b: a == b),
    Operator("IsNaN", _is_nan),
    Operator("IsInf", _is_inf),
)
