"""Functions of one int8 element of TFLite models: a table of 256 entries."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, render, rule, workload
from mcu_deploy.backends.CpuRef.kernels.tflite_conv import supports_bytes
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    Layer,
    LayoutRule,
    Parameter,
    Workload,
)
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument, pointer
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.operators.tflite_functions import OPERATORS, function_table


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    function = CFunction(
        stem("table", f"{x.type.dtype.value}_{y.type.dtype.value}", x.type.elements),
        (
            pointer(x, "x"),
            pointer(y, "y", const=False),
            Parameter(f"const {y.type.dtype.c_type} *", "table"),
        ),
        render("table.c.j2", elements=x.type.elements),
    )
    return workload(
        layer, function, (INPUT, OUTPUT, constant_argument(0)),
        (Constant("table", function_table(layer.call), 1),),
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


KERNELS = tuple(
    Kernel(operator.name, supports_bytes, rule(LayoutRule.SAME), _create, "tflite")
    for operator in OPERATORS
)
