"""A node as a backend sees it: operands with types and constants, attributes, and the target."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir import EdgeId, Graph, Node, SubgraphView, TensorType
from mcu_deploy.memory_timing import MemoryTiming
from mcu_deploy.operators import Call, find


class Knowing(Protocol):
    """known: what was found out of it."""

    @property
    def known(self) -> dict[object, Any]: ...


K = TypeVar("K", bound=Knowing)
P = ParamSpec("P")
T = TypeVar("T")


def kept(find: Callable[Concatenate[K, P], T]) -> Callable[Concatenate[K, P], T]:
    """Keeps what a function finds of a layer, and of arguments that have a hash, with the layer:
    several kernels ask for the same. What it finds of arrays is not kept."""
    asked = inspect.signature(find)

    @functools.wraps(find)
    def found(layer: K, /, *arguments: P.args, **named: P.kwargs) -> T:
        given = asked.bind(layer, *arguments, **named)
        given.apply_defaults()
        key = find, *given.args[1:]
        if any(isinstance(argument, np.ndarray) for argument in key):
            return find(layer, *arguments, **named)
        if key not in layer.known:
            layer.known[key] = find(layer, *arguments, **named)
        known: T = layer.known[key]
        return known

    return found


@dataclass(frozen=True)
class Target:
    """What the code will run on: the core ("cortex-m4", "host") and what it has.

    fpu: single-precision floats in hardware; dsp: the SIMD instructions of Armv7E-M and Armv8-M
    (SMLAD); mve: Helium; memory: how what code and constants lie in answers, None where that is not
    known. hot: the kernels, by the digests of their texts, whose code lies in RAM instead, and
    waits for nothing; None: all.
    """

    core: str = "host"
    fpu: bool = True
    dsp: bool = False
    mve: bool = False
    # Not hashed: layers are looked up by their targets, and those of one build have one memory.
    memory: MemoryTiming | None = field(default=None, hash=False)
    hot: frozenset[str] | None = field(default=frozenset(), hash=False)

    def has_the_core_of(self, other: Target) -> bool:
        """Whether the same code runs on both, however long it takes."""
        mine, theirs = (replace(t, memory=None, hot=None) for t in (self, other))
        return mine == theirs


HOST = Target()


@dataclass(frozen=True)
class Operand:
    """An input or output of a layer: its edge, its type, and its value if it is a constant."""

    edge: EdgeId
    type: TensorType
    constant: npt.NDArray[Any] | None = None
    name: str = ""

    @property
    def value(self) -> npt.NDArray[Any]:
        """The value of one that is a constant."""
        assert self.constant is not None, f"{self.name} is no constant"
        return self.constant

    @property
    def memory(self) -> npt.NDArray[Any]:
        """A constant's value as it lies in memory."""
        return self.type.stored(self.value)


@dataclass(frozen=True)
class WorkloadInfo:
    """The tensors of a layer, with their layouts: what Arm NN calls WorkloadInfo. Absent: None."""

    inputs: tuple[Operand | None, ...]
    outputs: tuple[Operand, ...]
    target: Target = HOST


@dataclass(frozen=True)
class Descriptor:
    """The operator of a layer and its parameters: what Arm NN calls a queue descriptor."""

    node: Node
    params: Mapping[str, Any]
    opset: int
    body: Graph | None = None


@dataclass(frozen=True, eq=False)
class Layer:
    """A node with all that a backend needs to know of it. body: what a fused node stands for."""

    node: Node
    inputs: tuple[Operand | None, ...]
    outputs: tuple[Operand, ...]
    attributes: Mapping[str, Any]
    opset: int
    target: Target = HOST
    body: Graph | None = None

    @classmethod
    def of(cls, info: WorkloadInfo, descriptor: Descriptor) -> Layer:
        """The layer that a workload factory is asked for."""
        return cls(
            descriptor.node, info.inputs, info.outputs, descriptor.params, descriptor.opset,
            info.target, descriptor.body,
        )  # fmt: skip

    @functools.cached_property
    def known(self) -> dict[object, Any]:
        """What was found out of it, kept for those who ask again."""
        return {}

    @property
    def info(self) -> WorkloadInfo:
        return WorkloadInfo(self.inputs, self.outputs, self.target)

    @property
    def descriptor(self) -> Descriptor:
        return Descriptor(self.node, self.attributes, self.opset, self.body)

    @property
    def op(self) -> str:
        return self.node.op

    @property
    def domain(self) -> str:
        """ONNX's domain: "" for its own operators, "mcu" for those that the compiler inserts."""
        return self.node.domain

    @property
    def name(self) -> str:
        """The model's name for it."""
        return self.node.name

    @property
    def short(self) -> str:
        """The layer's own name, distinct in the model: `conv_3`."""
        return self.node.short or self.node.name

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
        """Multiply-accumulates of one run: the operator's own, else the sum over the body."""
        operator = find(self.node.domain, self.op)
        if operator is not None:
            return operator.macs(self.call)
        if self.body is None:
            return 0
        return sum(layer_of(self.body, node, self.target).macs for node in self.body.nodes)


def layer_of(graph: Graph, node: Node, target: Target = HOST) -> Layer:
    """The layer view of a node. A view of a graph keeps it."""
    known = graph.known if isinstance(graph, SubgraphView) else {}
    if (node, target) not in known:
        known[node, target] = _layer_of(graph, node, target)
    layer: Layer = known[node, target]
    return layer


def _layer_of(graph: Graph, node: Node, target: Target) -> Layer:
    def operand(edge: EdgeId) -> Operand:
        return Operand(edge, graph.type(edge), graph.constant(edge), graph.edge_name(edge))

    return Layer(
        node,
        tuple(None if e is None else operand(e) for e in node.inputs),
        tuple(operand(e) for e in node.outputs if e is not None),
        graph.attributes(node.id),
        graph.opset,
        target,
        graph.body(node.id),
    )
