"""The arguments of a call: tensors by their place, constants as arrays, numbers by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcu_deploy.backends.interface import Argument, Constant, Layer, Operand, Parameter, Role

INPUT = Argument(Role.INPUT)
OUTPUT = Argument(Role.OUTPUT)


def constant_argument(index: int) -> Argument:
    """The index-th of a workload's constants."""
    return Argument(Role.CONSTANT, index)


def scalar(value: float) -> Argument:
    """A number, for a parameter that is int32_t, uint32_t or float."""
    return Argument(Role.SCALAR, value=value)


def pointer(operand: Operand, name: str, const: bool = True) -> Parameter:
    """A pointer parameter to an operand's elements."""
    qualifier = "const " if const else ""
    return Parameter(f"{qualifier}{operand.type.dtype.c_type} *", name)


def signature(
    layer: Layer, constants: Sequence[Constant], operands: Mapping[str, int] | None = None
) -> tuple[list[Parameter], list[Argument], tuple[Constant, ...]]:
    """Parameters and arguments of a function that writes the layer's one output, `y`: pointers to
    its inputs, to that, and to constants, by their stems; and all constants. operands: which inputs
    these are, by what the function calls them; by default `x`, the first one."""
    operands = {"x": 0} if operands is None else operands
    given, arrays = passed(layer, [*operands.values()])
    parameters = [pointer(layer.input(index), name) for name, index in operands.items()]
    parameters.append(pointer(layer.output, "y", const=False))
    parameters += [Parameter(f"const {c.ctype} *", c.stem) for c in constants]
    everything = (*arrays, *constants)
    places = map(constant_argument, range(len(arrays), len(everything)))
    return parameters, [*given, OUTPUT, *places], everything


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
