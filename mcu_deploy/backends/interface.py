"""What a backend is, and what it gives: workloads.

Documents 001 and 003 (Arm NN) name the parts: layer support with a reason, a workload factory.
A backend is stateless; the workloads it makes outlive it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy.typing as npt

from mcu_deploy.ir import EdgeId, Graph, Node, TensorType
from mcu_deploy.operators import Call, find


@dataclass(frozen=True)
class Operand:
    """An input or output of a layer: its edge, its type, and its value if it is a constant."""

    edge: EdgeId
    type: TensorType
    constant: npt.NDArray[Any] | None = None

    @property
    def memory(self) -> npt.NDArray[Any]:
        """A constant's value as it lies in memory."""
        assert self.constant is not None
        return self.type.to_memory(self.constant)


@dataclass(frozen=True)
class Layer:
    """A node as a backend sees it: operands with types and constants, attributes, cost."""

    node: Node
    inputs: tuple[Operand | None, ...]
    outputs: tuple[Operand, ...]
    attributes: Mapping[str, Any]
    opset: int

    @property
    def op(self) -> str:
        return self.node.op

    @property
    def name(self) -> str:
        return self.node.name

    def input(self, index: int) -> Operand:
        """An input that must be there."""
        operand = self.inputs[index]
        assert operand is not None, f"{self.name} needs input {index}"
        return operand

    def optional(self, index: int) -> Operand | None:
        return self.inputs[index] if index < len(self.inputs) else None

    @property
    def output(self) -> Operand:
        return self.outputs[0]

    @property
    def call(self) -> Call:
        """The operator call, with the values of constant inputs."""
        return Call(
            self.op,
            self.attributes,
            tuple(None if o is None else o.constant for o in self.inputs),
            tuple(None if o is None else o.type for o in self.inputs),
            tuple(o.type for o in self.outputs),
            self.opset,
        )

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one run."""
        operator = find(self.node.domain, self.op)
        call = self.call
        return 0 if operator is None else operator.macs(call.types, call.results, call.attributes)


def layer_of(graph: Graph, node: Node) -> Layer:
    """The layer view of a node."""

    def operand(edge: EdgeId) -> Operand:
        return Operand(edge, graph.type(edge), graph.constant(edge))

    return Layer(
        node,
        tuple(None if e is None else operand(e) for e in node.inputs),
        tuple(operand(e) for e in node.outputs if e is not None),
        graph.attributes(node.id),
        graph.opset,
    )


@dataclass(frozen=True)
class Support:
    """Whether a backend can compute a layer; the reason when it says no."""

    supported: bool
    reason: str = ""


YES = Support(True)


def no(reason: str) -> Support:
    """A refusal with its reason, a clause that completes "CpuRef: ..."."""
    return Support(False, reason)


class LayoutRule(enum.Enum):
    """How a backend wants the tensors of a layer to lie in memory."""

    NATURAL = "natural"
    CHANNELS_LAST = "channels last"
    SAME = "all alike"
    VIEW = "the output in the memory order of the input"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a C function: its type ("const int8_t *") and its name."""

    ctype: str
    name: str

    def __str__(self) -> str:
        return f"{self.ctype}{'' if self.ctype.endswith('*') else ' '}{self.name}"


@dataclass(frozen=True)
class CFunction:
    """A static C function. In its body `$word` stands for the network's own symbol `word`.

    Functions of equal stem, parameters and body are emitted once.
    """

    stem: str
    parameters: tuple[Parameter, ...]
    body: str
    result: str = "void"
    inline: bool = False


@dataclass(frozen=True)
class Constant:
    """A constant array of a workload, in the order in which the function reads it."""

    stem: str
    value: npt.NDArray[Any]
    alignment: int = 4

    @property
    def ctype(self) -> str:
        names = {"float32": "float", "float64": "double", "bool": "uint8_t"}
        return names.get(self.value.dtype.name, f"{self.value.dtype.name}_t")


class Role(enum.Enum):
    """What an argument of a call refers to."""

    INPUT = "input"
    OUTPUT = "output"
    CONSTANT = "constant"
    SCRATCH = "scratch"


@dataclass(frozen=True)
class Argument:
    """One argument of a call: the index-th input, output or constant, or the scratch buffer."""

    role: Role
    index: int = 0


@dataclass(frozen=True)
class InPlace:
    """An output may share memory with an input.

    distance: how many bytes the output's write position may run ahead of what is still to be
    read; 0 means element by element in the same order. The planner uses those of distance 0, and
    only where the input is no smaller than the output and nothing else reads it.
    """

    input: int
    output: int
    distance: int = 0


@dataclass(frozen=True)
class Costs:
    """What a workload costs. None where only a measurement can tell."""

    macs: int = 0
    instructions: int | None = None
    cycles: int | None = None


@dataclass(frozen=True)
class Workload:
    """One way of computing a layer.

    function None means that nothing is computed: the output is the first input's memory, seen
    under another shape. scratch_bytes: memory that it may overwrite during its call; like every
    tensor it is aligned to 16 bytes.
    """

    backend: str
    function: CFunction | None
    arguments: tuple[Argument, ...] = ()
    constants: tuple[Constant, ...] = ()
    helpers: tuple[CFunction, ...] = ()
    headers: tuple[str, ...] = ()
    scratch_bytes: int = 0
    in_place: tuple[InPlace, ...] = ()
    costs: Costs = field(default_factory=Costs)

    @property
    def is_view(self) -> bool:
        return self.function is None


class Backend(Protocol):
    """What a backend implements."""

    @property
    def id(self) -> str:
        """Unique: letters, digits and underscores."""

    @property
    def version(self) -> tuple[int, int]:
        """Of the interface that it was written for: (major, minor)."""

    @property
    def cores(self) -> tuple[str, ...]:
        """The cores it is for; empty: all."""

    @property
    def rank(self) -> int:
        """The lower, the earlier in the default preference."""

    def is_layer_supported(self, layer: Layer) -> Support:
        """Whether it can compute a layer."""

    def layout_rule(self, layer: Layer) -> LayoutRule:
        """How it wants a supported layer's tensors to lie in memory."""

    def create_workloads(self, layer: Layer) -> tuple[Workload, ...]:
        """The ways it has of computing a supported layer, whose layouts are now assigned."""
