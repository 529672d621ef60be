"""A function of a byte that the compiler made of several operators (`passes/tables.py`)."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator


def answers(call: Call) -> Array:
    """[256]: the output's element for each byte of the input."""
    table = np.array(call.attributes["table"], np.uint8)
    return table.view(call.results[0].dtype.numpy)


OPERATORS = (
    Operator(
        "Table", lambda call: [answers(call)[call.value(0).view(np.uint8)]], domain="mcu",
        elementwise=True,
    ),
)  # fmt: skip
