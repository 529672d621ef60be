"""How a layer's inputs reach a kernel: computed ones by their place, constants as arrays."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.CpuRef.kernels.base import constant_argument
from mcu_deploy.backends.interface import Argument, Constant, Layer, Role


def passed(
    layer: Layer, indices: Sequence[int]
) -> tuple[tuple[Argument, ...], tuple[Constant, ...]]:
    """The arguments for these inputs, and the arrays of those that are constants."""
    arguments: list[Argument] = []
    constants: list[Constant] = []
    for index in indices:
        operand = layer.input(index)
        if operand.constant is None:
            arguments.append(Argument(Role.INPUT, index))
            continue
        arguments.append(constant_argument(len(constants)))
        alignment = max(4, operand.type.dtype.bytes)
        constants.append(Constant("operand", operand.memory, alignment))
    return tuple(arguments), tuple(constants)
