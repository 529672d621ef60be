"""Functions of one int8 element of TFLite models: a table of 256 entries."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, rule
from mcu_deploy.backends.CpuRef.kernels.elementwise import table
from mcu_deploy.backends.CpuRef.kernels.tflite_conv import supports_bytes
from mcu_deploy.backends.interface import Layer, LayoutRule, Workload
from mcu_deploy.operators.tflite_functions import OPERATORS, function_table


def _create(layer: Layer) -> Workload:
    return table(layer, function_table(layer.call))


KERNELS = tuple(
    Kernel(operator.name, supports_bytes, rule(LayoutRule.SAME), _create, "tflite")
    for operator in OPERATORS
)
