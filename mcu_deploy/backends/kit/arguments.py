"""The arguments of a call: tensors by their place, constants as arrays, numbers by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

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


class Prototype:
    """What a C function of a layer is given, in this order: parameters, what is passed for each,
    and the arrays among that, after those of a workload that are there already."""

    def __init__(self, layer: Layer, there: Sequence[Constant] = ()) -> None:
        self.layer = layer
        self.parameters: list[Parameter] = []
        self.arguments: list[Argument] = []
        self.constants = [*there]

    def add(self, parameter: Parameter, argument: Argument) -> Self:
        self.parameters.append(parameter)
        self.arguments.append(argument)
        return self

    def input(self, index: int, name: str, array: Constant | None = None) -> Self:
        """A pointer to an input; to an array where that is a constant, by default its memory."""
        operand = self.layer.input(index)
        parameter = pointer(operand, name)
        if operand.constant is None:
            return self.add(parameter, Argument(Role.INPUT, index))
        alignment = max(4, operand.type.dtype.bytes)
        return self._array(parameter, array or Constant("operand", operand.memory, alignment))

    def output(self, name: str = "y", index: int = 0) -> Self:
        parameter = pointer(self.layer.outputs[index], name, const=False)
        return self.add(parameter, Argument(Role.OUTPUT, index))

    def array(self, *constants: Constant) -> Self:
        """Pointers to constants, which are called by their stems."""
        for constant in constants:
            self._array(Parameter(f"const {constant.ctype} *", constant.stem), constant)
        return self

    def scratch(self, ctype: str, name: str = "scratch") -> Self:
        """A pointer to the scratch, as elements of a C type."""
        return self.add(Parameter(f"{ctype} *", name), Argument(Role.SCRATCH))

    def numbers(self, values: Mapping[str, int]) -> Self:
        """Integers by value, by what the function calls them."""
        for name, value in values.items():
            self.add(Parameter("int32_t", name), scalar(value))
        return self

    def _array(self, parameter: Parameter, constant: Constant) -> Self:
        self.constants.append(constant)
        return self.add(parameter, constant_argument(len(self.constants) - 1))


def signature(
    layer: Layer, constants: Sequence[Constant], operands: Mapping[str, int] | None = None
) -> Prototype:
    """Of a function that writes the layer's one output, `y`: pointers to its inputs, to that, and
    to constants, by their stems. operands: which inputs these are, by what the function calls them;
    by default `x`, the first one."""
    given = Prototype(layer)
    for name, index in ({"x": 0} if operands is None else operands).items():
        given.input(index, name)
    return given.output().array(*constants)
