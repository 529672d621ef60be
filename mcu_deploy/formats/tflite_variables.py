"""The variables of a TFLite file: tensors that live from run to run, which become states.

VAR_HANDLE names one, CALL_ONCE runs a subgraph with its first value, READ_VARIABLE and
ASSIGN_VARIABLE take their places among the other operators. A run that reads what the run before
assigned reads the state's input; what is assigned last is the state's output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcu_deploy.arithmetic import Array
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.ir import EdgeId, TensorType


@dataclass
class Variable:
    """A variable on the way through the operators.

    type: of what was read or assigned first. first: its value before the first run. state: the
    edge with what the run before left. now: the edge with its value here.
    """

    name: str
    type: TensorType | None = None
    first: Array | None = None
    state: EdgeId | None = None
    now: EdgeId | None = None

    def require_type(self, operation: Operation, tensor: TfliteTensor) -> None:
        """All that is read from a variable and assigned to it is alike."""
        self.type = self.type or tensor.type
        if tensor.type != self.type:
            raise operation.unsupported(
                f"has the tensor {tensor.name!r} of the type {tensor.type} for the variable "
                f"{self.name!r}, which is {self.type}",
                "A variable keeps its type, shape and scale; convert the model so.",
            )


class Variables:
    """The variables of a file, by name, and the handles of the network's own subgraph."""

    def __init__(self) -> None:
        self._by_name: dict[str, Variable] = {}
        self._handles: dict[int, Variable] = {}

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._by_name.values())

    def named(self, name: str) -> Variable:
        """The variable of this name, a new one where it is not known yet."""
        return self._by_name.setdefault(name, Variable(name))

    def new(self, name: str) -> Variable:
        """A variable that no other operator knows, of this name or one like it."""
        while name in self._by_name:
            name += "_"
        return self.named(name)

    def hand_out(self, handle: TfliteTensor, name: str) -> None:
        """A tensor stands for the variable of this name."""
        self._handles[handle.index] = self.named(name)

    def of(self, operation: Operation) -> Variable:
        """The variable whose handle an operator reads."""
        handle = operation.input(0)
        if handle.index not in self._handles:
            raise operation.damaged(f"its input {handle.name!r} stands for no variable")
        return self._handles[handle.index]
